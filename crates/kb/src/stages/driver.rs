//! Doing the units of a stage, several at a time. Results are written as they come, so that little
//! is lost when the process dies; what fails stays in the ledger for the next run.
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use futures::{Stream, StreamExt};
use halma_core::text::thousands;
use halma_core::{Cx, Error, Layer, Limit, LlmError, UsageTotal};
use parking_lot::Mutex;
use tokio::sync::mpsc;
use tokio::task::JoinError;

use super::scan::note_scanned;
use super::{BuildContext, SourceDocument, Stage, StageError};
use crate::error::run_blocking;
use crate::store::{History, Row, StoreReader};
use crate::{KbError, PhaseProgress};

/// Units whose results are written in one transaction, at most.
const BATCH: usize = 4096;

/// Documents whose units are read at a time.
const READ: usize = 64;

/// A model that refuses this many units before it has done any cannot do the task.
const PROBES: usize = 3;

/// What came of the units of a stage; reports add up.
#[derive(Debug, Clone, Default)]
pub(crate) struct StageReport {
    pub(crate) done: usize,
    pub(crate) failed: usize,
    /// Not tried: the budget was spent, too many failed in a row, or the model is not able to.
    pub(crate) pending: usize,
    pub(crate) usage: UsageTotal,
    pub(crate) spent: Option<Limit>,
    pub(crate) failure: Option<String>,
}

impl StageReport {
    pub(crate) fn add(&mut self, other: Self) {
        self.done += other.done;
        self.failed += other.failed;
        self.pending += other.pending;
        self.usage.add(other.usage);
        self.spent = self.spent.or(other.spent);
        self.failure = other.failure.or(self.failure.take());
    }

    /// Whether every unit is done.
    pub(crate) fn is_complete(&self) -> bool {
        self.failed + self.pending == 0
    }
}

/// Drives one stage through a build.
pub(crate) struct Driver<S: Stage> {
    stage: Arc<S>,
    health: Arc<Health>,
}

enum Outcome<O> {
    Done(O),
    Failed(String),
    /// What it is about was replaced meanwhile.
    Gone,
    Pending(Option<Limit>),
}

struct Finished<S: Stage> {
    unit: S::Unit,
    outcome: Outcome<S::Output>,
    usage: UsageTotal,
    history: History,
}

impl<S: Stage> Driver<S> {
    pub(crate) fn new(stage: S) -> Self {
        let health = Arc::new(Health::new(&stage.pace()));
        Self { stage: Arc::new(stage), health }
    }

    pub(crate) fn stage(&self) -> &S {
        &self.stage
    }

    fn context(&self) -> &Arc<BuildContext> {
        self.stage.context()
    }

