//! Asking a model for many units, several at a time. Every reply is in the ledger at most a
//! quarter of a second after it came; what fails stays there for the next run.
use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures::StreamExt;
use halma_core::{Cx, Error, Limit, LlmError, Meter, Setup, UsageTotal};
use serde::Serialize;
use tokio::sync::mpsc;

use crate::error::run_blocking;
use crate::store::{Id, UnitKey};
use crate::{Base, KbError, KbSettings, Progress, Stage, Step};

/// Replies are written when so much time has passed or so many have come: every commit is synced
/// to the disk, which takes milliseconds.
const WRITE_EVERY: Duration = Duration::from_millis(250);
const BATCH: usize = 512;

/// After so many failures of the model in a row the rest is left for another run: the endpoint is
/// down or refuses the key, and every further call would only cost time.
const GIVE_UP_AFTER: usize = 16;

/// A model that refuses so many units before it has done any cannot do the task.
const PROBES: usize = 3;

/// What the stages share.
pub(crate) struct Distiller {
    pub(crate) base: Arc<Base>,
    pub(crate) settings: KbSettings,
    pub(crate) setup: Arc<Setup>,
    pub(crate) meter: Arc<Meter>,
    pub(crate) progress: Progress,
}

/// A unit to ask for.
pub(crate) struct Job<I> {
    pub(crate) key: UnitKey,
    /// Hash of the prompt and what it is given.
    pub(crate) input: Id,
    /// What the question is made of.
    pub(crate) of: I,
}

/// Why a unit gave nothing.
pub(crate) enum Fault {
    Model(Error),
    Base(KbError),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Model(error)
    }
}

impl From<KbError> for Fault {
    fn from(error: KbError) -> Self {
        Self::Base(error)
    }
}

/// What came of all units together; runs add up.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ran {
    pub(crate) done: usize,
    pub(crate) failed: usize,
    /// Not tried: the budget was spent, too many failed in a row, or no model can do it.
    pub(crate) pending: usize,
    pub(crate) usage: UsageTotal,
    pub(crate) spent: Option<Limit>,
    pub(crate) failure: Option<String>,
}

impl Ran {
    pub(crate) fn add(&mut self, other: Self) {
        self.done += other.done;
        self.failed += other.failed;
        self.pending += other.pending;
        self.usage.add(other.usage);
        self.spent = self.spent.or(other.spent);
        self.failure = other.failure.or(self.failure.take());
    }

    /// Whether everything that was asked for is there.
    pub(crate) fn complete(&self) -> bool {
        self.failed + self.pending == 0
    }
}

enum Came<R> {
    Reply(R),
    Failed(String),
    /// What it is about was replaced meanwhile.
    Gone,
    Pending(Option<Limit>),
}

/// A unit with what came of it.
type Asked<R> = (UnitKey, Id, Came<R>, UsageTotal);

/// What the units of one run know of each other.
#[derive(Default)]
struct Health {
    stop: AtomicBool,
    failed_in_row: AtomicUsize,
    /// Whether the model has answered at all.
    answered: AtomicBool,
    refused: AtomicUsize,
    refusal: Mutex<Option<String>>,
}

/// Asks for every job and keeps the replies in the ledger.
pub(crate) async fn run<I, R, A, F>(
    distiller: &Arc<Distiller>,
    stage: Stage,
    jobs: Vec<Job<I>>,
    ask: A,
) -> Result<Ran, KbError>
where
    I: Send + 'static,
    R: Serialize + Send + Sync + 'static,
    A: Fn(Cx, I) -> F + Send + Sync + 'static,
    F: Future<Output = Result<Option<R>, Fault>> + Send,
{
    if jobs.is_empty() {
        return Ok(Ran::default());
    }
    let (total, ask, health) = (jobs.len(), Arc::new(ask), Arc::new(Health::default()));
    let concurrency = distiller.settings.concurrency.max(1);
    let one = |job: Job<I>| {
        let (distiller, ask) = (Arc::clone(distiller), Arc::clone(&ask));
        let health = Arc::clone(&health);
        // A task of its own, so that parsing the replies uses all cores.
        tokio::spawn(async move { ask_one(&distiller, job, ask.as_ref(), &health).await })
    };
    let (written, results) = mpsc::channel(concurrency * 4);
    let asking = async {
        let mut jobs = jobs.into_iter();
        // One at a time until one is answered: an offline model is not asked a thousand times.
        while health.is_unproven() {
            let Some(job) = jobs.next() else { break };
            if written.send(joined(one(job).await)?).await.is_err() {
                return Ok(());
            }
        }
        let mut asked = futures::stream::iter(jobs).map(one).buffer_unordered(concurrency);
        while let Some(done) = asked.next().await {
            if written.send(joined(done)?).await.is_err() {
                break;
            }
        }
        drop(written);
        Ok::<(), KbError>(())
    };
    let (asked, stored) =
        tokio::join!(asking, store_all(distiller, results, (stage, total), &health));
    let ran = stored?;
    asked?;
    Ok(ran)
}

fn joined<R>(
    done: Result<Result<Asked<R>, KbError>, tokio::task::JoinError>,
) -> Result<Asked<R>, KbError> {
    done.map_err(|e| KbError::Died { doing: "distilling", reason: e.to_string() })?
}

