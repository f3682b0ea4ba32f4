//! From recorded questions to a report.
use std::collections::BTreeMap;

use halma_core::{Budget, UsageTotal};

use super::assessment::Assessment;
use super::columns::COLUMNS;
use super::model::{
    Failure, GroupValues, Judgement, QuestionHead, QuestionResult, REPORT_VERSION, Report,
    Retrieval, Run, Tokens,
};
use super::outcome::AnswerOutcome;
use super::scoring::hops;
use super::values::Values;
use crate::components::{Atomizing, Totals};
use crate::data::{DataSet, Item};
use crate::figures::{counted, mean, number, total_usage};
use crate::judge::Ruling;
use crate::metrics::{Answerability, Attempt, recall_of_ranks};
use crate::retrieval::Retrieved;
use crate::runner::SystemUnderTest;

/// What the questions of one system came to.
pub(crate) struct SystemResults {
    /// In the order of the items; a question that was not asked is [`AnswerOutcome::Unasked`].
    pub(crate) results: Vec<QuestionResult>,
    /// In the order of the items.
    pub(crate) failures: Vec<Failure>,
    pub(crate) totals: Totals,
    pub(crate) taken_over: usize,
    /// `None` without a judge.
    pub(crate) judging: Option<JudgingCost>,
    /// One for each assessor.
    pub(crate) assessed: Vec<Assessment>,
}

/// What judging took.
#[derive(Clone, Copy)]
pub(crate) struct JudgingCost {
    pub(crate) usage: UsageTotal,
    /// Answers for which the judge could not be asked.
    pub(crate) failed: usize,
}

impl Report {
    pub(crate) fn new(data: &DataSet, base: &str, budget: Budget) -> Self {
        let head = |item: &Item| QuestionHead {
            id: item.question.id.clone(),
            text: item.question.text.clone(),
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
            selected: vec![],
            base: base.to_owned(),
            atomizing: None,
            budget,
            spent: None,
            questions: data.items.iter().map(head).collect(),
            columns: vec![],
            runs: vec![],
            refused: data.refused.clone(),
        }
    }

    /// With the runs of another report on the same questions, over another base.
    #[must_use]
    pub fn join(mut self, other: Self) -> Self {
        self.runs.extend(other.runs);
        self.spent = self.spent.or(other.spent);
        self.columns = self.column_heads();
        self
    }

    pub(crate) fn add(&mut self, run: Run) {
        self.runs.push(run);
        self.columns = self.column_heads();
    }
}

impl Run {
    pub(crate) fn new(
        system: &SystemUnderTest,
        data: &DataSet,
        given: SystemResults,
        retrieved: &Retrieved,
    ) -> Self {
        let SystemResults { results, failures, totals, taken_over, judging, assessed } = given;
        let items: Vec<(&Item, &QuestionResult)> = data.items.iter().zip(&results).collect();
        let count = |outcome| results.iter().filter(|result| result.outcome == outcome).count();
        let metric = data.metric;
        let mut run = Self {
            strategy: system.strategy.name().to_owned(),
            label: system.label.clone(),
            point: system.point.clone(),
            settings: system.strategy.settings(),
            fingerprint: system.fingerprint.clone(),
            profile: metric.profile(),
            metric,
            values: Values::default(),
            retrieval: retrieval(retrieved),
            answerability: answerability(&items),
            judged: judging.map(|judging| judgement(&results, judging)),
            assessed,
            atomizing: None,
            abstained: results.iter().filter(|result| result.abstained).count(),
            failed: count(AnswerOutcome::Failed),
            failed_by_kind: counted(failures.iter().map(|failure| failure.kind.clone())),
            failures,
            unasked: count(AnswerOutcome::Unasked),
            partial: results.iter().filter(|result| result.partial).count(),
            taken_over,
            retrieval_failed: retrieved.iter().flatten().filter(|ranks| ranks.is_err()).count(),
            malformed: totals.malformed,
            lost_replies: totals.lost_replies.clone(),
            nothing_near: nothing_near(totals.searches),
            searches: totals.searches(),
            sources: totals.sources(),
            usage: total_usage(results.iter().map(|result| result.usage)),
            tokens: Tokens { prompt: totals.tokens.0, completion: totals.tokens.1 },
            gold: totals.gold,
            by_kind: grouped(items.iter().filter_map(|(i, r)| Some((i.kind.clone()?, *r)))),
            by_hops: grouped(items.iter().filter_map(|(i, r)| Some((hops(i)?, *r)))),
            error_analysis: counted(results.iter().filter_map(|result| result.error_cause)),
            components: totals.components(),
            models: totals.models(),
            prompts: totals.prompts(),
            results,
        };
        run.values = run.column_values();
        run
    }

