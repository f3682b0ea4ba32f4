//! One system through all questions: reusing what earlier runs left, asking the rest.
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use halma_core::{Cx, Meter, Outcome, Trace};

use super::assessing::Rivals;
use super::collector::ResultCollector;
use super::judging::{JudgeReply, RulingStore};
use super::run_files::RunFiles;
use super::{Bench, Runner};
use crate::data::{DataSet, Item};
use crate::error::EvalError;
use crate::jobs::{Progress, Tick, caught, each};
use crate::record::{LostCall, Record, RecordOutcome, lost_calls};
use crate::report::SystemResults;
use crate::runner::SystemUnderTest;

/// What all systems of one evaluation share.
pub(super) struct Round<'a> {
    pub(super) runner: &'a Runner,
    pub(super) data: &'a DataSet,
    pub(super) bench: &'a Bench,
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
    judge_reply: Option<JudgeReply>,
}

/// Asks, and has the judge rule on the answer.
#[derive(Clone)]
struct Asker {
    system: SystemUnderTest,
    bench: Bench,
    /// Of the whole evaluation.
    budget: Arc<Meter>,
}

/// Where the results of one system go.
struct Output<'a> {
    files: RunFiles,
    rulings: RulingStore,
    collector: ResultCollector<'a>,
}

impl Round<'_> {
    pub(super) async fn answer_all(
        &self,
        system: &SystemUnderTest,
        rivals: &mut Option<Rivals>,
    ) -> Result<SystemResults, EvalError> {
        let (mut output, tasks) = self.resume(system)?;
        self.work(system, tasks, &mut output).await?;
        let Output { files, rulings, mut collector } = output;
        let answers = (collector.take_answers(), rivals);
        let assessed = self.assess(system, answers, &files).await?;
        Ok(SystemResults { assessed, ..collector.finish(rulings.is_enabled()) })
    }

    /// Takes over what earlier runs left; returns what is still to be done.
    fn resume(&self, system: &SystemUnderTest) -> Result<(Output<'_>, Vec<Task>), EvalError> {
        let out = self.runner.out.as_deref();
        let rulings = RulingStore::open(out, &system.label, self.bench.judge.as_ref())?;
        let mut collector = ResultCollector::new(self.data, rulings.is_enabled());
        if !self.bench.assessors.is_empty() {
            collector.retain_answers();
        }
        let mut tasks = vec![];
        let items: HashMap<&str, usize> =
            self.data.items.iter().enumerate().map(|(i, item)| (id(item), i)).collect();
        let mut unjudged = vec![false; self.data.items.len()];
        let files = RunFiles::open(out, &system.label, |record| {
            let Some(&i) = items.get(record.question.as_str()) else { return };
            let item = &self.data.items[i];
            let RecordOutcome::Answered(answer) = &record.outcome else { return };
            if !record.answers(item, &system.fingerprint) || collector.has(i) || unjudged[i] {
                return;
            }
            collector.taken_over += 1;
            if rulings.needs_ruling(item, answer) {
                unjudged[i] = true;
                tasks.push(Task::Judge(i, Box::new(record)));
            } else {
                collector.enter(i, &record, rulings.ruling(item, answer));
            }
        })?;
        let unanswered = (0..unjudged.len()).filter(|&i| !unjudged[i] && !collector.has(i));
        tasks.extend(unanswered.map(Task::Ask));
        Ok((Output { files, rulings, collector }, tasks))
    }

    async fn work(
        &self,
        system: &SystemUnderTest,
        tasks: Vec<Task>,
        output: &mut Output<'_>,
    ) -> Result<(), EvalError> {
        let taken_over = output.collector.taken_over;
        let mut tick = Tick::new(&system.label, self.data.items.len(), taken_over);
        (self.progress)(&tick);
        let unjudged = tasks.iter().filter(|task| matches!(task, Task::Judge(..))).count();
        let mut judging = Tick::new(&format!("{}, judging", system.label), unjudged, 0);
        let budget = Arc::clone(&self.runner.budget);
        let asker = Asker { system: system.clone(), bench: self.bench.clone(), budget };
        let jobs = tasks.into_iter().map(|task| {
            let (Task::Ask(i) | Task::Judge(i, _)) = task;
            let (asker, item) = (asker.clone(), self.data.items[i].clone());
            async move { asker.work(&item, task).await }
        });
        each(self.runner.concurrency, jobs, |done| {
            // Nothing was begun: the whole budget is spent.
            let Some(done) = done else { return Ok(()) };
            let tick = if done.trace.is_some() { &mut tick } else { &mut judging };
            tick.count(matches!(done.record.outcome, RecordOutcome::Failed { .. }));
            output.store(done, self.data)?;
            (self.progress)(tick);
            Ok(())
        })
        .await
    }
}

