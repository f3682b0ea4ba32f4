//! Two runs on the same questions: how far apart they are, how sure that is, and which questions
//! made the difference.
mod bootstrap;
mod mcnemar;
mod show;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::figures::mean;
use crate::report::{
    AnswerOutcome, COLUMNS, Column, QuestionHead, QuestionResult, Report, Run, ValueFormat,
};

pub use mcnemar::McNemar;

/// How intervals are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resampling {
    pub resamples: usize,
    pub seed: u64,
}

impl Default for Resampling {
    fn default() -> Self {
        Self { resamples: 1_000, seed: 1 }
    }
}

/// One run of one report.
#[derive(Debug, Clone, Copy)]
pub struct Side<'a> {
    pub report: &'a Report,
    pub run: &'a Run,
}

/// How two runs differ. Differences are those of the second to the first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    pub a: String,
    pub b: String,
    /// Questions that both have scored; everything below is over these.
    pub paired: usize,
    /// Questions that only one of them has scored: the others failed there, or were not asked.
    pub only_a: usize,
    pub only_b: usize,
    pub differences: Vec<Difference>,
    pub mcnemar: McNemar,
    /// Questions that the first got wrong and the second right, by id.
    pub gained: Vec<String>,
    /// Questions that the first got right and the second wrong, by id.
    pub lost: Vec<String>,
    pub resampling: Resampling,
    /// What makes the two hard to compare: other words, another base, another model, …
    pub cautions: Vec<String>,
}

/// One metric in both runs, with a 95 % interval of its difference.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// The key of its column.
    pub metric: String,
    /// The title of its column.
    pub title: String,
    pub format: ValueFormat,
    pub a: f64,
    pub b: f64,
    /// `b - a`.
    pub difference: f64,
    /// The 2.5th and 97.5th percentile over the resamples.
    pub low: f64,
    pub high: f64,
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompareError {
    #[error(
        "the report has no run `{label}`; it has {labels}. A report has the strategies of the last \
         run of `halma eval` in its folder. Answers of earlier runs are stored: the same command \
         with `-s {strategies}` reports all of them and asks no question again"
    )]
    NoRun { label: String, labels: String, strategies: String },
    #[error("the report has several runs ({labels}); say which with REPORT#LABEL")]
    WhichRun { labels: String },
    #[error("`{a}` and `{b}` have scored no question in common; compare runs on one question set")]
    NothingInCommon { a: String, b: String },
}

impl CompareError {
    fn no_run(label: &str, runs: &[Run]) -> Self {
        let labels: Vec<&str> = runs.iter().map(|run| run.label.as_str()).collect();
        // `kar3@n=3` is a point of `kar3`.
        let missing = label.split('@').next().unwrap_or(label);
        let mut strategies = vec![missing];
        for run in runs {
            if !strategies.contains(&run.strategy.as_str()) {
                strategies.push(&run.strategy);
            }
        }
        let (label, labels) = (label.to_owned(), labels.join(", "));
        Self::NoRun { label, labels, strategies: strategies.join(",") }
    }
}

impl<'a> Side<'a> {
    /// The run of this label; without one the only run.
    pub fn select(report: &'a Report, label: Option<&str>) -> Result<Self, CompareError> {
        let labels = || {
            let labels: Vec<&str> = report.runs.iter().map(|run| run.label.as_str()).collect();
            labels.join(", ")
        };
        match (label, report.runs.as_slice()) {
            (None, [run]) => Ok(Self { report, run }),
            (None, _) => Err(CompareError::WhichRun { labels: labels() }),
            (Some(label), runs) => match runs.iter().find(|run| run.label == label) {
                Some(run) => Ok(Self { report, run }),
                None => Err(CompareError::no_run(label, runs)),
            },
        }
    }
}

/// The runs to compare of two reports: those with equal labels; or, when each has one, these.
pub fn pairs<'a>(a: &'a Report, b: &'a Report) -> Vec<(Side<'a>, Side<'a>)> {
    if let ([one], [other]) = (a.runs.as_slice(), b.runs.as_slice()) {
        return vec![(Side { report: a, run: one }, Side { report: b, run: other })];
    }
    let same = |run: &'a Run| {
        let other = b.runs.iter().find(|other| other.label == run.label)?;
        Some((Side { report: a, run }, Side { report: b, run: other }))
    };
    a.runs.iter().filter_map(same).collect()
}

/// A question that both runs have scored.
struct Pair<'a> {
    id: &'a str,
    a: &'a QuestionResult,
    b: &'a QuestionResult,
}

/// A question of one report that one of two runs answered rightly and the other did not.
#[derive(Debug, Clone, Copy)]
pub struct Flip<'a> {
    pub question: &'a QuestionHead,
    pub a: AnswerOutcome,
    pub b: AnswerOutcome,
}