    /// With what making its base cost.
    pub(crate) fn with_atomizing(mut self, atomizing: Option<Atomizing>) -> Self {
        self.atomizing = atomizing;
        self.values = self.column_values();
        self
    }

    pub(super) fn column_values(&self) -> Values {
        let results: Vec<&QuestionResult> = self.results.iter().collect();
        let mut values = means(&results);
        for column in COLUMNS {
            if let Some(value) = column.run {
                values.set(column.key, value(self));
            }
        }
        values
    }
}

/// Of each column, the mean over the questions that have a value.
fn means(results: &[&QuestionResult]) -> Values {
    let mut values = Values::default();
    for column in COLUMNS.iter().filter(|column| column.question.is_some()) {
        values.set(column.key, mean(results.iter().filter_map(|r| r.values.get(column.key))));
    }
    values
}

fn retrieval(retrieved: &Retrieved) -> Retrieval {
    let recall_at = |k| {
        let ranks = retrieved.iter().flatten().filter_map(|ranks| ranks.as_ref().ok());
        mean(ranks.filter_map(|ranks| recall_of_ranks(ranks, k)))
    };
    Retrieval { r2: recall_at(2), r5: recall_at(5), r10: recall_at(10) }
}

/// `None` for a data set whose questions all have answers.
fn answerability(results: &[(&Item, &QuestionResult)]) -> Option<Answerability> {
    if results.iter().all(|(item, _)| item.answerable) {
        return None;
    }
    let scored = results.iter().filter(|(_, result)| result.is_scored());
    let attempts = scored.map(|(item, result)| Attempt {
        answerable: item.answerable,
        abstained: result.abstained,
        correct: (result.ruling != Some(Ruling::Unreadable))
            .then_some(result.outcome == AnswerOutcome::Right),
    });
    Some(Answerability::measure(&attempts.collect::<Vec<_>>()))
}

fn judgement(results: &[QuestionResult], cost: JudgingCost) -> Judgement {
    let scored: Vec<&QuestionResult> = results.iter().filter(|r| r.is_scored()).collect();
    let ruled = |ruling| scored.iter().filter(|result| result.ruling == Some(ruling)).count();
    // Abstentions are not shown to the judge; they are right where there is no answer.
    let silent = |outcome| scored.iter().filter(|r| r.abstained && r.outcome == outcome).count();
    let right = ruled(Ruling::Right) + silent(AnswerOutcome::Right);
    let wrong = ruled(Ruling::Wrong) + silent(AnswerOutcome::Abstained);
    let accuracy = (right + wrong > 0).then(|| number(right) / number(right + wrong));
    let JudgingCost { usage, failed } = cost;
    Judgement { accuracy, right, wrong, unreadable: ruled(Ruling::Unreadable), failed, usage }
}

fn nothing_near((all, empty): (usize, usize)) -> Option<f64> {
    (all > 0).then(|| number(empty) / number(all))
}

fn grouped<'a, K: Ord>(
    results: impl Iterator<Item = (K, &'a QuestionResult)>,
) -> BTreeMap<K, GroupValues> {
    let mut groups: BTreeMap<K, Vec<&QuestionResult>> = BTreeMap::new();
    for (key, result) in results.filter(|(_, result)| result.is_scored()) {
        groups.entry(key).or_default().push(result);
    }
    let values =
        |results: &[&QuestionResult]| GroupValues { n: results.len(), values: means(results) };
    groups.into_iter().map(|(key, results)| (key, values(&results))).collect()
}