    /// Does what is left to do of the documents of the base.
    pub(crate) async fn run_backlog(&self) -> Result<StageReport, KbError> {
        let stage = Arc::clone(&self.stage);
        let (backlog, next) = run_blocking("reading the ledger", move || {
            let both = |reader: &StoreReader<'_>| {
                Ok((stage.backlog(reader)?, reader.next_row(Layer::Document)?))
            };
            stage.context().store().read(both)
        })
        .await?;
        let error = Arc::new(Mutex::new(None));
        let units = |rows: Vec<Row>| {
            let (stage, error) = (Arc::clone(&self.stage), Arc::clone(&error));
            async move {
                let units =
                    run_blocking("reading documents", move || units_of(stage.as_ref(), &rows));
                futures::stream::iter(units.await.unwrap_or_else(|e| {
                    *error.lock() = Some(e);
                    vec![]
                }))
            }
        };
        let read: Vec<Vec<Row>> = backlog.documents.chunks(READ).map(<[Row]>::to_vec).collect();
        let units = futures::stream::iter(read).then(units).flatten();
        let report = self.run(units, || backlog.units).await?;
        if let Some(error) = error.lock().take() {
            return Err(error);
        }
        if report.pending == 0 {
            note_scanned(&self.stage, next).await?;
        }
        Ok(report)
    }

    /// Does units as they come; `total` is how many are expected by now, by weight.
    pub(crate) async fn run(
        &self,
        units: impl Stream<Item = S::Unit> + Send,
        total: impl Fn() -> usize + Send,
    ) -> Result<StageReport, KbError> {
        if total() > 0 {
            self.report_progress(0, total());
        }
        let pace = self.stage.pace();
        let (sender, results) = mpsc::channel(pace.queued.max(1));
        let working = async {
            let mut units = std::pin::pin!(units);
            // One at a time until one is answered: an offline model is not asked a thousand times.
            while self.health.is_unproven() {
                let Some(unit) = units.next().await else { break };
                if sender.send(joined(self.spawn(unit).await)?).await.is_err() {
                    return Ok(());
                }
            }
            let spawned = units.map(|unit| self.spawn(unit));
            let mut finished = spawned.buffer_unordered(pace.in_flight.max(1));
            while let Some(finished) = finished.next().await {
                if sender.send(joined(finished)?).await.is_err() {
                    break;
                }
            }
            drop(sender);
            Ok::<(), KbError>(())
        };
        let (worked, stored) = tokio::join!(working, self.store_all(results, total));
        let report = stored?;
        worked?;
        Ok(report)
    }

    /// Does units that are all known.
    pub(crate) async fn run_all(&self, units: Vec<S::Unit>) -> Result<StageReport, KbError> {
        let total = units.len();
        if total == 0 {
            return Ok(StageReport::default());
        }
        self.run(futures::stream::iter(units), || total).await
    }

    /// A task of its own, so that reading the replies uses all cores. It continues when the build is
    /// dropped, unless the base is to be removed.
    fn spawn(&self, unit: S::Unit) -> tokio::task::JoinHandle<Result<Finished<S>, KbError>> {
        let (stage, health) = (Arc::clone(&self.stage), Arc::clone(&self.health));
        let ended = self.context().base.builds_ended();
        tokio::spawn(async move {
            tokio::select! {
                finished = run_one(stage.as_ref(), unit, &health) => finished,
                error = ended => Err(error),
            }
        })
    }

    fn report_progress(&self, done: usize, total: usize) {
        (self.context().progress)(PhaseProgress { phase: S::PHASE, done, total });
    }

    /// Writes results as they come: what has come while the last ones were written is written next.
    async fn store_all(
        &self,
        mut results: mpsc::Receiver<Finished<S>>,
        total: impl Fn() -> usize + Send,
    ) -> Result<StageReport, KbError> {
        let (mut report, mut done) = (StageReport::default(), 0);
        // Failures before the first reply: failed units if one comes, pending ones if none does.
        let mut early = vec![];
        while let Some(first) = results.recv().await {
            let mut batch = std::mem::take(&mut early);
            let mut next = Some(first);
            while let Some(finished) = next {
                done += self.stage.weight(&finished.unit);
                self.report_progress(done, total().max(done));
                batch.push(finished);
                next = if batch.len() < BATCH { results.try_recv().ok() } else { None };
            }
            if !self.health.answered.load(Ordering::Relaxed) {
                early = batch.extract_if(.., |f| matches!(f.outcome, Outcome::Failed(_))).collect();
            }
            report.add(self.write(batch).await?);
        }
        if let Some(reason) = self.health.refusal() {
            let stage = S::PHASE.name();
            let left = thousands(total() as u64);
            tracing::warn!("{stage}: {reason}; {left} units are left for another run");
            report.pending += early.len();
            report.failure = Some(reason);
        } else {
            report.add(self.write(early).await?);
        }
        Ok(report)
    }

    async fn write(&self, batch: Vec<Finished<S>>) -> Result<StageReport, KbError> {
        if batch.is_empty() {
            return Ok(StageReport::default());
        }
        let stage = Arc::clone(&self.stage);
        run_blocking("storing results", move || {
            let store = stage.context().store();
            let report = store.write(|writer| {
                let (mut report, mut history) = (StageReport::default(), History::default());
                for Finished { unit, outcome, usage, history: seen } in batch {
                    report.usage.add(usage);
                    history.add(&seen);
                    match outcome {
                        Outcome::Done(output) => {
                            stage.store(writer, &unit, Ok(output))?;
                            report.done += stage.weight(&unit);
                        }
                        Outcome::Failed(reason) => {
                            report.failure = Some(reason.clone());
                            stage.store(writer, &unit, Err(reason))?;
                            report.failed += stage.weight(&unit);
                        }
                        Outcome::Gone => {}
                        Outcome::Pending(limit) => {
                            report.pending += stage.weight(&unit);
                            report.spent = report.spent.or(limit);
                        }
                    }
                }
                writer.add_history(&history)?;
                Ok(report)
            })?;
            stage.committed();
            Ok(report)
        })
        .await
    }
}

