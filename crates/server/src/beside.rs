//! Work that waits for the disk, beside the runtime.
use crate::problem::Problem;

pub(crate) async fn beside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    tokio::task::spawn_blocking(work).await.map_err(|e| Problem::internal(&e))?
}
