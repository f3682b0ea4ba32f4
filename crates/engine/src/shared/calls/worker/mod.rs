//! A worker: takes calls from the ledger of a shared base and does them with the models and the
//! embedder of its own configuration. It needs no copy of the base.
mod executor;
mod limit;
mod offer;
mod pauses;
mod taken;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use halma_core::{ConfigError, Embedder};
use serde::Serialize;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;

use self::executor::{Common, Executor};
use self::limit::SpendingLimit;
use self::offer::{Offer, offers};
use self::pauses::{PauseExchange, Pauses};
use self::taken::{TakenCalls, heartbeats, store_results};
use super::ledger::Ledger;
use super::presence::worker_name;
use crate::config::{Config, key_error};
use crate::error::EngineError;
use crate::shared::{Place, SharedSpace, keys_of};

/// What a worker has done.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct WorkerReport {
    pub calls: u64,
    /// US dollars, by the prices in the configuration.
    pub usd: f64,
}

/// A program that does calls for the builds of a shared base. Dropped, it stops as
/// [`CallWorker::stop`] does, as long as the program runs.
pub struct CallWorker {
    common: Arc<Common>,
    models: Vec<String>,
    ended: Option<oneshot::Receiver<()>>,
}

impl CallWorker {
    /// Begins to take calls of the base at an address. With `max_usd` it stops before it spends
    /// more US dollars.
    pub fn start(config: &Config, kb: &Path, max_usd: Option<f64>) -> Result<Self, EngineError> {
        let place = Place::new(kb)?;
        let Some(address) = place.address() else { return Err(no_address(kb).into()) };
        let space = SharedSpace::connect(address)?;
        let ledger = Ledger::open(&space, keys_of(address)?)?;
        let worker = Self::on(&ledger, config, None, max_usd);
        let worker = worker.map_err(|error| config.named(error))?;
        worker.ok_or_else(|| config.named(nothing_to_offer()).into())
    }

    /// A worker of this ledger; `None` if the configuration has nothing that it could do.
    pub(crate) fn on(
        ledger: &Ledger,
        config: &Config,
        embedder: Option<Arc<dyn Embedder>>,
        max_usd: Option<f64>,
    ) -> Result<Option<Self>, ConfigError> {
        let (pauses, exchange) = Pauses::new();
        let offers = offers(config, embedder, &pauses)?;
        if offers.is_empty() {
            return Ok(None);
        }
        let models = offers.iter().map(|offer| offer.name.clone()).collect();
        let common = Arc::new(Common {
            ledger: ledger.clone(),
            name: worker_name(),
            taken: TakenCalls::default(),
            limit: SpendingLimit::new(max_usd),
            stop: watch::Sender::new(false),
        });
        let (end, ended) = oneshot::channel();
        let running = Arc::clone(&common);
        ledger.space().start(async move {
            run(running, offers, exchange).await;
            // Who stops without waiting does not hear it.
            let _ = end.send(());
        });
        Ok(Some(Self { common, models, ended: Some(ended) }))
    }

    /// The models and the embedder that it does calls of.
    #[must_use]
    pub fn models(&self) -> &[String] {
        &self.models
    }

    /// As it is called in the database.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.common.name
    }

    /// Until it has stopped: because it was told to, or may not spend more.
    pub async fn ended(&mut self) -> WorkerReport {
        if let Some(ended) = self.ended.as_mut() {
            // An error is the end as well.
            let _ = ended.await;
            self.ended = None;
        }
        self.report()
    }

    /// Takes no more calls, finishes those that it has begun (for at most 20 seconds), and gives
    /// the others back.
    pub async fn stop(&mut self) -> WorkerReport {
        self.common.stop.send_replace(true);
        self.ended().await
    }

    /// What it has done so far.
    #[must_use]
    pub fn report(&self) -> WorkerReport {
        let calls = self.common.taken.done.load(Ordering::Relaxed);
        WorkerReport { calls, usd: self.common.limit.spent() }
    }
}

impl Drop for CallWorker {
    fn drop(&mut self) {
        self.common.stop.send_replace(true);
    }
}

async fn run(common: Arc<Common>, offers: Vec<Offer>, exchange: PauseExchange) {
    let (results, received) = mpsc::unbounded_channel();
    let (lives, living) = oneshot::channel();
    let heart = tokio::spawn(heartbeats(Arc::clone(&common), living));
    let exchange = tokio::spawn(exchange.run(common.ledger.calls()));
    let storing = tokio::spawn(store_results(Arc::clone(&common), received));
    let mut executors = JoinSet::new();
    for offer in offers {
        let (common, results) = (Arc::clone(&common), results.clone());
        executors.spawn(Executor { common, offer, results }.run());
    }
    while executors.join_next().await.is_some() {}
    // The last heartbeat is sent before the worker says that it has left.
    drop(lives);
    let _ = heart.await;
    drop(results);
    let _ = storing.await;
    exchange.abort();
}

fn no_address(kb: &Path) -> ConfigError {
    ConfigError {
        file: "--kb".into(),
        key: kb.display().to_string(),
        reason: "it is a folder, and workers are for bases that machines share".into(),
        hint: "give the address of the base, `postgres://user@host/db?workspace=NAME&keys=DIR`; a \
               folder is indexed by `halma index` alone"
            .into(),
    }
}

fn nothing_to_offer() -> ConfigError {
    let reason = "a worker needs a model or an embedder, and none is configured";
    let hint = "describe a model under [models], with the name that the machine which indexes has \
                for it, or the embedder under [embedder]";
    key_error("models", reason, hint)
}
