//! Evaluations by their public interface.
//! One program, since every program is linked with all that it depends on.
mod data_sets;
mod golden;
mod published;
mod reference;
