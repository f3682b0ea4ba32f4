//! Tags in use: what questions call them is learned from samples, and a question is expanded by the
//! tags that it names, for every search and for filters alike (PIKE-RAG, Figure 7).
mod learn;
mod samples;

pub use learn::{TagLearning, estimate_learning, learn_tags};
pub use samples::{SkippedSample, TagSample};
