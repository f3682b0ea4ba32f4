//! Where the evaluations of workspaces are that were closed because nothing used them.
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;

use super::Workspace;

/// The folders of evaluations, by that of the workspace.
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
