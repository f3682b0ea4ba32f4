//! A build that shares its calls out.
use std::sync::Arc;
use std::time::{Duration, Instant};

use halma_core::{ConfigError, Embedder, Models};
use halma_models::{Cache, cached, wrapped};
use halma_offline::Extractive;
use halma_store::pg::PgError;
use tokio::sync::oneshot;

use super::asker::Asker;
use super::ledger::Ledger;
use super::models::{SharedEmbedder, SharedLlm};
use super::presence::{asker_name, present};
use super::worker::CallWorker;
use crate::assemble;
use crate::config::Config;
use crate::error::EngineError;

/// Between two looks at who is there.
const LOOK: Duration = Duration::from_secs(2);

/// After so long without an answer, the workers seem not to do these calls.
const STALLED: Duration = Duration::from_secs(30);

/// Calls of a build that are in the ledger at a time.
const IN_FLIGHT: usize = 256;

/// How the calls of a build of a shared base are done. In a folder it means nothing.
#[derive(Clone)]
pub struct CallSharing {
    /// Whether this process does calls itself, too.
    pub takes_part: bool,
    /// Hears how many workers are live, at first and whenever it changes.
    pub report: Arc<dyn Fn(Workforce) + Send + Sync>,
}

/// Who does the calls of a build.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Workforce {
    /// Live workers, this process included.
    pub workers: usize,
    /// For half a minute none has answered any of the calls that wait: they may not have the model.
    pub is_stalled: bool,
}

impl Default for CallSharing {
    fn default() -> Self {
        let report = |workforce: Workforce| tracing::info!(workforce.workers, "workers");
        Self { takes_part: true, report: Arc::new(report) }
    }
}

/// What a build of a shared base asks through.
pub(crate) struct SharedBuild {
    asker: Asker,
    worker: Option<CallWorker>,
    /// Tells the task that watches who is there whether the build is complete. Dropped, it says
    /// that it is not.
    end: oneshot::Sender<bool>,
    left: oneshot::Receiver<()>,
}

impl SharedBuild {
    /// `None` if there is nothing to be shared out: no model and no embedder.
    pub(crate) fn start(
        ledger: &Ledger,
        config: &Config,
        embedder: Option<&Arc<dyn Embedder>>,
        sharing: &CallSharing,
    ) -> Result<Option<Self>, ConfigError> {
        if config.models.is_empty() && embedder.is_none() {
            return Ok(None);
        }
        let worker = if sharing.takes_part {
            CallWorker::on(ledger, config, embedder.cloned(), None)?
        } else {
            None
        };
        let asker = Asker::start(ledger);
        let (end, mut ended) = oneshot::channel();
        let (leave, left) = oneshot::channel();
        let watching = Watching {
            ledger: ledger.clone(),
            asker: asker.clone(),
            name: asker_name(),
            local_workers: usize::from(worker.is_some()),
            report: Arc::clone(&sharing.report),
        };
        ledger.space().start(async move {
            let is_complete = watching.run(&mut ended).await;
            if let Err(error) = watching.leave(is_complete).await {
                tracing::warn!("calls of this build stay in the database: {error}");
            }
            // Who has given the build up does not hear it.
            let _ = leave.send(());
        });
        Ok(Some(Self { asker, worker, end, left }))
    }

    /// The models of all roles, asked through the ledger. Replies are cached as always.
    pub(crate) fn models(
        &self,
        config: &Config,
        cache: Option<&Arc<Cache>>,
    ) -> Result<Models, ConfigError> {
        assemble::models_by(config, &Extractive::new(), |endpoint, limits| {
            let local = wrapped(endpoint.clone(), limits, None)?;
            let shared = Arc::new(SharedLlm { local, asker: self.asker.clone() });
            Ok(match cache {
                Some(cache) => cached(shared, &endpoint, Arc::clone(cache)),
                None => shared,
            })
        })
    }

    pub(crate) fn embedder(&self, local: Arc<dyn Embedder>) -> Arc<dyn Embedder> {
        Arc::new(SharedEmbedder { local, asker: self.asker.clone() })
    }

    /// To be called before the build reads the base, at first and after it has made room for a deletion.
    pub(crate) fn on_turn(&self) -> Arc<dyn Fn() + Send + Sync> {
        let asker = self.asker.clone();
        Arc::new(move || asker.renew_snapshot())
    }

    /// Calls in progress. A build with a limit of money or tokens reserves the most that each call
    /// may use, so it has no more in progress than one machine would.
    pub(crate) fn in_flight(config: &Config) -> usize {
        let budget = config.budget.index;
        let limited = budget.usd.is_some() || budget.tokens.is_some();
        let concurrency = config.kb.concurrency;
        if limited { concurrency } else { concurrency.max(IN_FLIGHT) }
    }

    /// Ends the part of this process. After a build that is complete the calls are forgotten,
    /// unless another build needs them.
    pub(crate) async fn finish(mut self, is_complete: bool) {
        if let Some(worker) = &mut self.worker {
            worker.stop().await;
        }
        self.asker.flush().await;
        // Errors are the end as well.
        let _ = self.end.send(is_complete);
        let _ = self.left.await;
    }
}

/// Says that the build lives, and looks who else does.
struct Watching {
    ledger: Ledger,
    asker: Asker,
    name: String,
    /// Workers of this process.
    local_workers: usize,
    report: Arc<dyn Fn(Workforce) + Send + Sync>,
}

impl Watching {
    /// Returns whether the build is complete, when it has ended.
    async fn run(&self, ended: &mut oneshot::Receiver<bool>) -> bool {
        let mut ticks = tokio::time::interval(LOOK);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut before = None;
        let (mut answered, mut since) = (0, Instant::now());
        loop {
            // A look is never given up in the middle: it would say that the build lives after it has
            // left.
            tokio::select! {
                _ = ticks.tick() => {}
                end = &mut *ended => return end.unwrap_or(false),
            }
            let now = self.asker.answered();
            if now != answered || self.asker.waiting() == 0 {
                (answered, since) = (now, Instant::now());
            }
            let workers = match self.look().await {
                Ok(workers) => workers.max(self.local_workers),
                Err(error) => {
                    tracing::debug!(%error, "the workers are not known at the moment");
                    continue;
                }
            };
            let is_stalled = workers > 0 && since.elapsed() > STALLED;
            let workforce = Workforce { workers, is_stalled };
            if before.replace(workforce) != Some(workforce) {
                (self.report)(workforce);
            }
        }
    }

    async fn leave(&self, is_complete: bool) -> Result<(), EngineError> {
        let calls = self.ledger.calls();
        calls.leave(&self.name).await?;
        if is_complete && present(&calls, &self.name).await?.other_askers == 0 {
            self.ledger.clear().await?;
        }
        Ok(())
    }

    async fn look(&self) -> Result<usize, PgError> {
        let calls = self.ledger.calls();
        calls.heartbeat(&self.name, &[]).await?;
        Ok(present(&calls, &self.name).await?.workers)
    }
}
