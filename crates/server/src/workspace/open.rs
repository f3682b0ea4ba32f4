//! The workspaces that are open, those that are being closed or removed, and what is known of closed
//! ones, by folder.
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::{OnceCell, watch};

use super::Workspace;

/// How long closing waits for what still uses the folder, such as a search that has begun, and how
/// long a request waits for the end of that before the workspace is opened again.
pub(super) const CLOSING_TIMEOUT: Duration = Duration::from_secs(10);

/// A workspace that is open or is being opened.
pub(super) type WorkspaceCell = Arc<OnceCell<Arc<Workspace>>>;

#[derive(Clone, Default)]
pub(super) struct OpenWorkspaces(Arc<Mutex<HashMap<PathBuf, Slot>>>);

enum Slot {
    Open {
        cell: WorkspaceCell,
        /// When a request asked for it last.
        used: Instant,
    },
    /// Nothing has used it for long. It is opened again when nothing uses its folder any more, of
    /// which the end of the channel notifies.
    Closing(watch::Receiver<()>),
    /// It is being removed, and its folder cannot be used until nothing uses it any more.
    Removing,
}

impl OpenWorkspaces {
    /// The cell of a workspace, unless it is being removed. Waits for one that is being closed.
    pub(super) async fn cell(&self, dir: &Path) -> Option<WorkspaceCell> {
        loop {
            let mut closing = {
                let mut all = self.0.lock();
                let new = || Slot::Open { cell: Arc::default(), used: Instant::now() };
                match all.entry(dir.to_owned()).or_insert_with(new) {
                    Slot::Open { cell, used } => {
                        *used = Instant::now();
                        return Some(Arc::clone(cell));
                    }
                    Slot::Closing(closing) => closing.clone(),
                    Slot::Removing => return None,
                }
            };
            // Nothing is sent; it ends.
            let _ = closing.changed().await;
        }
    }

    pub(super) fn is_removing(&self, dir: &Path) -> bool {
        matches!(self.0.lock().get(dir), Some(Slot::Removing))
    }

    /// Begins to remove a workspace: it is not opened until the result is dropped. `None` if that was
    /// begun before. Waits for one that is being closed.
    pub(super) async fn begin_removal(&self, dir: &Path) -> Option<Removal> {
        loop {
            let mut closing = {
                let mut all = self.0.lock();
                let cell = match all.get(dir) {
                    Some(Slot::Removing) => return None,
                    Some(Slot::Closing(closing)) => Err(closing.clone()),
                    Some(Slot::Open { cell, .. }) => Ok(Arc::clone(cell)),
                    None => Ok(WorkspaceCell::default()),
                };
                match cell {
                    Ok(cell) => {
                        all.insert(dir.to_owned(), Slot::Removing);
                        return Some(Removal { all: self.clone(), dir: dir.to_owned(), cell });
                    }
                    Err(closing) => closing,
                }
            };
            let _ = closing.changed().await;
        }
    }

    /// Begins to close workspaces that nothing uses, those that were not used for longest first, until
    /// at most `limit` are open. They are not opened again until what is returned is dropped.
    pub(super) fn begin_closing(&self, limit: usize) -> Vec<IdleWorkspace> {
        let mut all = self.0.lock();
        if all.len() <= limit {
            return vec![];
        }
        // What could not be opened is forgotten: no one has its cell.
        all.retain(|_, slot| match slot {
            Slot::Open { cell, .. } => cell.initialized() || Arc::strong_count(cell) > 1,
            Slot::Closing(_) | Slot::Removing => true,
        });
        let is_open = |slot: &&Slot| matches!(slot, Slot::Open { .. });
        let more = all.values().filter(is_open).count().saturating_sub(limit);
        if more == 0 {
            return vec![];
        }
        let idle = |(dir, slot): (&PathBuf, &Slot)| match slot {
            // The lock is held: no one gets its cell meanwhile.
            Slot::Open { cell, used } if Arc::strong_count(cell) == 1 => {
                let workspace = cell.get().filter(|workspace| !workspace.is_used())?;
                Some((*used, dir.clone(), Arc::clone(workspace)))
            }
            _ => None,
        };
        let mut idle: Vec<_> = all.iter().filter_map(idle).collect();
        idle.sort_by_key(|(used, _, _)| *used);
        idle.truncate(more);
        let close = |(_, dir, workspace): (_, PathBuf, _)| {
            let (closed, closing) = watch::channel(());
            all.insert(dir.clone(), Slot::Closing(closing));
            IdleWorkspace { all: self.clone(), dir, workspace: Some(workspace), _closed: closed }
        };
        idle.into_iter().map(close).collect()
    }

