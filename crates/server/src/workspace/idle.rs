//! Closing workspaces that nothing uses when many are open: each takes address space, file handles and
//! memory. The next request opens it again.
use std::path::PathBuf;
use std::sync::Arc;

use tokio::task::JoinHandle;

use super::closing::{Closing, free};
use super::open::{CLOSING_TIMEOUT, ClosedWorkspaces, IdleWorkspace};
use super::{EVALUATIONS, Workspaces};
use crate::limits::blocking::run_blocking;
use crate::problem::Problem;

impl Workspaces {
    /// Begins to close workspaces that nothing uses, as far as more than the configured number are
    /// open. Each is closed also when the request that has caused it is given up.
    pub(super) fn close_idle(&self) -> Vec<JoinHandle<()>> {
        let idle = self.others.begin_closing(self.max_open);
        idle.into_iter().map(|idle| tokio::spawn(close(idle, self.closed.clone()))).collect()
    }

    /// [`Workspaces::close_idle`], for one that is opened in their place.
    pub(super) async fn make_room(&self) {
        for closing in self.close_idle() {
            // Only a panic is an error, and it is in the log.
            let _ = closing.await;
        }
    }

    /// The folders of the evaluations of all workspaces; of a base that is shared, of those that are
    /// or were open here: only a workspace itself knows where its files are.
    pub(crate) fn evaluations(&self) -> Vec<PathBuf> {
        let open = self.open();
        let open = open.iter().map(|workspace| workspace.evaluations());
        let names = if self.shared.is_none() { self.names() } else { vec![] };
        let closed = names.iter().filter_map(|name| Some(self.folder(name)?.join(EVALUATIONS)));
        open.chain(self.closed.evaluations()).chain(closed).collect()
    }
}

/// Closes a workspace. Nothing of it is refused or lost: what still uses it is waited for, and it can
/// be opened again when that has ended.
async fn close(mut idle: IdleWorkspace, closed: ClosedWorkspaces) {
    let Some(workspace) = idle.workspace.take() else { return };
    tracing::debug!(workspace = workspace.name, "closing it: others are used");
    workspace.builds.close().await;
    let closing: Closing = Arc::new(workspace.engine().closing());
    let waiting = Arc::clone(&closing);
    let waited = run_blocking(move || {
        // A build that another server has begun since stays with it, or is continued by any.
        workspace.builds.hand_over();
        closed.store(&workspace);
        drop(workspace);
        Ok::<_, Problem>(waiting(CLOSING_TIMEOUT))
    });
    if !matches!(waited.await, Ok(true)) {
        tokio::spawn(free(idle, closing));
    }
}
