//! Measuring: data sets with gold answers, metrics, a resumable runner and its report.
//!
//! The crate knows neither the engine nor a knowledge base: whoever measures gives a way to open a
//! run ([`OpenCx`]) and a way to search ([`Retrieve`]) in a [`Bench`].
pub mod blend;
mod compare;
mod components;
mod data;
mod error;
mod forecast;
mod grid;
mod html;
mod jobs;
mod journal;
pub mod judge;
pub mod metrics;
mod preset;
mod random;
mod record;
mod report;
mod retrieval;
mod runner;
mod table;

pub use compare::{
    CompareError, Comparison, Difference, McNemar, Resampling, Side, compare, pairs,
};
pub use components::{Asked, Atomizing, Component, Searches};
pub use data::{
    Checked, DATA_SETS, DataError, DataSet, DataSetEntry, Format, GoldPassage, Item, KeyCount,
    Passage, Pool, RefusedRecord, Split, check, entries, load, recognise, reference,
};
pub use error::EvalError;
pub use forecast::{Basis, Cost, Forecast, Range, table as forecast_table, would_exceed};
pub use grid::{Grid, GridError, Point};
pub use html::Details;
pub use metrics::{Metric, Profile, Score, normalise, recall_at_k, score, support_recall};
pub use preset::{
    Answerable, Beside, BesideRow, Block, Figure, ListedRow, Ours, PRESETS, Pair, Preset,
    PresetError, PresetProtocol, PresetRow, Rerun, WARNING, beside, preset, preset_list,
    preset_reference,
};
pub use record::fingerprint;
pub use report::{
    Assessment, Criterion, Failure, Fate, Judgement, KindMetrics, Latency, Loss, Metrics,
    QuestionHead, QuestionResult, REPORT_VERSION, Report, Retrieval, Run, Sure, Tokens,
};
pub use retrieval::{Recall, recall};
pub use runner::{
    AskAssessor, AskJudge, Assessor, Bench, Claim, Contestant, Judge, OpenCx, Origin, Progress,
    Retrieve, Ruling, Runner, Sample, Source, Tick, record_indexing, sample,
};

/// The prompts of this crate, by folders.
static PROMPT_FILES: include_dir::Dir<'_> =
    include_dir::include_dir!("$CARGO_MANIFEST_DIR/prompts");
