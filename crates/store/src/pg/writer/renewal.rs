//! Renewing a lease in the background, and giving it back.
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_postgres::types::Type;

use crate::pg::error::PgError;
use crate::pg::tables::Tables;

// Also after its end, if no one has taken it meanwhile: nothing was written by another then.
const RENEW: &str =
    "update halma.home set lease_until = clock_timestamp() + $3 * interval '1 second'
    where home = $1 and fence = $2 returning 1";
const RELEASE: &str =
    "update halma.home set lease_until = null, holder = null where home = $1 and fence = $2";

/// The task that renews, which ends with this.
pub(super) struct Renewal {
    state: Arc<State>,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

struct State {
    /// Until when the server surely gives the lease to no one else, by the clock of this machine.
    until: Mutex<Instant>,
    taken: AtomicBool,
}

struct Task {
    tables: Tables,
    fence: i64,
    length: Duration,
    state: Arc<State>,
}

impl Renewal {
    /// For a lease of that length, which was asked for at `asked`.
    pub(super) fn start(tables: Tables, fence: u64, length: Duration, sent: Instant) -> Self {
        let state = State { until: Mutex::new(sent + length), taken: AtomicBool::new(false) };
        let state = Arc::new(state);
        let fence = fence.cast_signed();
        let task = Task { tables, fence, length, state: Arc::clone(&state) };
        let (stop, stopped) = oneshot::channel();
        Self { state, stop, task: tokio::spawn(task.run(stopped)) }
    }

    pub(super) fn is_lost(&self) -> bool {
        let until = *self.state.until.lock();
        self.state.taken.load(Ordering::Relaxed) || Instant::now() >= until
    }

    pub(super) async fn end(self) {
        drop(self.stop);
        if let Err(error) = self.task.await {
            tracing::warn!(%error, "the right to write was not given back; it ends by itself");
        }
    }
}

impl Task {
    /// Until `stopped`, or its other end is dropped.
    async fn run(self, mut stopped: oneshot::Receiver<()>) {
        let mut pause = self.length / 3;
        loop {
            tokio::select! {
                _ = &mut stopped => break,
                () = tokio::time::sleep(pause) => {}
            }
            pause = match self.renew().await {
                Ok(true) => self.length / 3,
                Ok(false) => {
                    self.state.taken.store(true, Ordering::Relaxed);
                    return;
                }
                Err(error) => {
                    tracing::warn!(%error, "the right to write is not renewed yet");
                    self.length / 30
                }
            };
        }
        let fence = (&self.fence as _, Type::INT8);
        if let Err(error) = self.tables.once(RELEASE, &[fence]).await {
            tracing::warn!(%error, "the right to write was not given back; it ends by itself");
        }
    }

    /// Whether the lease is still this one.
    async fn renew(&self) -> Result<bool, PgError> {
        let sent = Instant::now();
        let seconds = self.length.as_secs_f64();
        let parameters = [(&self.fence as _, Type::INT8), (&seconds as _, Type::FLOAT8)];
        let renewed = !self.tables.once(RENEW, &parameters).await?.is_empty();
        if renewed {
            *self.state.until.lock() = sent + self.length;
        }
        Ok(renewed)
    }
}
