//! The report of an evaluation: its figures, its tables, its files.
mod assemble;
mod assessed;
mod assessment;
mod column;
mod columns;
mod markdown;
mod model;
mod notes;
mod outcome;
mod saved;
mod scoring;
mod table;
mod terminal;
#[cfg(test)]
pub(crate) mod tests;
mod values;

pub(crate) use assemble::{JudgingCost, SystemResults};
pub(crate) use assessment::AssessmentBuilder;
pub use assessment::{Assessment, Criterion};
pub(crate) use column::Measure;
pub use column::{Column, column};
pub use columns::COLUMNS;
pub use model::{
    Failure, GroupValues, Judgement, QuestionHead, QuestionResult, REPORT_VERSION, Report,
    Retrieval, Run, Tokens,
};
pub(crate) use notes::questions;
pub use outcome::{AnswerOutcome, ErrorCause};
pub(crate) use scoring::result;
pub(crate) use table::{ReportTable, escaped};
pub use values::{Better, ColumnHead, ValueFormat, Values};
