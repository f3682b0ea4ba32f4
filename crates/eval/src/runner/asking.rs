//! One contestant through all questions: taking over what is known, asking the rest.
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use halma_core::{Cx, Meter, Outcome, Trace};

use super::book::{Answered, Book};
use super::judging::{Court, Hearing, Judge};
use super::shelf::Shelf;
use super::{Bench, Contestant, Progress, Runner, Tick};
use crate::jobs::{caught, each};
use crate::record::{Record, Verdict};
use crate::{DataSet, EvalError, Item};

/// What all contestants of one evaluation share.
pub(super) struct Round<'a> {
    pub(super) runner: &'a Runner,
    pub(super) data: &'a DataSet,
    pub(super) bench: &'a Bench,
    /// Of the whole evaluation.
    pub(super) meter: Arc<Meter>,
    pub(super) progress: &'a Progress,
}

/// What is left to do for a question.
enum Task {
    Ask(usize),
    /// It was answered by an earlier run and not judged.
    Judge(usize, Box<Record>),
}

/// A question that was worked on.
struct Done {
    item: usize,
    record: Record,
    /// `None` when the answer is an earlier run's.
    trace: Option<Trace>,
    hearing: Option<Hearing>,
}

/// Asks, and lets the judge hear the answer.
#[derive(Clone)]
struct Asker {
    contestant: Contestant,
    bench: Bench,
    meter: Arc<Meter>,
}

impl Round<'_> {
    pub(super) async fn answer_all(&self, contestant: &Contestant) -> Result<Answered, EvalError> {
        let out = self.runner.out.as_deref();
        let mut court = Court::open(out, &contestant.label, self.bench)?;
        let mut book = Book::new(self.data).with_answers(!self.bench.assessors.is_empty());
        let mut tasks = vec![];
        let items: HashMap<&str, usize> =
            self.data.items.iter().enumerate().map(|(i, item)| (id(item), i)).collect();
        let mut waiting = vec![false; self.data.items.len()];
        let mut files = Shelf::open(out, &contestant.label, |record| {
            let Some(&i) = items.get(record.question.as_str()) else { return };
            let item = &self.data.items[i];
            let Verdict::Answered(answer) = &record.outcome else { return };
            if !record.answers(item, &contestant.fingerprint) || book.has(i) || waiting[i] {
                return;
            }
            book.taken_over += 1;
            if court.must_hear(item, answer).is_some() {
                waiting[i] = true;
                tasks.push(Task::Judge(i, Box::new(record)));
            } else {
                book.enter(i, &record, court.ruling(item, answer));
            }
        })?;
        let asked = (0..waiting.len()).filter(|&i| !waiting[i] && !book.has(i)).map(Task::Ask);
        tasks.extend(asked);
        let tick = Tick::new(&contestant.label, self.data.items.len(), book.taken_over);
        self.work(contestant, tasks, tick, (&mut files, &mut court, &mut book)).await?;
        let assessed = self.assess(contestant, book.take_answers(), &files).await?;
        Ok(Answered { assessed, ..book.close(court.sits()) })
    }

    async fn work(
        &self,
        contestant: &Contestant,
        tasks: Vec<Task>,
        mut tick: Tick,
        (files, court, book): (&mut Shelf, &mut Court, &mut Book<'_>),
    ) -> Result<(), EvalError> {
        (self.progress)(&tick);
        let waiting = tasks.iter().filter(|task| matches!(task, Task::Judge(..))).count();
        let mut judging = Tick::new(&format!("{}, judging", contestant.label), waiting, 0);
        let (contestant, bench) = (contestant.clone(), self.bench.clone());
        let asker = Asker { contestant, bench, meter: Arc::clone(&self.meter) };
        let jobs = tasks.into_iter().map(|task| {
            let (Task::Ask(i) | Task::Judge(i, _)) = task;
            let (asker, item) = (asker.clone(), self.data.items[i].clone());
            async move { asker.work(&item, task).await }
        });
        each(self.runner.concurrency, jobs, |done| {
            // Nothing was begun: the whole budget is spent.
            let Some(Done { item, record, trace, hearing }) = done else { return Ok(()) };
            let is_new = trace.is_some();
            if let Some(trace) = &trace {
                files.keep(&record, trace)?;
            }
            if let Some(Hearing { judged, trace }) = hearing {
                files.keep_judging(&record, &trace)?;
                match judged {
                    Some(judged) => court.keep(judged)?,
                    None => book.unheard(),
                }
            }
            let ruling = match &record.outcome {
                Verdict::Answered(answer) => court.ruling(&self.data.items[item], answer),
                _ => None,
            };
            book.enter(item, &record, ruling);
            let tick = if is_new { &mut tick } else { &mut judging };
            tick.count(matches!(record.outcome, Verdict::Failed { .. }));
            (self.progress)(tick);
            Ok(())
        })
        .await
    }
}

fn id(item: &Item) -> &str {
    &item.question.id
}

impl Asker {
    /// `None` when the whole budget is spent before the question is begun.
    async fn work(self, item: &Item, task: Task) -> Option<Done> {
        let (i, record, trace) = match task {
            Task::Judge(i, record) => (i, *record, None),
            Task::Ask(_) if self.meter.spent().is_some() => return None,
            Task::Ask(i) => {
                let (record, trace) = self.answer(item).await;
                (i, record, Some(trace))
            }
        };
        let hearing = match (&self.bench.judge, &record.outcome) {
            (Some(judge), Verdict::Answered(answer)) if !answer.abstained => {
                Some(self.hear(judge, item, answer).await)
            }
            _ => None,
        };
        Some(Done { item: i, record, trace, hearing })
    }

    async fn answer(&self, item: &Item) -> (Record, Trace) {
        let cx = self.cx(item);
        let began = Instant::now();
        let strategy = self.contestant.strategy.as_ref();
        let outcome = caught(Outcome::run(strategy, &item.question, &cx)).await;
        let latency_ms = began.elapsed().as_secs_f64() * 1e3;
        let (verdict, trace) = match outcome {
            Ok(Outcome { answer: Ok(answer), trace }) => (Verdict::Answered(answer), trace),
            Ok(Outcome { answer: Err(error), trace }) => {
                let (kind, reason) = (error.kind().to_owned(), error.to_string());
                (Verdict::Failed { kind, reason }, trace)
            }
            Err(reason) => (Verdict::Failed { kind: "panic".into(), reason }, cx.trace()),
        };
        // An answer that the end of the whole budget cut short says nothing about the method.
        let verdict = match (self.meter.spent(), trace.spent()) {
            (Some(limit), true) => Verdict::Stopped { limit },
            _ => verdict,
        };
        let fingerprint = &self.contestant.fingerprint;
        (Record::new(item, fingerprint, verdict, (&trace, latency_ms)), trace)
    }

    async fn hear(&self, judge: &Judge, item: &Item, answer: &halma_core::Answer) -> Hearing {
        judge.hear(item, answer, self.cx(item)).await
    }

    fn cx(&self, item: &Item) -> Cx {
        (self.bench.open)(item, &self.meter)
    }
}
