//! Measuring: data sets with gold answers, metrics, a resumable runner and its report.
//!
//! The crate knows neither the engine nor a knowledge base: whoever measures gives a way to open a
//! run ([`OpenCx`]) and a way to search ([`Retrieve`]) in a [`Bench`].
mod data;
mod error;
mod jobs;
mod journal;
mod metrics;

mod record;
mod report;
mod retrieval;

mod runner;
mod table;

pub use data::{DataError, DataSet, Format, GoldPassage, Item, RefusedRecord, load};
pub use error::EvalError;
pub use metrics::{Profile, Score, normalise, recall_at_k, score, support_recall};
pub use record::fingerprint;
pub use report::{Failure, KindMetrics, Latency, Metrics, REPORT_VERSION, Report, Retrieval, Run};
pub use retrieval::{Recall, recall};
pub use runner::{Bench, Contestant, OpenCx, Progress, Retrieve, Runner, Tick};