/// The questions that flipped between two runs of one report, failed and unasked ones included.
pub fn flips<'a>(a: Side<'a>, b: Side<'a>) -> Vec<Flip<'a>> {
    let outcomes = a.run.results.iter().zip(&b.run.results);
    let questions = a.report.questions.iter().zip(outcomes);
    let flips = questions.map(|(question, (a, b))| Flip { question, a: a.outcome, b: b.outcome });
    let is_right = |outcome| outcome == AnswerOutcome::Right;
    flips.filter(|flip| is_right(flip.a) != is_right(flip.b)).collect()
}

/// Compares the second run with the first, question by question.
pub fn compare(
    a: Side<'_>,
    b: Side<'_>,
    resampling: Resampling,
) -> Result<Comparison, CompareError> {
    let (pairs, only_a, only_b) = paired(a, b);
    let (label_a, label_b) = labels(a, b);
    if pairs.is_empty() {
        return Err(CompareError::NothingInCommon { a: label_a, b: label_b });
    }
    let flipped = |from: AnswerOutcome| {
        pairs
            .iter()
            .filter(|pair| pair.a.outcome != pair.b.outcome)
            .filter(|pair| {
                (if from == AnswerOutcome::Right { pair.a } else { pair.b }).outcome
                    == AnswerOutcome::Right
            })
            .map(|pair| pair.id.to_owned())
            .collect::<Vec<_>>()
    };
    let (gained, lost) = (flipped(AnswerOutcome::Wrong), flipped(AnswerOutcome::Right));
    Ok(Comparison {
        a: label_a,
        b: label_b,
        paired: pairs.len(),
        only_a,
        only_b,
        differences: COLUMNS
            .iter()
            .filter_map(|column| difference(column, &pairs, resampling))
            .collect(),
        mcnemar: McNemar::test(gained.len(), lost.len()),
        gained,
        lost,
        resampling,
        cautions: cautions(a, b),
    })
}

fn paired<'a>(a: Side<'a>, b: Side<'a>) -> (Vec<Pair<'a>>, usize, usize) {
    let scored = |side: Side<'a>| {
        let results = side.report.questions.iter().zip(&side.run.results);
        results.filter(|(_, result)| result.is_scored())
    };
    let mut others: BTreeMap<&str, &QuestionResult> =
        scored(b).map(|(question, result)| (question.id.as_str(), result)).collect();
    let (mut pairs, mut only_a) = (vec![], 0);
    for (question, result) in scored(a) {
        match others.remove(question.id.as_str()) {
            Some(other) => pairs.push(Pair { id: &question.id, a: result, b: other }),
            None => only_a += 1,
        }
    }
    (pairs, only_a, others.len())
}

/// Distinguished also where both have the same label.
fn labels(a: Side<'_>, b: Side<'_>) -> (String, String) {
    if a.run.label == b.run.label {
        return (format!("{} (first)", a.run.label), format!("{} (second)", b.run.label));
    }
    (a.run.label.clone(), b.run.label.clone())
}

/// `None` for a column that no question of both has a value of; a question without one (support
/// without gold passages) is left out.
fn difference(column: &Column, pairs: &[Pair<'_>], resampling: Resampling) -> Option<Difference> {
    let value = |result: &QuestionResult| result.values.get(column.key);
    let values: Vec<(f64, f64)> =
        pairs.iter().filter_map(|pair| Some((value(pair.a)?, value(pair.b)?))).collect();
    let (a, b) = (mean(values.iter().map(|(a, _)| *a))?, mean(values.iter().map(|(_, b)| *b))?);
    let differences: Vec<f64> = values.iter().map(|(a, b)| b - a).collect();
    let (low, high) = bootstrap::interval(&differences, resampling);
    let (metric, title) = (column.key.to_owned(), column.title.to_owned());
    Some(Difference { metric, title, format: column.format, a, b, difference: b - a, low, high })
}

fn cautions(a: Side<'_>, b: Side<'_>) -> Vec<String> {
    let mut cautions = vec![];
    let mut unless = |same: bool, words: &str| {
        if !same {
            cautions.push(words.to_owned());
        }
    };
    let hash = |side: Side<'_>| side.report.source.as_ref().map(|source| source.hash.clone());
    unless(
        a.report.dataset == b.report.dataset && (hash(a) == hash(b)),
        "the questions come from different files",
    );
    unless(a.report.base == b.report.base, "the bases differ");
    let compared_alike = (a.run.profile, a.run.metric) == (b.run.profile, b.run.metric);
    unless(compared_alike, "the answers were compared in different ways");
    unless(a.run.judged.is_some() == b.run.judged.is_some(), "only one of them was judged");
    let shared_differ =
        a.run.prompts.iter().any(|(prompt, hashes)| {
            b.run.prompts.get(prompt).is_some_and(|others| others != hashes)
        });
    unless(!shared_differ, "prompts of the same name had different words");
    let models_differ = a
        .run
        .models
        .iter()
        .any(|(role, models)| b.run.models.get(role).is_some_and(|others| others != models));
    unless(!models_differ, "a role was played by different models");
    cautions
}
