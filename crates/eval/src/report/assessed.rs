//! The assessments of a report as the rows of a table, and as notes.
use super::assessment::Assessment;
use super::model::{Report, Run};
use super::table::ReportTable;
use super::values::ValueFormat;
use crate::judge::{CriterionUnit, Scheme};

impl Report {
    /// The assessments of a model: a row for each run, scheme and criterion.
    pub(super) fn assessments(&self) -> ReportTable {
        let head = ["strategy", "assessed by", "criterion", "mean", "answers", "left out"];
        ReportTable::new(head).with(self.runs.iter().flat_map(rows))
    }
}

fn rows(run: &Run) -> Vec<[String; 6]> {
    let mut rows = vec![];
    for Assessment { scheme, criteria, .. } in &run.assessed {
        for criterion in criteria {
            let number = || criterion.mean.map_or("-".into(), |mean| format!("{mean:.2}"));
            let (unit, mean) = match scheme.unit(&criterion.name) {
                CriterionUnit::Points => ("1 to 5", number()),
                CriterionUnit::Number => ("number", number()),
                CriterionUnit::Share => ("%", ValueFormat::Percent.render(criterion.mean)),
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
    /// The mean of a criterion, where it was assessed.
    pub(super) fn criterion(&self, scheme: Scheme, name: &str) -> Option<f64> {
        let assessment = self.assessed.iter().find(|one| one.scheme == scheme)?;
        assessment.criteria.iter().find(|criterion| criterion.name == name)?.mean
    }

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
    use halma_core::UsageTotal;

    use super::super::assessment::AssessmentBuilder;
    use super::*;
    use crate::judge::{Mark, Marks};
    use crate::report::tests::report;

    fn marks<const N: usize>(marks: [(&str, Mark); N]) -> Marks {
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
        for criterion in &criteria[..2] {
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
        insta::assert_snapshot!(report.table(false));
        let markdown = report.markdown();
        let (_, from) = markdown.split_once("## Assessed by a model").unwrap();
        insta::assert_snapshot!(from.split("\n## ").next().unwrap());
    }
}
