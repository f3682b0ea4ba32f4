//! The context of a strategy by its public interface. One program, since each is linked anew.
mod ask;
mod budget;
mod common;
mod entities;
mod overrides;
mod replies;
