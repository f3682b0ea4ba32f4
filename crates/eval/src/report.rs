//! What an evaluation found, as it is written to `report.json`: everything that tables, pages and
//! comparisons are made of, without the answers and traces that lie beside it.
mod assemble;
mod assessed;
mod figures;
mod losses;
mod markdown;
mod notes;
mod saved;
mod scoring;
#[cfg(test)]
pub(crate) mod tests;

use std::collections::{BTreeMap, BTreeSet};

use halma_core::{Budget, Limit, UsageTotal};
use serde::{Deserialize, Serialize};

use crate::components::{Asked, Atomizing, Component, Searches};
use crate::metrics::Answerability;
use crate::runner::{Ruling, Sample, Source};
use crate::{Metric, Profile, RefusedRecord, Score};

pub(crate) use assessed::{ASSESSED, Sheet};
pub use assessed::{Assessment, Criterion};
pub(crate) use figures::{mean, nearest_rank, number, ratio};
pub use losses::Loss;
pub(crate) use markdown::escaped;
pub(crate) use notes::questions;
pub(crate) use scoring::{Measure, result};

/// The version of the report's JSON form. 2 added the single questions, what made the run what it
/// is (sample, models, base, budget), costs by prompt and where answers were lost.
pub const REPORT_VERSION: u32 = 2;

/// All contestants on one data set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    pub format_version: u32,
    /// The version of Halma that wrote it.
    pub halma: String,
    /// The data file's name without its ending.
    pub dataset: String,
    /// Questions in it that were to be asked (refused records are no questions).
    pub n: usize,
    /// The file the questions came from, where the caller said.
    pub source: Option<Source>,
    /// How the questions were drawn; `None` when all of the file's (or its first) were asked.
    pub sample: Option<Sample>,
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
    pub runs: Vec<Run>,
    /// Records of the file that could not be used.
    pub refused: Vec<RefusedRecord>,
}

/// A question as the report names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionHead {
    pub id: String,
    /// `bridge`, `comparison`, …
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub kind: Option<String>,
    /// Hops it takes, by the data set; where that does not say, its gold passages.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub hops: Option<usize>,
}

/// One contestant's results.
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
    /// The data set's own metric, of [`Metrics::value`].
    pub metric: Metric,
    pub metrics: Metrics,
    /// [`Metrics::em`] and `f1` if every failed question were wrong: what is sure.
    pub if_failed_were_wrong: Sure,
    /// Telling what can be answered from what cannot, where the data set has both.
    pub answerability: Option<Answerability>,
    /// What a model judge ruled, where there was one.
    pub judged: Option<Judgement>,
    /// What a model found of the answers, scheme by scheme; empty where none was asked.
    #[serde(default)]
    pub assessed: Vec<Assessment>,
    /// Questions that got no answer because the knowledge does not hold it; they score 0 unless
    /// that is so.
    pub abstained: usize,
    /// Questions that ended in an error; they are in no mean.
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
    /// The share of searches that found nothing above the threshold; `None` without searches.
    pub nothing_near: Option<f64>,
    pub searches: Vec<Searches>,
    /// How often each source was asked, the most asked first (`AtomR`, Figure 4); empty where
    /// nothing was asked but the base.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub sources: Vec<Asked>,
    /// Mean number of turns in which knowledge was looked up, over the scored questions.
    pub hops: Option<f64>,
    /// Mean number of sub-questions that were searched for (#SQA; DEC, Table 1).
    pub sub_questions: Option<f64>,
    /// Paid, of all questions, failed ones included.
    pub usage: UsageTotal,
    pub tokens: Tokens,
    /// Of the scored questions.
    pub latency_ms: Latency,
    pub by_kind: BTreeMap<String, KindMetrics>,
    pub by_hops: BTreeMap<usize, KindMetrics>,
    /// Where the answers that are not right were lost.
    pub losses: BTreeMap<Loss, usize>,
    /// Calls and tokens by prompt, the dearest first (KAR³, Table 11).
    pub components: Vec<Component>,
    /// Role → models that played it.
    pub models: BTreeMap<String, BTreeSet<String>>,
    /// The prompts that were asked, with the hashes of their words.
    pub prompts: BTreeMap<String, BTreeSet<String>>,
    /// One for each of [`Report::questions`], in their order.
    pub results: Vec<QuestionResult>,
}

/// Means over the questions that were answered or abstained from; fractions between 0 and 1,
/// `None` where there was nothing to take a mean of.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    pub em: Option<f64>,
    pub f1: Option<f64>,
    pub precision: Option<f64>,
    pub recall: Option<f64>,
    /// The share of answers in which a gold answer stands as whole words (`CoverEM`).
    #[serde(default)]
    pub cover_em: Option<f64>,
    /// By the data set's own metric ([`Run::metric`]).
    pub value: Option<f64>,
    /// The share that is right: by the judge where there was one, else by exact match or the full
    /// score of the data set's own metric.
    pub right: Option<f64>,
    /// The share of the gold passages among the citations. An abstention's citations count.
    pub support_recall: Option<f64>,
    pub retrieval: Retrieval,
}

/// The share of a question's gold passages among the first 2, 5 and 10 chunks that the base finds
/// for the question itself; over all questions, the same for every contestant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Retrieval {
    pub r2: Option<f64>,
    pub r5: Option<f64>,
    pub r10: Option<f64>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Sure {
    pub em: Option<f64>,
    pub f1: Option<f64>,
}

/// What a model judge ruled on the answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// The share of the readable rulings that are "right" (Acc in the papers' tables). An
    /// abstention is not shown to the judge: it is wrong, unless there is no answer.
    pub accuracy: Option<f64>,
    pub right: usize,
    pub wrong: usize,
    /// Rulings that could not be read, also when asked for again; they are in no mean.
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
    /// Mean over the questions that were asked.
    pub per_question: Option<f64>,
    /// All tokens divided by the right answers (ATC; DEC, Figure 7); `None` when none is right.
    pub per_right_answer: Option<f64>,
}

/// Milliseconds by nearest rank, as measured when the question was asked, beside as many others
/// as ran at once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    pub p50: Option<f64>,
    pub p95: Option<f64>,
}

/// The scored questions of one kind.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct KindMetrics {
    pub n: usize,
    pub em: Option<f64>,
    pub f1: Option<f64>,
    pub right: Option<f64>,
    pub support_recall: Option<f64>,
}

/// A question that ended in an error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    pub question: String,
    pub kind: String,
    pub reason: String,
}

/// What became of a question.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    Right,
    Wrong,
    /// The strategy said that the knowledge does not hold the answer. Scores 0.
    Abstained,
    /// It ended in an error; it has no score.
    Failed,
    /// The whole budget was spent before it, or while it was being answered.
    #[default]
    Unasked,
}

/// One question in one run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct QuestionResult {
    pub fate: Fate,
    /// `None` for failed and unasked questions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<Score>,
    /// By the data set's own metric.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// No answer was given; right where there is none.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub abstained: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub support: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ruling: Option<Ruling>,
    /// Where the answer was lost, if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost: Option<Loss>,
    /// Given after a budget was spent.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
    /// Prompt and completion tokens of all calls, the cached ones included.
    pub tokens: u64,
    pub hops: usize,
    pub sub_questions: usize,
    pub latency_ms: f64,
    /// Paid.
    pub usage: UsageTotal,
}
