//! Evaluations by their public interface. One program, since each is linked anew.
mod data_sets;
mod golden;
mod presets;
mod published;
mod reference;
