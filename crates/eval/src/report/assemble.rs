//! From kept questions to a report.
use std::collections::BTreeMap;

use halma_core::{Budget, UsageTotal};

use super::scoring::hops;
use super::{
    Fate, Judgement, KindMetrics, Latency, Loss, Metrics, QuestionHead, QuestionResult,
    REPORT_VERSION, Report, Retrieval, Run, Sure, Tokens, mean, nearest_rank, number, ratio,
};
use crate::metrics::{Answerability, Tried, recall_of_ranks, tokens_per_correct};
use crate::retrieval::Retrieved;
use crate::runner::{Answered, Contestant, Ruling};
use crate::{DataSet, Item, Profile};

impl Report {
    pub(crate) fn new(data: &DataSet, base: &str, budget: Budget) -> Self {
        let head = |item: &Item| QuestionHead {
            id: item.question.id.clone(),
            kind: item.kind.clone(),
            hops: hops(item),
        };
        Self {
            format_version: REPORT_VERSION,
            halma: env!("CARGO_PKG_VERSION").to_owned(),
            dataset: data.name.clone(),
            n: data.items.len(),
            source: None,
            sample: None,
            base: base.to_owned(),
            atomizing: None,
            budget,
            spent: None,
            questions: data.items.iter().map(head).collect(),
            runs: vec![],
            refused: data.refused.clone(),
        }
    }
}

impl Run {
    pub(crate) fn of(
        contestant: &Contestant,
        data: &DataSet,
        answered: Answered,
        retrieved: &Retrieved,
    ) -> Self {
        let Answered { results, failures, totals, taken_over, judging, assessed } = answered;
        let of_fate = |fate| results.iter().filter(|result| result.fate == fate).count();
        let scored: Vec<&QuestionResult> = scored(&results).collect();
        let metrics = metrics(&scored, retrieved);
        let heads: Vec<_> = data.items.iter().zip(&results).collect();
        let abstained = results.iter().filter(|result| result.abstained).count();
        let failed = of_fate(Fate::Failed);
        Self {
            strategy: contestant.strategy.name().to_owned(),
            label: contestant.label.clone(),
            point: contestant.point.clone(),
            settings: contestant.strategy.settings(),
            fingerprint: contestant.fingerprint.clone(),
            profile: Profile::of(data.format),
            metric: data.format.entry().metric,
            answerability: answerability(&heads),
            if_failed_were_wrong: sure(&scored, failed),
            judged: judging.map(|judging| judgement(&scored, judging)),
            assessed,
            abstained,
            failed,
            failed_by_kind: counted(failures.iter().map(|failure| failure.kind.clone())),
            failures,
            unasked: of_fate(Fate::Unasked),
            partial: results.iter().filter(|result| result.partial).count(),
            taken_over,
            retrieval_failed: retrieved.iter().flatten().filter(|ranks| ranks.is_err()).count(),
            malformed: totals.malformed,
            nothing_near: nothing_near(totals.searches),
            searches: totals.searches(),
            sources: totals.sources(),
            hops: mean(scored.iter().map(|result| number(result.hops))),
            sub_questions: mean(scored.iter().map(|result| number(result.sub_questions))),
            usage: usage(&results),
            tokens: tokens(&results, totals.tokens),
            latency_ms: latency(&scored),
            by_kind: grouped(heads.iter().filter_map(|(i, r)| Some((i.kind.clone()?, *r)))),
            by_hops: grouped(heads.iter().filter_map(|(i, r)| Some((hops(i)?, *r)))),
            losses: losses(&results),
            components: totals.components(),
            models: totals.models(),
            prompts: totals.prompts(),
            metrics,
            results,
        }
    }
}

fn scored(results: &[QuestionResult]) -> impl Iterator<Item = &QuestionResult> {
    results.iter().filter(|result| result.score.is_some())
}

fn right(result: &QuestionResult) -> f64 {
    f64::from(u8::from(result.fate == Fate::Right))
}

fn metrics(scored: &[&QuestionResult], retrieved: &Retrieved) -> Metrics {
    let of = |value: fn(&crate::Score) -> f64| {
        mean(scored.iter().filter_map(|result| result.score.as_ref()).map(value))
    };
    let recall_at = |k| {
        let found = retrieved.iter().flatten().filter_map(|ranks| ranks.as_ref().ok());
        mean(found.filter_map(|ranks| recall_of_ranks(ranks, k)))
    };
    Metrics {
        em: of(|score| score.em),
        f1: of(|score| score.f1),
        precision: of(|score| score.precision),
        recall: of(|score| score.recall),
        cover_em: of(|score| score.cover_em),
        value: mean(scored.iter().filter_map(|result| result.value)),
        right: mean(scored.iter().map(|result| right(result))),
        support_recall: mean(scored.iter().filter_map(|result| result.support)),
        retrieval: Retrieval { r2: recall_at(2), r5: recall_at(5), r10: recall_at(10) },
    }
}

