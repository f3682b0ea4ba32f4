//! The lease by which a build writes to the base. It makes room for deletions, and continues
//! after them without what they removed.
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use halma_core::UsageTotal;

use super::report::IndexReport;
use crate::base::lock::{self, WriterLock};
use crate::error::run_blocking;
use crate::store::{DocumentRecord, Id, Urgency};
use crate::{BuildContext, IndexOptions, KbError, Phase, PhaseProgress};

/// How often it is checked whether interrupted work has ended.
const INTERVAL: Duration = Duration::from_millis(10);

/// How often it is asked whether another machine waits.
const ELSEWHERE: Duration = Duration::from_millis(250);

/// What a build has from the moment it may write until it makes room.
#[derive(Clone)]
pub(super) struct WriteLease {
    /// Blocking work holds the lock as well: it runs on when the build is dropped.
    pub(super) lock: Arc<WriterLock>,
    /// Documents that were deleted since the build began, and are not read again by it.
    pub(super) deleted: Arc<HashSet<Id>>,
}

/// Runs a build, as often as it takes until nobody interrupts it. Its ledger says what is left.
pub(super) async fn run(
    context: BuildContext,
    inputs: &[PathBuf],
    options: &IndexOptions,
) -> Result<IndexReport, KbError> {
    let dir = context.base.dir.clone();
    let (mut deleted, mut used) = (HashSet::new(), UsageTotal::default());
    let mut documents_before = HashSet::new();
    loop {
        let lock = Arc::new(wait(&context).await?);
        if !documents_before.is_empty() {
            deleted.extend(documents_before.difference(&documents(&context).await?));
        }
        let lease = WriteLease { lock: Arc::clone(&lock), deleted: Arc::new(deleted.clone()) };
        let before = context.meter.used();
        tokio::select! {
            report = super::build(context.clone(), inputs, options, lease) => {
                let mut report = report?;
                report.usage.add(used);
                sum_up(&context, lock).await?;
                return Ok(report);
            }
            wanted = lock::is_wanted(&dir) => wanted?,
            wanted = is_wanted_elsewhere(&context) => wanted?,
        }
        tracing::warn!("making room for a deletion in `{}`", dir.display());
        while Arc::strong_count(&lock) > 1 {
            tokio::time::sleep(INTERVAL).await;
        }
        // With the calls that were under way.
        used.add(context.meter.used().since(before));
        documents_before = documents(&context).await?;
        drop(lock);
        let dir = dir.clone();
        run_blocking("waiting for a deletion", move || lock::make_room(&dir)).await?;
    }
}

/// Sends the whole of a shared base if many pushes were made since the last time: it takes as long as
/// reading the base, and a build has the time.
async fn sum_up(context: &BuildContext, lock: Arc<WriterLock>) -> Result<(), KbError> {
    let Some(replication) = context.store().replication().cloned() else { return Ok(()) };
    let store = context.store().clone();
    run_blocking("sending the whole", move || {
        let _lock = lock;
        if let Err(reason) = replication.sum_up(&store) {
            tracing::warn!("{reason}; all of it is sent once more after a later build");
        }
        Ok(())
    })
    .await
}

/// The base's lock; when another run holds it this one says so and waits.
pub(crate) async fn wait(context: &BuildContext) -> Result<WriterLock, KbError> {
    let dir = context.base.dir.clone();
    let (store, on_turn) = (context.store().clone(), Arc::clone(&context.on_turn));
    let lock = WriterLock::try_take(&dir)?;
    if lock.is_none() && lock::is_held_here(&store) {
        tracing::debug!("a build or deletion of this process writes to `{}`", dir.display());
    } else if lock.is_none() {
        tracing::warn!("another process writes to `{}`; waiting for it", dir.display());
    }
    if lock.is_none() || store.replication().is_some() {
        (context.progress)(PhaseProgress { phase: Phase::WAIT, done: 0, total: 0 });
    }
    run_blocking("waiting for the lock", move || {
        let lock = lock.map_or_else(|| WriterLock::take(&dir), Ok)?;
        let lock = lock.leading(&store, Urgency::Normal)?;
        on_turn();
        Ok(lock)
    })
    .await
}

/// Returns when someone on another machine waits whom a build makes room for.
async fn is_wanted_elsewhere(context: &BuildContext) -> Result<(), KbError> {
    let Some(replication) = context.store().replication() else {
        return std::future::pending().await;
    };
    loop {
        tokio::time::sleep(ELSEWHERE).await;
        let replication = Arc::clone(replication);
        if run_blocking("asking for the lease", move || replication.is_wanted()).await? {
            return Ok(());
        }
    }
}

async fn documents(context: &BuildContext) -> Result<HashSet<Id>, KbError> {
    let store = context.store().clone();
    let list = move || {
        store.read(|reader| {
            let documents = reader.nodes::<DocumentRecord>()?;
            documents.map(|document| document.map(|(_, record)| record.id)).collect()
        })
    };
    run_blocking("listing documents", list).await
}
