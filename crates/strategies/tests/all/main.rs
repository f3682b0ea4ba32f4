//! Strategies by their public interface.
//! One program, since every program is linked with all that it depends on.
mod always;
mod atomr_replay;
mod forecasts;
mod prob_tree_replay;
mod prompts;
mod variables;