fn units_of<S: Stage>(stage: &S, rows: &[Row]) -> Result<Vec<S::Unit>, KbError> {
    let store = stage.context().store();
    store.read(|reader| {
        let mut units = vec![];
        for row in rows {
            if let Some(document) = SourceDocument::load(reader, *row)? {
                units.extend(stage.units(reader, &document)?);
            }
        }
        Ok(units)
    })
}

fn joined<T>(done: Result<Result<T, KbError>, JoinError>) -> Result<T, KbError> {
    done.map_err(|e| KbError::worker_panicked("building", &e))?
}

async fn run_one<S: Stage>(
    stage: &S,
    unit: S::Unit,
    health: &Health,
) -> Result<Finished<S>, KbError> {
    let context = stage.context();
    let (usage, mut history) = (UsageTotal::default(), History::default());
    if health.stop.load(Ordering::Relaxed) {
        return Ok(Finished { unit, outcome: Outcome::Pending(None), usage, history });
    }
    let cx = Cx::new(Arc::clone(&context.setup), Arc::clone(&context.meter), None);
    let result = stage.run(&cx, &unit).await;
    let trace = cx.trace();
    if let (Ok(Some(output)), Some(prompt)) = (&result, stage.prompt()) {
        history.add_unit(prompt, &trace, &stage.forecast(&unit), stage.texts(output));
    }
    let outcome = match result {
        Ok(Some(output)) => {
            health.succeeded();
            Outcome::Done(output)
        }
        Ok(None) => Outcome::Gone,
        Err(StageError::Base(error)) => return Err(error),
        Err(StageError::Spent(limit)) => {
            health.stop.store(true, Ordering::Relaxed);
            Outcome::Pending(Some(limit))
        }
        Err(StageError::Model(error)) => {
            health.failed(&error);
            Outcome::Failed(error.to_string())
        }
        Err(StageError::Failed(error)) => {
            health.failed_again();
            Outcome::Failed(error.to_string())
        }
    };
    Ok(Finished { unit, outcome, usage: trace.usage(), history })
}

/// What the units of a stage know of each other.
struct Health {
    give_up_after: usize,
    stop: AtomicBool,
    failed_in_row: AtomicUsize,
    /// Whether the model has answered at all, or need not prove that it can.
    answered: AtomicBool,
    refused: AtomicUsize,
    refusal: Mutex<Option<String>>,
}

impl Health {
    fn new(pace: &super::Pace) -> Self {
        Self {
            give_up_after: pace.give_up_after,
            stop: AtomicBool::new(false),
            failed_in_row: AtomicUsize::new(0),
            answered: AtomicBool::new(!pace.may_be_unable),
            refused: AtomicUsize::new(0),
            refusal: Mutex::new(None),
        }
    }

    /// Whether it is open if the model can do the task at all.
    fn is_unproven(&self) -> bool {
        !self.answered.load(Ordering::Relaxed)
            && self.refused.load(Ordering::Relaxed) < PROBES
            && !self.stop.load(Ordering::Relaxed)
    }

    fn succeeded(&self) {
        self.answered.store(true, Ordering::Relaxed);
        self.failed_in_row.store(0, Ordering::Relaxed);
    }

    fn failed(&self, error: &Error) {
        match error {
            Error::Llm { source: LlmError::Refused { .. }, .. }
                if !self.answered.load(Ordering::Relaxed) =>
            {
                if self.refused.fetch_add(1, Ordering::Relaxed) + 1 >= PROBES {
                    self.stop.store(true, Ordering::Relaxed);
                }
                let mut refusal = self.refusal.lock();
                *refusal = Some(error.to_string());
            }
            Error::Llm { .. } => self.failed_again(),
            // A reply that does not fit says that the model is there.
            _ => self.answered.store(true, Ordering::Relaxed),
        }
    }

    fn failed_again(&self) {
        if self.failed_in_row.fetch_add(1, Ordering::Relaxed) + 1 >= self.give_up_after {
            self.stop.store(true, Ordering::Relaxed);
        }
    }

    /// Why no unit at all was answered, where the model refused.
    fn refusal(&self) -> Option<String> {
        if self.answered.load(Ordering::Relaxed) {
            return None;
        }
        self.refusal.lock().clone()
    }
}