async fn ask_one<I, R, A, F>(
    distiller: &Distiller,
    job: Job<I>,
    ask: &A,
    health: &Health,
) -> Result<Asked<R>, KbError>
where
    A: Fn(Cx, I) -> F,
    F: Future<Output = Result<Option<R>, Fault>>,
{
    let Job { key, input, of } = job;
    if health.stop.load(Ordering::Relaxed) {
        return Ok((key, input, Came::Pending(None), UsageTotal::default()));
    }
    let cx = Cx::new(Arc::clone(&distiller.setup), Arc::clone(&distiller.meter), None);
    let came = match ask(cx.clone(), of).await {
        Ok(Some(reply)) => {
            health.answered.store(true, Ordering::Relaxed);
            health.failed_in_row.store(0, Ordering::Relaxed);
            Came::Reply(reply)
        }
        Ok(None) => Came::Gone,
        Err(Fault::Base(error)) => return Err(error),
        Err(Fault::Model(Error::Spent(limit))) => {
            health.stop.store(true, Ordering::Relaxed);
            Came::Pending(Some(limit))
        }
        Err(Fault::Model(error)) => {
            health.failed(&error);
            Came::Failed(error.to_string())
        }
    };
    Ok((key, input, came, cx.trace().usage()))
}

impl Health {
    /// Whether it is open if the model can do the task at all.
    fn is_unproven(&self) -> bool {
        !self.answered.load(Ordering::Relaxed)
            && self.refused.load(Ordering::Relaxed) < PROBES
            && !self.stop.load(Ordering::Relaxed)
    }

    fn failed(&self, error: &Error) {
        match error {
            Error::Llm { source: LlmError::Refused { .. }, .. }
                if !self.answered.load(Ordering::Relaxed) =>
            {
                if self.refused.fetch_add(1, Ordering::Relaxed) + 1 >= PROBES {
                    self.stop.store(true, Ordering::Relaxed);
                }
                let mut refusal = self.refusal.lock().unwrap_or_else(PoisonError::into_inner);
                *refusal = Some(error.to_string());
            }
            Error::Llm { .. } => {
                if self.failed_in_row.fetch_add(1, Ordering::Relaxed) + 1 >= GIVE_UP_AFTER {
                    self.stop.store(true, Ordering::Relaxed);
                }
            }
            // A reply that does not fit says that the model is there.
            _ => self.answered.store(true, Ordering::Relaxed),
        }
    }

    /// Why no unit at all was answered, where the model refused.
    fn cannot(&self) -> Option<String> {
        if self.answered.load(Ordering::Relaxed) {
            return None;
        }
        self.refusal.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Writes replies as they come, a batch at a time.
async fn store_all<R: Serialize + Send + Sync + 'static>(
    distiller: &Arc<Distiller>,
    mut results: mpsc::Receiver<Asked<R>>,
    (stage, total): (Stage, usize),
    health: &Health,
) -> Result<Ran, KbError> {
    let (mut ran, mut done, mut open) = (Ran::default(), 0, true);
    // Failures before the first reply: failed units if one comes, pending ones if none does.
    let mut held = vec![];
    while open {
        let mut batch = vec![];
        let due = Instant::now() + WRITE_EVERY;
        while batch.len() < BATCH {
            match tokio::time::timeout_at(due.into(), results.recv()).await {
                Ok(Some(asked)) => {
                    done += 1;
                    ran.usage.add(asked.3);
                    (distiller.progress)(Step { stage, done, total });
                    batch.push(asked);
                }
                Ok(None) => {
                    open = false;
                    break;
                }
                Err(_) => break,
            }
        }
        batch.splice(0..0, held.drain(..));
        if !health.answered.load(Ordering::Relaxed) {
            held = batch.extract_if(.., |asked| matches!(asked.2, Came::Failed(_))).collect();
        }
        if !batch.is_empty() {
            ran.add(write(distiller, batch).await?);
        }
    }
    if let Some(reason) = health.cannot() {
        tracing::warn!("{}: {reason}; {} units are left for another run", stage.name(), total);
        ran.pending += held.len();
        ran.failure = Some(reason);
    } else if !held.is_empty() {
        ran.add(write(distiller, held).await?);
    }
    Ok(ran)
}

async fn write<R: Serialize + Send + Sync + 'static>(
    distiller: &Arc<Distiller>,
    batch: Vec<Asked<R>>,
) -> Result<Ran, KbError> {
    let base = Arc::clone(&distiller.base);
    run_blocking("storing replies", move || {
        let store = &base.store;
        store.write(|txn| {
            let mut ran = Ran::default();
            for (key, input, came, _) in &batch {
                match came {
                    Came::Reply(reply) => {
                        store.put_done(txn, *key, *input, reply)?;
                        ran.done += 1;
                    }
                    Came::Failed(reason) => {
                        store.put_failed(txn, *key, *input, reason)?;
                        ran.failed += 1;
                        ran.failure = Some(reason.clone());
                    }
                    Came::Gone => {}
                    Came::Pending(limit) => {
                        ran.pending += 1;
                        ran.spent = ran.spent.or(*limit);
                    }
                }
            }
            Ok(ran)
        })
    })
    .await
}
