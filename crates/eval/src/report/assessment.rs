//! What a model found of a run's answers, criterion by criterion. What could not be computed is in
//! no mean; it is counted by its reason.
use std::collections::BTreeMap;

use halma_core::UsageTotal;
use serde::{Deserialize, Serialize};

use crate::figures::{mean, total_usage};
use crate::judge::{Mark, Marks, Scheme};

/// The answers of a run, assessed by one scheme.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Assessment {
    pub scheme: Scheme,
    /// Answers that were there to be assessed, abstentions included.
    pub answers: usize,
    /// One for each of [`Scheme::criteria`], in their order.
    pub criteria: Vec<Criterion>,
    /// Answers about which the model could not be asked, by kind of error; they are in no
    /// criterion's counts, and the next run asks again.
    pub failed: BTreeMap<String, usize>,
    /// Paid for assessing; not in any other figure.
    pub usage: UsageTotal,
}

/// One criterion over the answers of a run: `n`, those left out and those unreadable are all that
/// were assessed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Criterion {
    pub name: String,
    /// Of the `n` answers for which it was computed: a fraction, or of [`Scheme::Creative`] points
    /// from 1 to 5. `None` without any.
    pub mean: Option<f64>,
    pub n: usize,
    /// Answers for which it could not be computed, by the reason.
    pub left_out: BTreeMap<String, usize>,
    /// Answers for which the judge's replies could not be read, also when asked for again.
    pub unreadable: usize,
}

/// An assessment in the making, entered answer by answer.
pub(crate) struct AssessmentBuilder {
    scheme: Scheme,
    /// With the item's place, so that the sums do not depend on what was done first.
    entries: Vec<(usize, Marks, UsageTotal)>,
    abstained: usize,
    failed: BTreeMap<String, usize>,
}

const ABSTAINED: &str = "the answer is an abstention";

impl AssessmentBuilder {
    pub(crate) fn new(scheme: Scheme) -> Self {
        Self { scheme, entries: vec![], abstained: 0, failed: BTreeMap::new() }
    }

    pub(crate) fn enter(&mut self, item: usize, marks: Marks, usage: UsageTotal) {
        self.entries.push((item, marks, usage));
    }

    pub(crate) fn abstained(&mut self) {
        self.abstained += 1;
    }

    pub(crate) fn failed(&mut self, kind: String) {
        *self.failed.entry(kind).or_default() += 1;
    }

    pub(crate) fn close(mut self) -> Assessment {
        self.entries.sort_by_key(|(item, ..)| *item);
        let usage = total_usage(self.entries.iter().map(|(.., cost)| *cost));
        let failed: usize = self.failed.values().sum();
        Assessment {
            scheme: self.scheme,
            answers: self.entries.len() + self.abstained + failed,
            criteria: self.scheme.criteria().into_iter().map(|name| self.criterion(name)).collect(),
            failed: self.failed,
            usage,
        }
    }

    fn criterion(&self, name: &str) -> Criterion {
        let mut criterion = Criterion { name: name.to_owned(), ..Criterion::default() };
        if self.abstained > 0 {
            criterion.left_out.insert(ABSTAINED.to_owned(), self.abstained);
        }
        let mut values = vec![];
        for mark in self.entries.iter().filter_map(|(_, marks, _)| marks.get(name)) {
            match mark {
                Mark::Value(value) => values.push(*value),
                Mark::LeftOut(reason) => {
                    *criterion.left_out.entry(reason.clone()).or_default() += 1;
                }
                Mark::Unreadable(_) => criterion.unreadable += 1,
            }
        }
        criterion.n = values.len();
        criterion.mean = mean(values.into_iter());
        criterion
    }
}

impl Criterion {
    /// `2 (there are no passages: 1; the judge could not be read: 1)`, or `-`.
    pub(crate) fn missing(&self) -> String {
        let mut reasons: Vec<String> =
            self.left_out.iter().map(|(reason, count)| format!("{reason}: {count}")).collect();
        if self.unreadable > 0 {
            reasons.push(format!("the judge could not be read: {}", self.unreadable));
        }
        if reasons.is_empty() {
            return "-".to_owned();
        }
        let count = self.left_out.values().sum::<usize>() + self.unreadable;
        format!("{count} ({})", reasons.join("; "))
    }
}
