//! The workspaces that are open, and those that are being removed, by folder.
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::OnceCell;

use super::Workspace;

/// A workspace that is open or is being opened.
pub(super) type WorkspaceCell = Arc<OnceCell<Arc<Workspace>>>;

#[derive(Clone, Default)]
pub(super) struct OpenWorkspaces(Arc<Mutex<HashMap<PathBuf, Slot>>>);

enum Slot {
    Open(WorkspaceCell),
    /// It is being removed, and its folder cannot be used until nothing uses it any more.
    Removing,
}

impl OpenWorkspaces {
    /// The cell of a workspace, unless it is being removed.
    pub(super) fn cell(&self, dir: &Path) -> Option<WorkspaceCell> {
        let mut all = self.lock();
        match all.entry(dir.to_owned()).or_insert_with(|| Slot::Open(Arc::default())) {
            Slot::Open(cell) => Some(Arc::clone(cell)),
            Slot::Removing => None,
        }
    }

    pub(super) fn is_removing(&self, dir: &Path) -> bool {
        matches!(self.lock().get(dir), Some(Slot::Removing))
    }

    /// Begins to remove a workspace: it is not opened until the result is dropped. `None` if that was
    /// begun before.
    pub(super) fn begin_removal(&self, dir: &Path) -> Option<Removal> {
        let cell = match self.lock().insert(dir.to_owned(), Slot::Removing) {
            Some(Slot::Open(cell)) => cell,
            Some(Slot::Removing) => return None,
            None => WorkspaceCell::default(),
        };
        Some(Removal { all: self.clone(), dir: dir.to_owned(), cell })
    }

    pub(super) fn open(&self) -> Vec<Arc<Workspace>> {
        let all = self.lock();
        let cells = all.values().filter_map(|slot| match slot {
            Slot::Open(cell) => cell.get(),
            Slot::Removing => None,
        });
        cells.map(Arc::clone).collect()
    }

    /// The folders of workspaces that are not being removed.
    pub(super) fn folders(&self) -> Vec<PathBuf> {
        let all = self.lock();
        let open = all.iter().filter(|(_, slot)| matches!(slot, Slot::Open(_)));
        open.map(|(dir, _)| dir.clone()).collect()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<PathBuf, Slot>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
        self.all.lock().remove(&self.dir);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_being_removed_is_not_opened_and_removed_once() {
        let (all, dir) = (OpenWorkspaces::default(), Path::new("acme"));
        let cell = all.cell(dir).unwrap();
        let removed = all.begin_removal(dir).unwrap();
        assert!(Arc::ptr_eq(&cell, &removed.cell), "one that is being opened is closed as well");
        assert!(all.cell(dir).is_none() && all.is_removing(dir));
        assert!(all.begin_removal(dir).is_none() && all.folders().is_empty());
        drop(removed);
        assert!(!all.is_removing(dir) && all.cell(dir).is_some());
        assert!(all.begin_removal(Path::new("never opened")).is_some());
    }
}
