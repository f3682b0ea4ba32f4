//! What an evaluation found, as it is written to `report.json`: everything that tables, viewers and
//! comparisons are made of, without the answers and traces in the same folder.
use std::collections::{BTreeMap, BTreeSet};

use halma_core::{Budget, Limit, UsageTotal};
use serde::{Deserialize, Serialize};

use super::assessment::Assessment;
use super::outcome::{AnswerOutcome, ErrorCause};
use super::values::{ColumnHead, Values};
use crate::base_source::Source;
use crate::components::{Atomizing, Component, GoldTotals, LostReplies, Searches, SourceUse};
use crate::data::{RefusedRecord, Sample};
use crate::judge::Ruling;
use crate::metrics::{Answerability, Metric, Profile};

/// The version of the report's JSON form. 3 carries the columns with their names and formats, and
/// all values by column.
pub const REPORT_VERSION: u32 = 3;

/// All systems on one data set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    pub format_version: u32,
    /// The version of Halma that wrote it.
    pub halma: String,
    /// The data file's name without its ending.
    pub dataset: String,
    /// Questions in it that were to be asked (refused records are not questions).
    pub n: usize,
    /// The file the questions came from, where the caller said.
    pub source: Option<Source>,
    /// How the questions were drawn; `None` when all of the file's (or its first) were asked.
    pub sample: Option<Sample>,
    /// What else selected them, in words: conditions, a list of ids, the first ones.
    #[serde(default)]
    pub selected: Vec<String>,
    /// The fingerprint of the base that was searched.
    pub base: String,
    /// What making the base cost, where the caller said.
    pub atomizing: Option<Atomizing>,
    /// The budget of the whole evaluation.
    pub budget: Budget,
    /// The limit of it that was reached: some questions were not asked.
    pub spent: Option<Limit>,
    /// The questions in their order; the list of the sample.
    pub questions: Vec<QuestionHead>,
    /// What the values of the runs are: those of [`super::COLUMNS`] that some run has.
    pub columns: Vec<ColumnHead>,
    pub runs: Vec<Run>,
    /// Records of the file that could not be used.
    pub refused: Vec<RefusedRecord>,
}

/// A question as the report names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionHead {
    pub id: String,
    pub text: String,
    /// `bridge`, `comparison`, …
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub kind: Option<String>,
    /// Hops it takes, by the data set; where that does not say, its gold passages.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub hops: Option<usize>,
}

/// The results of one system.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    pub strategy: String,
    pub label: String,
    /// Where it stands in the grid: setting → value; empty without one.
    #[serde(default)]
    pub point: BTreeMap<String, String>,
    pub settings: serde_json::Value,
    /// Of everything its answers depend on.
    pub fingerprint: String,
    /// How answers were compared: `squad`, `hotpot`, …
    pub profile: Profile,
    /// The data set's own metric, of the column `score`.
    pub metric: Metric,
    /// By column.
    pub values: Values,
    /// What the base finds for the questions themselves; the same for every system.
    pub retrieval: Retrieval,
    /// Distinguishing what can be answered from what cannot, where the data set has both.
    pub answerability: Option<Answerability>,
    /// What a model judge ruled, where there was one.
    pub judged: Option<Judgement>,
    /// What a model found of the answers, scheme by scheme; empty where none was asked.
    #[serde(default)]
    pub assessed: Vec<Assessment>,
    /// What making the base cost, where the caller said.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub atomizing: Option<Atomizing>,
    /// Questions that got no answer because the knowledge does not hold it; they score 0 unless
    /// that is so.
    pub abstained: usize,
    /// Questions that ended in an error; they are not in any mean.
    pub failed: usize,
    pub failed_by_kind: BTreeMap<String, usize>,
    pub failures: Vec<Failure>,
    /// Questions that were not asked to their end because the whole budget was spent.
    pub unasked: usize,
    /// Answers given after a budget was spent; they are scored.
    pub partial: usize,
    /// Questions whose result comes from an earlier run.
    pub taken_over: usize,
    /// Questions for which the search behind `retrieval` failed; they are not in its means.
    pub retrieval_failed: usize,
    /// Replies that did not fit at first.
    pub malformed: usize,
    /// Answers for which a model refused a call or a source failed; they are scored.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub lost_replies: Option<LostReplies>,
    /// The share of searches that found nothing above the threshold; `None` without searches, and
    /// without an embedder, whose cosines a threshold is for.
    pub nothing_near: Option<f64>,
    pub searches: Vec<Searches>,
    /// How often each source was asked, the most asked first (`AtomR`, Figure 4); empty where
    /// nothing was asked but the base.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub sources: Vec<SourceUse>,
    /// Paid, of all questions, failed ones included.
    pub usage: UsageTotal,
    pub tokens: Tokens,
    /// Gold passages and those that the reader was given.
    #[serde(default)]
    pub gold: GoldTotals,
    pub by_kind: BTreeMap<String, GroupValues>,
    pub by_hops: BTreeMap<usize, GroupValues>,
    /// Why the answers that are not right are not.
    pub error_analysis: BTreeMap<ErrorCause, usize>,
    /// Calls and tokens by prompt, the most expensive first (KAR³, Table 11).
    pub components: Vec<Component>,
    /// Role → models that played it.
    pub models: BTreeMap<String, BTreeSet<String>>,
    /// The prompts that were asked, with the hashes of their words.
    pub prompts: BTreeMap<String, BTreeSet<String>>,
    /// One for each of [`Report::questions`], in their order.
    pub results: Vec<QuestionResult>,
}

