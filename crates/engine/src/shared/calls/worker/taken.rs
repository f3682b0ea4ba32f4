//! The calls that are with a worker, and what it says of them.
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use halma_store::pg::{CallId, Calls, Done, PgError, TakenCall};
use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot};

use super::executor::{CallResult, Common};

/// Between two heartbeats; calls are given to others a minute after the last.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// Attempts to store results, of about ten seconds each.
const ATTEMPTS: u32 = 30;

/// The calls that are with a worker, with their fences.
#[derive(Default)]
pub(super) struct TakenCalls {
    calls: Mutex<HashMap<CallId, u64>>,
    pub(super) done: AtomicU64,
}

impl TakenCalls {
    pub(super) fn add(&self, taken: &[TakenCall]) {
        self.calls.lock().extend(taken.iter().map(|call| (call.id, call.fence)));
    }

    fn remove(&self, ids: impl IntoIterator<Item = CallId>) {
        let mut calls = self.calls.lock();
        for id in ids {
            calls.remove(&id);
        }
    }

    fn all(&self) -> Vec<(CallId, u64)> {
        self.calls.lock().iter().map(|(id, fence)| (*id, *fence)).collect()
    }
}

/// Says every few seconds that the worker lives, until `lives` is gone. It is never given up in the
/// middle: a late heartbeat would follow the statement that the worker has left.
pub(super) async fn heartbeats(common: Arc<Common>, mut lives: oneshot::Receiver<()>) {
    let mut ticks = tokio::time::interval(HEARTBEAT);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            _ = &mut lives => return,
        }
        let calls = common.taken.all();
        if let Err(error) = common.ledger.calls().heartbeat(&common.name, &calls).await {
            tracing::warn!(
                "the heartbeat of this worker cannot be sent, and is tried again: {error}"
            );
        }
    }
}

/// Stores the results of the executors, as many at once as have come, until they have all ended.
pub(super) async fn store_results(
    common: Arc<Common>,
    mut results: mpsc::UnboundedReceiver<CallResult>,
) {
    let calls = common.ledger.calls();
    let mut batch = vec![];
    while results.recv_many(&mut batch, 1_000).await > 0 {
        let mut done = vec![];
        let mut put_down = vec![];
        for result in batch.drain(..) {
            match result {
                CallResult::Done(one) => done.push(one),
                CallResult::PutDown(call) => put_down.push((call.id, call.fence)),
                CallResult::Failed(failure) => {
                    warn(calls.fail(&failure).await);
                    common.taken.remove([failure.id]);
                }
            }
        }
        complete(&common, &calls, &done).await;
        if !put_down.is_empty() {
            warn(calls.put_down(&put_down).await);
        }
        common.taken.remove(done.iter().map(|done| done.id));
        common.taken.remove(put_down.iter().map(|(id, _)| *id));
    }
    warn(calls.leave(&common.name).await);
}

/// Stores results. They were paid for, so that a database that restarts is waited for.
async fn complete(common: &Common, calls: &Calls, done: &[Done]) {
    for attempt in 1.. {
        match calls.complete(done).await {
            Ok(count) => {
                common.taken.done.fetch_add(count as u64, Ordering::Relaxed);
                return;
            }
            Err(error) if attempt == ATTEMPTS || !error.is_transient() => {
                return warn::<()>(Err(error));
            }
            Err(error) => tracing::warn!("results wait for the database: {error}"),
        }
    }
}

/// What the database does not hear is done again by another worker, when this one is silent.
fn warn<T>(outcome: Result<T, PgError>) {
    if let Err(error) = outcome {
        tracing::warn!("what this worker did is not in the database: {error}");
    }
}
