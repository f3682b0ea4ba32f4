//! Closing a workspace that is removed: what is done in it ends, and its name is free as soon as
//! nothing uses its folder any more.
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use super::open::{CLOSING_TIMEOUT, WorkspaceCell};
use super::workspaces::REMOVED;
use super::{Workspace, Workspaces};
use crate::limits::blocking::{busy, run_blocking};
use crate::problem::Problem;

/// How often it is looked whether that has ended.
const INTERVAL: Duration = Duration::from_millis(500);

impl Workspaces {
    /// Closes the workspace in a folder, if it is open, and removes the folder. Nothing if that is
    /// being done already.
    pub(super) async fn close(&self, dir: &Path) -> Result<(), Problem> {
        let begun = timeout(CLOSING_TIMEOUT, self.others.begin_removal(dir)).await;
        let begun = begun.map_err(|_| busy("the workspace is being closed"))?;
        let Some(mut removal) = begun else { return Ok(()) };
        self.closed.forget(dir);
        self.overviews.forget(dir);
        let closing = end(std::mem::take(&mut removal.cell)).await?;
        let removed = self.remove_folder(dir).await;
        if let Some(closing) = closing {
            // What has been moved away is used until it is closed; only then can another one be opened
            // in a folder of this name.
            tokio::spawn(free(removal, closing));
        }
        removed
    }

    async fn remove_folder(&self, dir: &Path) -> Result<(), Problem> {
        let failed = |e: std::io::Error| Problem::io(&e);
        let id = halma_engine::TraceStore::next_id().map_err(failed)?;
        let name = dir.file_name().unwrap_or_default().to_string_lossy();
        let removed = self.dir.join(format!("{REMOVED}{name}-{id}"));
        match std::fs::rename(dir, &removed) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            renamed => renamed.map_err(failed)?,
        }
        run_blocking(move || std::fs::remove_dir_all(removed).map_err(failed)).await
    }
}

/// Waits up to a time until nothing uses the folder any more.
pub(super) type Closing = Arc<dyn Fn(Duration) -> bool + Send + Sync>;

/// Ends what is done in a workspace, and waits a while for that; what is to be waited for if it takes
/// longer. Whatever still runs must not write into a folder of this name, which may be another
/// workspace's soon.
async fn end(cell: WorkspaceCell) -> Result<Option<Closing>, Problem> {
    // One that is being opened at this moment is waited for, and no one opens it any more.
    let never = async || Err::<Arc<Workspace>, ()>(());
    let Ok(workspace) = cell.get_or_try_init(never).await.map(Arc::clone) else { return Ok(None) };
    workspace.builds.close().await;
    let closing: Closing = Arc::new(workspace.engine().closing());
    run_blocking(move || {
        workspace.close();
        Ok(())
    })
    .await?;
    drop(cell);
    let waiting = Arc::clone(&closing);
    let is_closed = run_blocking(move || Ok(waiting(CLOSING_TIMEOUT))).await?;
    Ok((!is_closed).then_some(closing))
}

/// Lets go of the place of a closed workspace when nothing uses its files any more.
pub(super) async fn free<T>(place: T, closing: Closing) {
    tracing::warn!("a workspace that was closed is still used, and its name is not free yet");
    while !closing(Duration::ZERO) {
        tokio::time::sleep(INTERVAL).await;
    }
    drop(place);
}