/// The share of a question's gold passages among the first 2, 5 and 10 chunks that the base finds
/// for the question itself; over all questions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Retrieval {
    pub r2: Option<f64>,
    pub r5: Option<f64>,
    pub r10: Option<f64>,
}

/// What a model judge ruled on the answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// The share of the readable rulings that are "right" (Acc in the papers' tables). An
    /// abstention is not shown to the judge: it is wrong, unless there is no answer.
    pub accuracy: Option<f64>,
    pub right: usize,
    pub wrong: usize,
    /// Rulings that could not be read, also when asked for again; they are not in any mean.
    pub unreadable: usize,
    /// Answers for which the judge could not be asked; the next run asks again.
    pub failed: usize,
    /// Paid for judging; in no other figure.
    pub usage: UsageTotal,
}

/// Tokens of all calls, those included that the cache answered: what the method needs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Tokens {
    pub prompt: u64,
    pub completion: u64,
}

impl Tokens {
    pub(crate) fn all(&self) -> u64 {
        self.prompt + self.completion
    }
}

/// The scored questions of one kind.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct GroupValues {
    pub n: usize,
    /// By column; those that have a value for each question.
    pub values: Values,
}

/// A question that ended in an error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    pub question: String,
    pub kind: String,
    pub reason: String,
}

/// One question in one run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct QuestionResult {
    pub outcome: AnswerOutcome,
    /// By column; empty for failed and unasked questions.
    pub values: Values,
    /// No answer was given; right where there is none.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub abstained: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ruling: Option<Ruling>,
    /// Why it is not right.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_cause: Option<ErrorCause>,
    /// Given after a budget was spent.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
    /// Prompt and completion tokens of all calls, the cached ones included.
    pub tokens: u64,
    pub latency_ms: f64,
    /// Paid.
    pub usage: UsageTotal,
}

impl QuestionResult {
    /// Whether it was answered or abstained from, and so has values.
    pub(crate) fn is_scored(&self) -> bool {
        !matches!(self.outcome, AnswerOutcome::Failed | AnswerOutcome::Unasked)
    }
}

impl Run {
    pub(crate) fn count(&self, outcome: AnswerOutcome) -> usize {
        self.results.iter().filter(|result| result.outcome == outcome).count()
    }

    /// Questions that were asked to their end.
    pub(crate) fn completed(&self) -> u64 {
        (self.results.len() - self.count(AnswerOutcome::Unasked)) as u64
    }

    /// How many of its questions have a value in a column.
    pub(crate) fn questions_with(&self, key: &str) -> usize {
        self.results.iter().filter(|result| result.values.get(key).is_some()).count()
    }

    pub(super) fn errors_by(&self, cause: ErrorCause) -> usize {
        self.error_analysis.get(&cause).copied().unwrap_or(0)
    }
}
impl Report {
    /// The causes that some run has, in the order of a run.
    pub(super) fn error_causes(&self) -> Vec<ErrorCause> {
        let occurs =
            |cause: &ErrorCause| self.runs.iter().any(|run| run.error_analysis.contains_key(cause));
        ErrorCause::ALL.into_iter().filter(occurs).collect()
    }
}