impl Output<'_> {
    fn store(&mut self, done: Done, data: &DataSet) -> Result<(), EvalError> {
        let Done { item, record, trace, judge_reply } = done;
        if let Some(trace) = &trace {
            self.files.store(&record, trace)?;
        }
        if let Some(JudgeReply { judged, trace }) = judge_reply {
            self.files.store_judging(&record, &trace)?;
            match judged {
                Some(judged) => self.rulings.store(judged)?,
                None => self.collector.judge_failed(),
            }
        }
        let ruling = match &record.outcome {
            RecordOutcome::Answered(answer) => self.rulings.ruling(&data.items[item], answer),
            _ => None,
        };
        self.collector.enter(item, &record, ruling);
        Ok(())
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
            Task::Ask(_) if self.budget.spent().is_some() => return None,
            Task::Ask(i) => {
                let (record, trace) = self.answer(item).await;
                (i, record, Some(trace))
            }
        };
        let judge_reply = match (&self.bench.judge, &record.outcome) {
            (Some(judge), RecordOutcome::Answered(answer)) if !answer.abstained => {
                Some(judge.rule(item, answer, self.cx(item)).await)
            }
            _ => None,
        };
        Some(Done { item: i, record, trace, judge_reply })
    }

    async fn answer(&self, item: &Item) -> (Record, Trace) {
        let cx = self.cx(item);
        let began = Instant::now();
        let strategy = self.system.strategy.as_ref();
        let outcome = caught(Outcome::run(strategy, &item.question, &cx)).await;
        let latency_ms = began.elapsed().as_secs_f64() * 1e3;
        let (verdict, trace) = match outcome {
            Ok(Outcome { answer: Ok(answer), trace }) => (RecordOutcome::Answered(answer), trace),
            Ok(Outcome { answer: Err(error), trace }) => {
                let (kind, reason) = (error.kind().to_owned(), error.to_string());
                (RecordOutcome::Failed { kind, reason }, trace)
            }
            Err(reason) => (RecordOutcome::Failed { kind: "panic".into(), reason }, cx.trace()),
        };
        let verdict = without_outage(verdict, &trace);
        // An answer that the end of the whole budget cut short says nothing about the method.
        let verdict = match (self.budget.spent(), trace.spent()) {
            (Some(limit), true) => RecordOutcome::Stopped { limit },
            _ => verdict,
        };
        let fingerprint = &self.system.fingerprint;
        (Record::new(item, fingerprint, verdict, (&trace, latency_ms)), trace)
    }

    fn cx(&self, item: &Item) -> Cx {
        (self.bench.open)(item, &self.budget)
    }
}

/// An answer for which a model server could not be reached is a failure, to be asked again: it
/// says nothing about the method. One for which a model refused a call would come out the same.
fn without_outage(verdict: RecordOutcome, trace: &Trace) -> RecordOutcome {
    let RecordOutcome::Answered(_) = verdict else { return verdict };
    match lost_calls(trace).into_iter().find(|call| call.transient) {
        Some(LostCall { reason, .. }) => RecordOutcome::Failed { kind: "llm".into(), reason },
        None => verdict,
    }
}
