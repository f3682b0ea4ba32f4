//! Measuring: data sets with gold answers, metrics, a resumable runner and its report.
//!
//! The crate knows neither the engine nor a knowledge base: whoever measures gives a way to open a
//! run ([`OpenCx`]) and a way to search ([`Retrieve`]) in a [`Bench`].
mod data;
mod error;
mod jobs;
mod journal;
pub mod judge;
pub mod metrics;

mod record;
mod report;
mod retrieval;

mod runner;
mod table;

pub use data::{
    Checked, DATA_SETS, DataError, DataSet, DataSetEntry, Format, GoldPassage, Item, KeyCount,
    Passage, Pool, RefusedRecord, Split, check, entries, load, reference,
};
pub use error::EvalError;
pub use metrics::{Metric, Profile, Score, normalise, recall_at_k, score, support_recall};
pub use record::fingerprint;
pub use report::{Failure, KindMetrics, Latency, Metrics, REPORT_VERSION, Report, Retrieval, Run};
pub use retrieval::{Recall, recall};
pub use runner::{Bench, Contestant, OpenCx, Progress, Retrieve, Runner, Tick};
