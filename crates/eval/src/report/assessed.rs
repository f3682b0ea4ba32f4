//! What a model found of a run's answers, criterion by criterion. What could not be computed is in
//! no mean; it is counted by its reason.
use std::collections::BTreeMap;

use halma_core::UsageTotal;
use serde::{Deserialize, Serialize};

use super::columns::ValueFormat;
use super::model::{Report, Run};
use crate::figures::mean;
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
        let mut usage = UsageTotal::default();
        for (.., cost) in &self.entries {
            usage.add(*cost);
        }
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

/// What every table of assessments shows.
pub(crate) const ASSESSED: [&str; 6] =
    ["strategy", "assessed by", "criterion", "mean", "answers", "left out"];

impl Report {
    /// A row for each run, scheme and criterion.
    pub(crate) fn assessed(&self) -> Vec<[String; 6]> {
        self.runs.iter().flat_map(rows).collect()
    }
}

fn rows(run: &Run) -> Vec<[String; 6]> {
    let mut rows = vec![];
    for Assessment { scheme, criteria, .. } in &run.assessed {
        for criterion in criteria {
            let (unit, mean) = if scheme.is_points() {
                ("1 to 5", criterion.mean.map_or("-".into(), |mean| format!("{mean:.2}")))
            } else {
                ("%", ValueFormat::Percent.render(criterion.mean))
            };
            rows.push([
                run.label.clone(),
                format!("{}, {unit}", scheme.name()),
                criterion.name.replace('_', " "),
                mean,
                criterion.n.to_string(),
                criterion.missing(),
            ]);
        }
    }
    rows
}

impl Run {
    /// What the assessments could not be asked for, and what they cost.
    pub(super) fn assessing(&self, notes: &mut Vec<String>) {
        for Assessment { scheme, answers, failed, usage, .. } in &self.assessed {
            let name = scheme.name();
            if !failed.is_empty() {
                let count: usize = failed.values().sum();
                let kinds: Vec<String> =
                    failed.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
                notes.push(format!(
                    "{count} of {answers} answers could not be assessed by {name} ({}); the next \
                     run asks again",
                    kinds.join(", ")
                ));
            }
            let calls = usage.llm_calls + usage.cached_calls;
            notes.push(format!(
                "assessing by {name} took {calls} calls and {:.4} USD, in no other figure",
                usage.usd
            ));
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::report::tests::report;

    fn marks(marks: [(&str, Mark); 2]) -> Marks {
        marks.map(|(name, mark)| (name.to_owned(), mark)).into()
    }

    /// Two forecasts that were assessed, one that could not be read, an abstention and a failure.
    pub(crate) fn forecasts() -> Assessment {
        let mut builder = AssessmentBuilder::new(Scheme::Forecast);
        let (direction, covered) = ("direction_accuracy", "interval_coverage");
        let none = || Mark::LeftOut("the answer gives no interval".into());
        let usage = UsageTotal { llm_calls: 1, usd: 0.5, ..UsageTotal::default() };
        builder.enter(2, marks([(direction, Mark::Value(0.0)), (covered, none())]), usage);
        builder.enter(
            0,
            marks([(direction, Mark::Value(1.0)), (covered, Mark::Value(1.0))]),
            usage,
        );
        let prose = || Mark::Unreadable("no JSON".into());
        builder.enter(1, marks([(direction, prose()), (covered, prose())]), usage);
        builder.abstained();
        builder.failed("llm".into());
        builder.close()
    }

    #[test]
    fn what_was_not_computed_is_in_no_mean_and_counted_by_its_reason() {
        let Assessment { answers, criteria, failed, usage, .. } = forecasts();
        assert_eq!((answers, usage.llm_calls, failed["llm"]), (5, 3, 1));
        assert_eq!((criteria[0].mean, criteria[0].n, criteria[0].unreadable), (Some(0.5), 2, 1));
        assert_eq!((criteria[1].mean, criteria[1].n), (Some(1.0), 1));
        assert_eq!(criteria[1].left_out["the answer gives no interval"], 1);
        for criterion in &criteria {
            let apart = criterion.left_out.values().sum::<usize>() + criterion.unreadable;
            assert_eq!(criterion.n + apart + 1, answers, "{criterion:?}");
        }
        let nothing = AssessmentBuilder::new(Scheme::Creative).close();
        assert!(nothing.criteria.iter().all(|criterion| criterion.mean.is_none()));
    }

    #[test]
    fn assessments_are_shown_with_what_is_missing() {
        let mut report = report("o|ne", "RWAFU");
        let mut creative = AssessmentBuilder::new(Scheme::Creative);
        let points = Scheme::Creative.criteria().into_iter().map(|name| (name, Mark::Value(4.0)));
        let points = points.map(|(name, mark)| (name.to_owned(), mark)).collect();
        creative.enter(0, points, UsageTotal::default());
        report.runs[0].assessed = vec![forecasts(), creative.close()];
        insta::assert_snapshot!(report.table());
        let markdown = report.markdown();
        let (_, from) = markdown.split_once("## Assessed by a model").unwrap();
        insta::assert_snapshot!(from.split("\n## ").next().unwrap());
    }
}
