//! The results of one system, entered question by question: small enough to hold a hundred
//! thousand of them, while answers and traces go to disk.
use halma_core::{Answer, UsageTotal};

use crate::components::Totals;
use crate::data::DataSet;
use crate::figures::total_usage;
use crate::judge::Ruling;
use crate::record::{Record, RecordOutcome};
use crate::report::{Failure, JudgingCost, Measure, QuestionResult, SystemResults, result};

pub(crate) struct ResultCollector<'a> {
    data: &'a DataSet,
    measure: Measure,
    entries: Vec<Option<QuestionResult>>,
    failures: Vec<(usize, Failure)>,
    totals: Totals,
    pub(crate) taken_over: usize,
    judging: Vec<(usize, UsageTotal)>,
    judge_failed: usize,
    /// The answers themselves, where they are needed once all are there.
    answers: Option<Vec<(usize, Answer)>>,
}

impl<'a> ResultCollector<'a> {
    pub(crate) fn new(data: &'a DataSet, judged: bool) -> Self {
        Self {
            data,
            measure: Measure::new(data, judged),
            entries: vec![None; data.items.len()],
            failures: vec![],
            totals: Totals::default(),
            taken_over: 0,
            judging: vec![],
            judge_failed: 0,
            answers: None,
        }
    }

    /// Holds the answers from now on.
    pub(crate) fn retain_answers(&mut self) {
        self.answers = Some(vec![]);
    }

    /// Items with their answers, in the order in which they were entered.
    pub(crate) fn take_answers(&mut self) -> Vec<(usize, Answer)> {
        self.answers.take().unwrap_or_default()
    }

    pub(crate) fn has(&self, item: usize) -> bool {
        self.entries[item].is_some()
    }

    /// Enters a question that has ended, with the judge's ruling on its answer.
    pub(crate) fn enter(
        &mut self,
        item: usize,
        record: &Record,
        ruling: Option<(Ruling, UsageTotal)>,
    ) {
        self.totals.add(record);
        if let RecordOutcome::Failed { kind, reason } = &record.outcome {
            let (kind, reason) = (kind.clone(), reason.clone());
            let failure = Failure { question: record.question.clone(), kind, reason };
            self.failures.push((item, failure));
        }
        if let (Some(answers), RecordOutcome::Answered(answer)) =
            (&mut self.answers, &record.outcome)
        {
            answers.push((item, answer.clone()));
        }
        if let Some((_, usage)) = ruling {
            self.judging.push((item, usage));
        }
        let of = &self.data.items[item];
        let ruling = ruling.map(|(ruling, _)| ruling);
        self.entries[item] = Some(result(self.measure, of, record, ruling));
    }

    /// The judge could not be asked about an answer.
    pub(crate) fn judge_failed(&mut self) {
        self.judge_failed += 1;
    }

    pub(crate) fn finish(mut self, judged: bool) -> SystemResults {
        self.failures.sort_by_key(|(item, _)| *item);
        self.judging.sort_by_key(|(item, _)| *item);
        let usage = total_usage(self.judging.into_iter().map(|(_, cost)| cost));
        SystemResults {
            results: self.entries.into_iter().map(Option::unwrap_or_default).collect(),
            failures: self.failures.into_iter().map(|(_, failure)| failure).collect(),
            totals: self.totals,
            taken_over: self.taken_over,
            judging: judged.then_some(JudgingCost { usage, failed: self.judge_failed }),
            assessed: vec![],
        }
    }
}
