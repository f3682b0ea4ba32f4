//! Work that waits for the disk, moved off the async runtime's threads.
use crate::problem::Problem;

/// Runs `work` on the blocking thread pool. A panic in it is an internal error.
pub(crate) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let (send, received) = tokio::sync::oneshot::channel();
    // Boxed, so that the runtime's part is compiled once and not for each kind of work.
    let work: Box<dyn FnOnce() + Send> = Box::new(move || drop(send.send(work())));
    tokio::task::spawn_blocking(work).await.map_err(|e| Problem::internal(&e))?;
    received.await.map_err(|e| Problem::internal(&e))?
}
