//! Strategies by their public interface. One program, since each is linked anew.
mod atomr_replay;
mod forecasts;
mod prob_tree_replay;
mod prompts;
mod variables;
