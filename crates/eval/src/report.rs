//! What an evaluation found, as JSON and (in `table.rs`) as a table.
use std::collections::{BTreeMap, BTreeSet};

use halma_core::UsageTotal;
use serde::Serialize;

use crate::metrics::{recall_of_ranks, score, support_recall};
use crate::record::{Record, Verdict};
use crate::retrieval::Retrieved;
use crate::runner::{Answered, Contestant};
use crate::{DataSet, Item, Profile, RefusedRecord, Score};

/// The version of the report's JSON form.
pub const REPORT_VERSION: u32 = 1;

/// All contestants on one data set.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    pub format_version: u32,
    /// The data file's name without its ending.
    pub dataset: String,
    /// Questions in it that were asked (refused records are no questions).
    pub n: usize,
    pub runs: Vec<Run>,
    /// Records of the file that could not be used.
    pub refused: Vec<RefusedRecord>,
}

/// One contestant's results.
#[derive(Debug, Clone, Serialize)]
pub struct Run {
    pub strategy: String,
    pub label: String,
    pub settings: serde_json::Value,
    /// How answers were compared: `squad` or `hotpot`.
    pub profile: Profile,
    pub metrics: Metrics,
    /// Questions that got no answer because the knowledge does not hold it; they score 0.
    pub abstained: usize,
    /// Questions that ended in an error; they are in no mean.
    pub failed: usize,
    pub failed_by_kind: BTreeMap<String, usize>,
    pub failures: Vec<Failure>,
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
    /// Mean number of turns in which knowledge was looked up, over the scored questions.
    pub hops: Option<f64>,
    /// Of all questions, failed ones included.
    pub usage: UsageTotal,
    /// Of the scored questions.
    pub latency_ms: Latency,
    pub by_kind: BTreeMap<String, KindMetrics>,
    /// The prompts that were asked, with the hashes of their words.
    pub prompts: BTreeMap<String, BTreeSet<String>>,
}

/// Means over the questions that were answered or abstained from; fractions between 0 and 1,
/// `None` where there was nothing to take a mean of.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Metrics {
    pub em: Option<f64>,
    pub f1: Option<f64>,
    pub precision: Option<f64>,
    pub recall: Option<f64>,
    /// The share of the gold passages among the citations. An abstention's citations count.
    pub support_recall: Option<f64>,
    pub retrieval: Retrieval,
}

/// The share of a question's gold passages among the first 2, 5 and 10 chunks that the base finds
/// for the question itself; over all questions, the same for every contestant.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Retrieval {
    pub r2: Option<f64>,
    pub r5: Option<f64>,
    pub r10: Option<f64>,
}

/// Milliseconds by nearest rank, as measured when the question was asked, beside as many others
/// as ran at once.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Latency {
    pub p50: Option<f64>,
    pub p95: Option<f64>,
}

/// The scored questions of one kind.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KindMetrics {
    pub n: usize,
    pub em: Option<f64>,
    pub f1: Option<f64>,
    pub support_recall: Option<f64>,
}

/// A question that ended in an error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failure {
    pub question: String,
    pub kind: String,
    pub reason: String,
}

impl Report {
    pub(crate) fn new(data: &DataSet) -> Self {
        Self {
            format_version: REPORT_VERSION,
            dataset: data.name.clone(),
            n: data.items.len(),
            runs: vec![],
            refused: data.refused.clone(),
        }
    }
}

/// A question that has a score.
struct Scored<'a> {
    item: &'a Item,
    record: &'a Record,
    score: Score,
    support: Option<f64>,
}

impl Run {
    pub(crate) fn of(
        contestant: &Contestant,
        data: &DataSet,
        answered: &Answered,
        retrieved: &Retrieved,
    ) -> Self {
        let profile = Profile::of(data.format);
        let records = &answered.records;
        let scored: Vec<Scored> = data
            .items
            .iter()
            .zip(records)
            .filter_map(|(item, record)| scored(profile, item, record))
            .collect();
        let failures = failures(records);
        let count = |wanted: fn(&halma_core::Answer) -> bool| {
            records.iter().filter_map(given).filter(|answer| wanted(answer)).count()
        };
        let mut usage = UsageTotal::default();
        for record in records {
            usage.add(record.usage);
        }
        Self {
            strategy: contestant.strategy.name().to_owned(),
            label: contestant.label.clone(),
            settings: contestant.strategy.settings(),
            profile,
            metrics: metrics(&scored, retrieved),
            abstained: count(|answer| answer.abstained),
            failed: failures.len(),
            failed_by_kind: by_kind_of_failure(&failures),
            failures,
            partial: count(|answer| answer.partial),
            taken_over: answered.taken_over,
            retrieval_failed: retrieved.iter().flatten().filter(|ranks| ranks.is_err()).count(),
            malformed: records.iter().map(|record| record.malformed).sum(),
            nothing_near: nothing_near(records),
            hops: mean(scored.iter().map(|scored| number(scored.record.hops))),
            usage,
            latency_ms: latency(&scored),
            by_kind: by_kind(&scored),
            prompts: prompts(records),
        }
    }
}

