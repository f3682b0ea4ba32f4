//! Backoff between attempts at what may work later, such as storing a build on a full disk.
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use super::{Build, BuildState, Builds, log_conflict};
use crate::limits::blocking::run_blocking;

const MIN_PAUSE: Duration = Duration::from_secs(1);
const MAX_PAUSE: Duration = Duration::from_mins(1);

/// Backoff that grow as long as attempts fail.
#[derive(Debug)]
pub(super) struct Backoff(Duration);

impl Default for Backoff {
    fn default() -> Self {
        Self(MIN_PAUSE)
    }
}

impl Backoff {
    /// The pause after another attempt that failed.
    pub(super) fn next(&mut self) -> Duration {
        let pause = self.0;
        self.0 = (2 * pause).min(MAX_PAUSE);
        pause
    }
}

/// Changes a build that is in this state, off the runtime's threads. While the change cannot be
/// stored it is tried again, until the workspace is closed.
pub(super) async fn change_with_retry(
    builds: &Arc<Builds>,
    (id, from): (&str, BuildState),
    change: impl FnMut(&mut Build) + Clone + Send + 'static,
) {
    let mut backoff = Backoff::default();
    let mut closed = builds.closed.subscribe();
    loop {
        let (builds, id, change) = (Arc::clone(builds), id.to_owned(), change.clone());
        let changed = run_blocking(move || builds.change_if(&id, from, change)).await;
        match &changed {
            // It may work later: the disk is full, or the database is not reached.
            Err(problem) if problem.status().is_server_error() => {}
            _ => return log_conflict(changed),
        }
        if pause(&mut closed, backoff.next()).await {
            return;
        }
    }
}

/// Waits; whether the workspace was closed meanwhile.
pub(super) async fn pause(closed: &mut watch::Receiver<bool>, pause: Duration) -> bool {
    tokio::time::timeout(pause, closed.wait_for(|closed| *closed)).await.is_ok()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn pauses_double_up_to_a_minute() {
        let mut backoff = Backoff::default();
        let first: Vec<u64> = (0..8).map(|_| backoff.next().as_secs()).collect();
        assert_eq!(first, [1, 2, 4, 8, 16, 32, 60, 60]);
    }

    /// Lets the state of a base refuse what is written, as on a full disk, or take it again.
    fn refuse(dir: &std::path::Path, refuses: bool) {
        let db = rusqlite::Connection::open(dir.join("state.db")).unwrap();
        let create = "CREATE TRIGGER full BEFORE INSERT ON entry
            BEGIN SELECT RAISE(ABORT, 'full'); END";
        db.execute_batch(if refuses { create } else { "DROP TRIGGER full" }).unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_change_that_cannot_be_stored_is_stored_later() {
        let dir = tempfile::tempdir().unwrap();
        let builds = Arc::new(crate::builds::tests::open(dir.path()));
        let build = builds.start(None, vec![], None).unwrap();
        builds.begin(&build.id).unwrap();
        refuse(dir.path(), true);
        let attempts = Arc::new(AtomicUsize::new(0));
        let change = {
            let (attempts, folder) = (Arc::clone(&attempts), dir.path().to_owned());
            move |build: &mut Build| {
                // At the third attempt it can be written to.
                if attempts.fetch_add(1, Ordering::Relaxed) == 2 {
                    refuse(&folder, false);
                }
                build.wait();
            }
        };
        change_with_retry(&builds, (&build.id, BuildState::Running), change).await;
        assert_eq!(attempts.load(Ordering::Relaxed), 3);
        assert_eq!(builds.get(&build.id).unwrap().state, BuildState::Queued);
    }
}