    pub(super) fn open(&self) -> Vec<Arc<Workspace>> {
        let all = self.0.lock();
        let cells = all.values().filter_map(|slot| match slot {
            Slot::Open { cell, .. } => cell.get(),
            Slot::Closing(_) | Slot::Removing => None,
        });
        cells.map(Arc::clone).collect()
    }

    /// The folders of workspaces that are not being closed or removed.
    pub(super) fn folders(&self) -> Vec<PathBuf> {
        let all = self.0.lock();
        let open = all.iter().filter(|(_, slot)| matches!(slot, Slot::Open { .. }));
        open.map(|(dir, _)| dir.clone()).collect()
    }
}

/// A workspace that is being removed. When it is dropped the folder can be used again.
pub(super) struct Removal {
    all: OpenWorkspaces,
    dir: PathBuf,
    /// One that is open or is being opened.
    pub(super) cell: WorkspaceCell,
}

impl Drop for Removal {
    fn drop(&mut self) {
        self.all.0.lock().remove(&self.dir);
    }
}

/// A workspace that is being closed. When it is dropped the workspace can be opened again.
pub(super) struct IdleWorkspace {
    all: OpenWorkspaces,
    dir: PathBuf,
    /// Until it is closed.
    pub(super) workspace: Option<Arc<Workspace>>,
    /// Dropped after the slot is free; those who wait for it notice.
    _closed: watch::Sender<()>,
}

impl Drop for IdleWorkspace {
    fn drop(&mut self) {
        self.all.0.lock().remove(&self.dir);
    }
}

/// The folders of the evaluations of closed workspaces, by that of the workspace.
#[derive(Clone, Default)]
pub(super) struct ClosedWorkspaces(Arc<Mutex<HashMap<PathBuf, PathBuf>>>);

impl ClosedWorkspaces {
    /// Forgets a workspace that is opened again or removed.
    pub(super) fn forget(&self, dir: &Path) {
        self.0.lock().remove(dir);
    }

    pub(super) fn store(&self, workspace: &Workspace) {
        self.0.lock().insert(workspace.dir.clone(), workspace.evaluations());
    }

    pub(super) fn evaluations(&self) -> Vec<PathBuf> {
        self.0.lock().values().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_being_removed_is_not_opened_and_removed_once() {
        let (all, dir) = (OpenWorkspaces::default(), Path::new("acme"));
        let cell = all.cell(dir).await.unwrap();
        let removed = all.begin_removal(dir).await.unwrap();
        assert!(Arc::ptr_eq(&cell, &removed.cell), "one that is being opened is closed as well");
        assert!(all.cell(dir).await.is_none() && all.is_removing(dir));
        assert!(all.begin_removal(dir).await.is_none() && all.folders().is_empty());
        drop(removed);
        assert!(!all.is_removing(dir) && all.cell(dir).await.is_some());
        assert!(all.begin_removal(Path::new("never opened")).await.is_some());
    }

    #[tokio::test]
    async fn what_is_being_opened_is_not_closed_and_what_was_not_opened_is_forgotten() {
        let all = OpenWorkspaces::default();
        let opening = all.cell(Path::new("acme")).await.unwrap();
        drop(all.cell(Path::new("could not be opened")).await);
        assert_eq!(all.folders().len(), 2);
        assert!(all.begin_closing(0).is_empty());
        assert_eq!(all.folders(), [Path::new("acme")]);
        drop(opening);
    }
}