/// The means with a 0 for every failed question.
fn sure(scored: &[&QuestionResult], failed: usize) -> Sure {
    let of = |value: fn(&crate::Score) -> f64| {
        let given = scored.iter().filter_map(|result| result.score.as_ref()).map(value);
        mean(given.chain(std::iter::repeat_n(0.0, failed)))
    };
    Sure { em: of(|score| score.em), f1: of(|score| score.f1) }
}

/// `None` for a data set whose questions all have answers.
fn answerability(results: &[(&Item, &QuestionResult)]) -> Option<Answerability> {
    if results.iter().all(|(item, _)| item.answerable) {
        return None;
    }
    let scored = results.iter().filter(|(_, result)| result.score.is_some());
    let tried = scored.map(|(item, result)| Tried {
        answerable: item.answerable,
        abstained: result.abstained,
        correct: (result.ruling != Some(Ruling::Unreadable)).then_some(result.fate == Fate::Right),
    });
    Some(Answerability::of(&tried.collect::<Vec<_>>()))
}

fn judgement(scored: &[&QuestionResult], (usage, failed): (UsageTotal, usize)) -> Judgement {
    let ruled = |ruling| scored.iter().filter(|result| result.ruling == Some(ruling)).count();
    // Abstentions are not shown to the judge; they are right where there is no answer.
    let silent = |fate| scored.iter().filter(|r| r.abstained && r.fate == fate).count();
    let right = ruled(Ruling::Right) + silent(Fate::Right);
    let wrong = ruled(Ruling::Wrong) + silent(Fate::Abstained);
    let accuracy = (right + wrong > 0).then(|| number(right) / number(right + wrong));
    Judgement { accuracy, right, wrong, unreadable: ruled(Ruling::Unreadable), failed, usage }
}

fn nothing_near((all, empty): (usize, usize)) -> Option<f64> {
    (all > 0).then(|| number(empty) / number(all))
}

fn usage(results: &[QuestionResult]) -> UsageTotal {
    let mut total = UsageTotal::default();
    for result in results {
        total.add(result.usage);
    }
    total
}

fn tokens(results: &[QuestionResult], (prompt, completion): (u64, u64)) -> Tokens {
    let asked = results.iter().filter(|result| result.fate != Fate::Unasked).count() as u64;
    let right = results.iter().filter(|result| result.fate == Fate::Right).count();
    let all = prompt + completion;
    Tokens {
        prompt,
        completion,
        per_question: (asked > 0).then(|| ratio(all, asked)),
        per_right_answer: tokens_per_correct(all, right),
    }
}

fn latency(scored: &[&QuestionResult]) -> Latency {
    let mut times: Vec<f64> = scored.iter().map(|result| result.latency_ms).collect();
    times.sort_by(f64::total_cmp);
    Latency { p50: nearest_rank(&times, 50), p95: nearest_rank(&times, 95) }
}

fn grouped<'a, K: Ord>(
    results: impl Iterator<Item = (K, &'a QuestionResult)>,
) -> BTreeMap<K, KindMetrics> {
    let mut groups: BTreeMap<K, Vec<&QuestionResult>> = BTreeMap::new();
    for (key, result) in results.filter(|(_, result)| result.score.is_some()) {
        groups.entry(key).or_default().push(result);
    }
    let metrics = |of: &[&QuestionResult]| KindMetrics {
        n: of.len(),
        em: mean(of.iter().filter_map(|result| result.score).map(|score| score.em)),
        f1: mean(of.iter().filter_map(|result| result.score).map(|score| score.f1)),
        right: mean(of.iter().map(|result| right(result))),
        support_recall: mean(of.iter().filter_map(|result| result.support)),
    };
    groups.into_iter().map(|(key, of)| (key, metrics(&of))).collect()
}

fn losses(results: &[QuestionResult]) -> BTreeMap<Loss, usize> {
    counted(results.iter().filter_map(|result| result.lost))
}

fn counted<K: Ord>(keys: impl Iterator<Item = K>) -> BTreeMap<K, usize> {
    let mut counts = BTreeMap::new();
    for key in keys {
        *counts.entry(key).or_default() += 1;
    }
    counts
}
