//! Where the evaluations of workspaces are that were closed because nothing used them.
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Workspace;

/// The folders of evaluations, by that of the workspace.
#[derive(Clone, Default)]
pub(super) struct ClosedWorkspaces(Arc<Mutex<HashMap<PathBuf, PathBuf>>>);

impl ClosedWorkspaces {
    /// Forgets a workspace that is opened again or removed.
    pub(super) fn forget(&self, dir: &Path) {
        self.lock().remove(dir);
    }

    pub(super) fn store(&self, workspace: &Workspace) {
        self.lock().insert(workspace.dir.clone(), workspace.evaluations());
    }

    pub(super) fn evaluations(&self) -> Vec<PathBuf> {
        self.lock().values().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<PathBuf, PathBuf>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
