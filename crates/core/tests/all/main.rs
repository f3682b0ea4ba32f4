//! The context of a strategy by its public interface.
//! One program, since every program is linked with all that it depends on.
mod ask;
mod budget;
mod common;
mod entities;
mod overrides;
mod replies;