fn prompts(records: &[Record]) -> BTreeMap<String, BTreeSet<String>> {
    let mut prompts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (name, hash) in records.iter().flat_map(|record| &record.prompts) {
        prompts.entry(name.clone()).or_default().insert(hash.clone());
    }
    prompts
}

fn nothing_near(records: &[Record]) -> Option<f64> {
    let searches: usize = records.iter().map(|record| record.searches.0).sum();
    let empty: usize = records.iter().map(|record| record.searches.1).sum();
    (searches > 0).then(|| number(empty) / number(searches))
}

fn given(record: &Record) -> Option<&halma_core::Answer> {
    match &record.outcome {
        Verdict::Answered(answer) => Some(answer),
        Verdict::Failed { .. } => None,
    }
}

fn scored<'a>(profile: Profile, item: &'a Item, record: &'a Record) -> Option<Scored<'a>> {
    let answer = given(record)?;
    let score = if answer.abstained {
        Score::default()
    } else {
        score(profile, &answer.text, &item.answers)
    };
    let support = support_recall(&item.gold, &answer.citations);
    Some(Scored { item, record, score, support })
}

fn metrics(scored: &[Scored], retrieved: &Retrieved) -> Metrics {
    let of = |value: fn(&Score) -> f64| mean(scored.iter().map(|scored| value(&scored.score)));
    let recall_at = |k| {
        let found = retrieved.iter().flatten().filter_map(|ranks| ranks.as_ref().ok());
        mean(found.filter_map(|ranks| recall_of_ranks(ranks, k)))
    };
    Metrics {
        em: of(|score| score.em),
        f1: of(|score| score.f1),
        precision: of(|score| score.precision),
        recall: of(|score| score.recall),
        support_recall: mean(scored.iter().filter_map(|scored| scored.support)),
        retrieval: Retrieval { r2: recall_at(2), r5: recall_at(5), r10: recall_at(10) },
    }
}

fn failures(records: &[Record]) -> Vec<Failure> {
    let failure = |record: &Record| match &record.outcome {
        Verdict::Answered(_) => None,
        Verdict::Failed { kind, reason } => Some(Failure {
            question: record.question.clone(),
            kind: kind.clone(),
            reason: reason.clone(),
        }),
    };
    records.iter().filter_map(failure).collect()
}

fn by_kind_of_failure(failures: &[Failure]) -> BTreeMap<String, usize> {
    let mut kinds = BTreeMap::new();
    for failure in failures {
        *kinds.entry(failure.kind.clone()).or_default() += 1;
    }
    kinds
}

fn by_kind(scored: &[Scored]) -> BTreeMap<String, KindMetrics> {
    let mut kinds: BTreeMap<&str, Vec<&Scored>> = BTreeMap::new();
    for scored in scored {
        if let Some(kind) = &scored.item.kind {
            kinds.entry(kind).or_default().push(scored);
        }
    }
    let metrics = |of: &[&Scored]| KindMetrics {
        n: of.len(),
        em: mean(of.iter().map(|scored| scored.score.em)),
        f1: mean(of.iter().map(|scored| scored.score.f1)),
        support_recall: mean(of.iter().filter_map(|scored| scored.support)),
    };
    kinds.into_iter().map(|(kind, of)| (kind.to_owned(), metrics(&of))).collect()
}

fn latency(scored: &[Scored]) -> Latency {
    let mut times: Vec<f64> = scored.iter().map(|scored| scored.record.latency_ms).collect();
    times.sort_by(f64::total_cmp);
    Latency { p50: nearest_rank(&times, 50), p95: nearest_rank(&times, 95) }
}

/// The smallest value that at least `percent` of the sorted values do not exceed.
fn nearest_rank(sorted: &[f64], percent: usize) -> Option<f64> {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.checked_sub(1)?).copied()
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / number(count))
}

#[expect(clippy::cast_precision_loss, reason = "counts of questions and hops")]
fn number(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_were_measured() {
        let times: Vec<f64> = (1..=20).map(f64::from).collect();
        assert_eq!(nearest_rank(&times, 50), Some(10.0));
        assert_eq!(nearest_rank(&times, 95), Some(19.0));
        assert_eq!(nearest_rank(&[7.0], 95), Some(7.0));
        assert_eq!(nearest_rank(&[], 50), None);
    }

    #[test]
    fn nothing_has_no_mean() {
        assert_eq!(mean([].into_iter()), None);
        assert_eq!(mean([1.0, 0.0].into_iter()), Some(0.5));
    }
}
