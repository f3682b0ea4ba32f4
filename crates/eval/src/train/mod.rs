//! Training data for small models: trajectories of a decomposer (PIKE-RAG, Algorithms 2 and 3) and
//! labels for the keywords of a sub-question (DEC, Equations 6 and 9).
//!
//! Collecting asks models and searches a base, through the same [`Bench`](crate::Bench) as an
//! evaluation; what is made of a collection is computed from its file alone, so that the same file
//! gives the same bytes.
mod chat;
mod collect;
mod error;
mod folder;
mod health;
mod keyword_labels;
mod keyword_runs;
mod leaks;
mod pairs;
mod preferences;
mod recording;
mod round;
mod summary;

pub use chat::{ChatFormat, Recipe};
pub use collect::Collector;
pub use error::TrainError;
pub use keyword_labels::{KeywordStatistics, LabelRules, label_keywords};
pub use keyword_runs::{KeywordCollector, KeywordSummary};
pub use leaks::{HeldOut, OnEntities, Share};
pub use pairs::{PairKind, PairOptions, PairStatistics, make_pairs};
pub use summary::{CollectionSummary, Stopped};

#[cfg(test)]
mod tests;
