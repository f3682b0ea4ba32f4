//! Work that computes or waits for the disk, moved off the async runtime's threads: a bounded number
//! of jobs at a time for each workspace, a bounded queue, and a refusal beyond it.
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::http::StatusCode;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::problem::Problem;

/// Waiting jobs of one workspace; more are refused.
const MAX_WAITING: usize = 256;

/// A bounded queue for the jobs of one workspace, of which some run at a time.
#[derive(Clone)]
pub(crate) struct JobQueue {
    permits: Arc<Semaphore>,
    waiting: Arc<AtomicUsize>,
    max_waiting: usize,
}

impl JobQueue {
    pub(crate) fn new() -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        // Some jobs wait for the disk or for a process, and others compute meanwhile.
        Self::with((2 * cores).clamp(4, 32), MAX_WAITING)
    }

    pub(crate) fn with(permits: usize, max_waiting: usize) -> Self {
        let (permits, waiting) = (Arc::new(Semaphore::new(permits)), Arc::default());
        Self { permits, waiting, max_waiting }
    }

    /// Jobs that wait.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Acquire)
    }

    /// Runs `work` on the blocking thread pool as soon as there is a slot for it. A panic in it is an internal
    /// error. Work that has begun is finished, and counted until then, when no one waits any more.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let permit = self.acquire().await?;
        run_blocking(move || {
            let _permit = permit;
            work()
        })
        .await
    }

    /// Awaits work that moves itself off the runtime's threads, as soon as there is a slot for it.
    pub(crate) async fn run_async<T>(&self, work: impl Future<Output = T>) -> Result<T, Problem> {
        let _permit = self.acquire().await?;
        Ok(work.await)
    }

    async fn acquire(&self) -> Result<OwnedSemaphorePermit, Problem> {
        let _place = Place::take(self)?;
        let permit = Arc::clone(&self.permits).acquire_owned().await;
        permit.map_err(|e| Problem::internal(&e))
    }
}

/// A place in the queue, given up when the client leaves.
struct Place(Arc<AtomicUsize>);

impl Place {
    fn take(queue: &JobQueue) -> Result<Self, Problem> {
        let place = Self(Arc::clone(&queue.waiting));
        if place.0.fetch_add(1, Ordering::AcqRel) >= queue.max_waiting {
            return Err(busy("too many requests of this workspace are waiting"));
        }
        Ok(place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The answer to a request that has to wait for others; it is sent with `Retry-After`.
pub(crate) fn busy(detail: &str) -> Problem {
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, detail).hint("send it again in a few seconds")
}

/// Runs `work` on the blocking thread pool at once: for what is short and must not wait for others.
pub(crate) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let (send, received) = tokio::sync::oneshot::channel();
    // What it logs has the id of the request.
    let span = tracing::Span::current();
    let work = move || span.in_scope(work);
    // Boxed, so that the runtime's part is compiled once and not for each kind of work.
    let work: Box<dyn FnOnce() + Send> = Box::new(move || drop(send.send(work())));
    tokio::task::spawn_blocking(work).await.map_err(|e| Problem::internal(&e))?;
    received.await.map_err(|e| Problem::internal(&e))?
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn a_full_queue_refuses_and_empties_again() {
        let jobs = JobQueue::with(1, 2);
        let (end, may_end) = channel::<()>();
        let (begin, has_begun) = tokio::sync::oneshot::channel();
        let running = tokio::spawn({
            let jobs = jobs.clone();
            async move {
                jobs.run(move || {
                    let _ = begin.send(());
                    let _ = may_end.recv();
                    Ok(())
                })
                .await
            }
        });
        has_begun.await.unwrap();
        let wait = || {
            let jobs = jobs.clone();
            tokio::spawn(async move { jobs.run(|| Ok(())).await })
        };
        let waiting = [wait(), wait()];
        while jobs.waiting.load(Ordering::Acquire) < 2 {
            tokio::task::yield_now().await;
        }
        assert_eq!(jobs.run(|| Ok(())).await.unwrap_err().status, 503);
        // A client that leaves gives up its place.
        waiting[0].abort();
        while jobs.waiting.load(Ordering::Acquire) > 1 {
            tokio::task::yield_now().await;
        }
        let third = wait();
        drop(end);
        running.await.unwrap().unwrap();
        third.await.unwrap().unwrap();
        for waited in waiting {
            drop(waited.await);
        }
        assert_eq!(jobs.waiting.load(Ordering::Acquire), 0);
        jobs.run(|| Ok(())).await.unwrap();
    }
}
