//! The report of an evaluation: its figures, its tables, its files.
mod assemble;
mod assessed;
mod columns;
mod error_causes;
mod markdown;
mod model;
mod notes;
mod saved;
mod scoring;
mod table;
#[cfg(test)]
pub(crate) mod tests;
mod values;

pub(crate) use assemble::{JudgingCost, SystemResults};
pub(crate) use assessed::AssessmentBuilder;
pub use assessed::{Assessment, Criterion};
pub use columns::{Better, COLUMNS, Column, ColumnHead, ValueFormat, column};
pub use error_causes::ErrorCause;
pub(crate) use markdown::{escaped, markdown_row};
pub use model::{
    AnswerOutcome, Failure, GroupValues, Judgement, QuestionHead, QuestionResult, REPORT_VERSION,
    Report, Retrieval, Run, Tokens,
};
pub(crate) use notes::questions;
pub(crate) use saved::write;
pub(crate) use scoring::{Measure, result};
pub(crate) use table::aligned;
pub use values::Values;
