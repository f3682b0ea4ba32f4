//! How many embeddings are computed at a time.
use std::sync::Arc;

use halma_core::LlmError;
use tokio::sync::Semaphore;

/// Calls at a time. More would only share the processors, each with its texts in memory; fewer would
/// let a question wait for the batches of a build.
const AT_ONCE: usize = 16;

/// Work on the blocking threads, a bounded number of calls at a time.
pub(super) struct Running(Arc<Semaphore>);

impl Default for Running {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(AT_ONCE)))
    }
}

impl Running {
    /// Runs work when it is its turn. Work that has begun is finished, and counted until then, when
    /// no one waits for it any more; work that has not is not begun.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, LlmError> + Send + 'static,
    ) -> Result<T, LlmError> {
        let stopped = |reason: String| LlmError::refused(format!("embedding stopped: {reason}"));
        let permit = Arc::clone(&self.0).acquire_owned().await;
        let permit = permit.map_err(|e| stopped(e.to_string()))?;
        let work = move || {
            let _permit = permit;
            work()
        };
        tokio::task::spawn_blocking(work).await.map_err(|e| stopped(e.to_string()))?
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn work_that_no_one_waits_for_counts_until_it_ends() {
        let running = Arc::new(Running(Arc::new(Semaphore::new(1))));
        let (end, may_end) = channel::<()>();
        let (begin, has_begun) = tokio::sync::oneshot::channel();
        let first = tokio::spawn({
            let running = Arc::clone(&running);
            async move {
                let work = move || {
                    let _ = begin.send(());
                    let _ = may_end.recv();
                    Ok(())
                };
                running.run(work).await
            }
        });
        has_begun.await.unwrap();
        first.abort();
        assert!(first.await.unwrap_err().is_cancelled());
        // The client has left, and the work is still counted.
        assert_eq!(running.0.available_permits(), 0);
        drop(end);
        running.run(|| Ok(())).await.unwrap();
    }
}
