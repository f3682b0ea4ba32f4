//! Tags in use: what questions call them is learned from samples, and a question is expanded by the
//! tags that it names, for every search and for filters alike (PIKE-RAG, Figure 7).
mod expansion;
mod index;
mod learn;
mod samples;

pub(crate) use expansion::{Expansion, expansion, moved};
pub(crate) use index::{NamedTag, TagIndex};
pub use learn::{TagLearning, estimate_learning, learn_tags};
pub use samples::{SkippedSample, TagSample};
