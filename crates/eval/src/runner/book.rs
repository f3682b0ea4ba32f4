//! What one contestant's questions came to, entered one by one: small enough to keep for a
//! hundred thousand of them, while answers and traces go to disk.
use halma_core::{Answer, UsageTotal};

use crate::components::Totals;
use crate::record::{Record, Verdict};
use crate::report::{Assessment, Measure, QuestionResult, result};
use crate::runner::Ruling;
use crate::{DataSet, Failure};

/// One contestant's questions.
pub(crate) struct Answered {
    /// In the order of the items; a question that was not asked is [`crate::Fate::Unasked`].
    pub(crate) results: Vec<QuestionResult>,
    /// In the order of the items.
    pub(crate) failures: Vec<Failure>,
    pub(crate) totals: Totals,
    pub(crate) taken_over: usize,
    /// What judging cost, and for how many answers the judge could not be asked; `None` without a
    /// judge.
    pub(crate) judging: Option<(UsageTotal, usize)>,
    /// One for each assessor.
    pub(crate) assessed: Vec<Assessment>,
}

pub(crate) struct Book<'a> {
    data: &'a DataSet,
    measure: Measure,
    entries: Vec<Option<QuestionResult>>,
    failures: Vec<(usize, Failure)>,
    totals: Totals,
    pub(crate) taken_over: usize,
    judging: Vec<(usize, UsageTotal)>,
    unheard: usize,
    /// The answers themselves, where somebody wants them.
    answers: Option<Vec<(usize, Answer)>>,
}

impl<'a> Book<'a> {
    pub(crate) fn new(data: &'a DataSet) -> Self {
        Self {
            data,
            measure: Measure::of(data),
            entries: vec![None; data.items.len()],
            failures: vec![],
            totals: Totals::default(),
            taken_over: 0,
            judging: vec![],
            unheard: 0,
            answers: None,
        }
    }

    /// Remembers the answers, if they are wanted once all are there.
    pub(crate) fn with_answers(self, wanted: bool) -> Self {
        Self { answers: wanted.then(Vec::new), ..self }
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
        if let Verdict::Failed { kind, reason } = &record.outcome {
            let (kind, reason) = (kind.clone(), reason.clone());
            let failure = Failure { question: record.question.clone(), kind, reason };
            self.failures.push((item, failure));
        }
        if let (Some(answers), Verdict::Answered(answer)) = (&mut self.answers, &record.outcome) {
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
    pub(crate) fn unheard(&mut self) {
        self.unheard += 1;
    }

    pub(crate) fn close(mut self, judged: bool) -> Answered {
        self.failures.sort_by_key(|(item, _)| *item);
        self.judging.sort_by_key(|(item, _)| *item);
        let mut cost = UsageTotal::default();
        for (_, usage) in self.judging {
            cost.add(usage);
        }
        Answered {
            results: self.entries.into_iter().map(Option::unwrap_or_default).collect(),
            failures: self.failures.into_iter().map(|(_, failure)| failure).collect(),
            totals: self.totals,
            taken_over: self.taken_over,
            judging: judged.then_some((cost, self.unheard)),
            assessed: vec![],
        }
    }
}
