//! Evaluation: data sets with gold answers, metrics, a resumable runner and its report.
//!
//! The crate knows neither the engine nor a knowledge base: its caller provides a way to open a run
//! ([`OpenCx`]) and a way to search ([`Retrieve`]) in a [`Bench`].
mod base_source;
mod compare;
mod components;
mod corpus;
mod data;
mod error;
mod figures;
mod forecast;
mod grid;
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
pub mod train;
mod viewer;

pub use base_source::{Claim, Source, record_indexing};
pub use compare::{
    CompareError, Comparison, Difference, Flip, McNemar, Resampling, Side, compare, flips, pairs,
};
pub use components::{Atomizing, Component, GoldTotals, LostReplies, Searches, SourceUse};
pub use corpus::{Converted, CorpusWriter};
pub use data::{
    Checked, Companion, CompanionContent, Condition, ConditionError, DataError, DataSet,
    DataSetEntry, Format, GoldPassage, Item, KeyCount, Passage, Pool, PublishedFile, RefusedRecord,
    Sample, Selection, check, entries, load, recognise, reference,
};
pub use error::EvalError;
pub use forecast::{Basis, Cost, Forecast, Range, table as forecast_table, would_exceed};
pub use grid::{Grid, GridError, Point};
pub use jobs::{Progress, Tick};
pub use judge::Ruling;
pub use metrics::{Gold, Metric, Profile, Score, normalise, score, support_recall};
pub use preset::{
    Block, Figure, ListedRow, NeededFile, Ours, Pair, Preset, PresetError, PresetProtocol,
    PresetQuestions, PresetRow, SideBySide, SideBySideRow, WARNING, find_file, preset, preset_list,
    preset_reference, presets, side_by_side,
};
pub use report::{
    AnswerOutcome, Assessment, Better, COLUMNS, Column, ColumnHead, Criterion, ErrorCause, Failure,
    GroupValues, Judgement, QuestionHead, QuestionResult, REPORT_VERSION, Report, Retrieval, Run,
    Tokens, ValueFormat, Values, column,
};
pub use retrieval::{Recall, recall};
pub use runner::{
    AskAssessor, AskJudge, AssessmentCase, Assessor, Bench, Judge, OpenCx, Origin, Retrieve,
    Runner, SystemUnderTest,
};
pub use viewer::{QuestionDetail, question_detail};

/// The prompts of this crate, by folders.
static PROMPT_FILES: include_dir::Dir<'_> =
    include_dir::include_dir!("$CARGO_MANIFEST_DIR/prompts");

/// The fingerprint of everything that an answer depends on (strategy, settings, prompt hashes,
/// model names, the base's fingerprint): equal lists of parts give equal fingerprints, and no two
/// different lists are likely to. Sixteen hexadecimal digits.
pub fn fingerprint<P: AsRef<[u8]>>(parts: impl IntoIterator<Item = P>) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        let part = part.as_ref();
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
    }
    hasher.finalize().to_hex()[..16].to_owned()
}
