//! Consistency of reads on a shared base: before a server acts on a request, it checks whether another
//! one has written since the last check, and applies that.
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use halma_engine::SharedSpace;
use halma_store::pg::Versions;
use parking_lot::Mutex;

use crate::limits::blocking::run_blocking;
use crate::problem::Problem;

/// How long a request waits at most. What takes longer is taken in by those who follow the database.
const TIMEOUT: Duration = Duration::from_millis(500);

/// After a look that took too long, for so long none is made.
const BACKOFF: Duration = Duration::from_secs(1);

pub(crate) struct Freshness {
    space: SharedSpace,
    /// How many looks have begun.
    begun: AtomicU64,
    last: tokio::sync::Mutex<LastLook>,
    late: Mutex<Option<Instant>>,
}

#[derive(Default)]
struct LastLook {
    number: u64,
    versions: Versions,
}

impl Freshness {
    pub(crate) fn new(space: &SharedSpace) -> Self {
        let (begun, last, late) =
            (AtomicU64::new(0), tokio::sync::Mutex::default(), Mutex::default());
        Self { space: space.clone(), begun, last, late }
    }

    /// Looks, and calls `apply` with what has changed between the versions that it is given, the
    /// latest first. Requests at the same time share a look that began after each of them.
    pub(crate) async fn catch_up(
        &self,
        apply: impl FnOnce(&Versions, &Versions) -> Result<(), Problem> + Send + 'static,
    ) {
        let late = *self.late.lock();
        if late.is_some_and(|at| at.elapsed() < BACKOFF) {
            return;
        }
        match tokio::time::timeout(TIMEOUT, self.look(apply)).await {
            Ok(Ok(())) => {}
            Ok(Err(problem)) => {
                tracing::debug!("what other servers wrote is not known: {}", problem.detail);
            }
            Err(_) => *self.late.lock() = Some(Instant::now()),
        }
    }

    async fn look(
        &self,
        apply: impl FnOnce(&Versions, &Versions) -> Result<(), Problem> + Send + 'static,
    ) -> Result<(), Problem> {
        let begun = self.begun.load(Ordering::Acquire);
        let mut last = self.last.lock().await;
        if last.number > begun {
            return Ok(());
        }
        let number = self.begun.fetch_add(1, Ordering::AcqRel) + 1;
        let home = self.space.home().clone();
        let versions = self.space.run(async move { home.versions().await }).await?;
        if versions != last.versions {
            let before = std::mem::take(&mut last.versions);
            last.versions = run_blocking(move || {
                apply(&versions, &before)?;
                Ok(versions)
            })
            .await?;
        }
        last.number = number;
        Ok(())
    }
}

/// Whether entries of this kind were written.
pub(crate) fn has_changed(kind: &str, now: &Versions, before: &Versions) -> bool {
    now.versions.get(kind) != before.versions.get(kind)
}
