//! What is left in memory of workspaces that were closed because nothing used them.
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Workspace;
use crate::evaluation_runs::EvaluationRuns;

/// What is known of workspaces that are closed and was in memory only, by folder.
#[derive(Clone, Default)]
pub(super) struct ClosedWorkspaces(Arc<Mutex<HashMap<PathBuf, Remains>>>);

/// What outlives a workspace that is closed.
struct Remains {
    /// The folder of its evaluations.
    evaluations: PathBuf,
    /// Of a base that is shared they are in its database.
    runs: Option<Arc<EvaluationRuns>>,
}

impl ClosedWorkspaces {
    /// Gives a workspace that is opened again what is left of it.
    pub(super) fn restore(&self, workspace: &mut Workspace) {
        let runs = self.lock().remove(&workspace.dir).and_then(|remains| remains.runs);
        if let Some(runs) = runs {
            workspace.evaluation_runs = runs;
        }
    }

    pub(super) fn forget(&self, dir: &Path) {
        self.lock().remove(dir);
    }

    pub(super) fn store(&self, workspace: &Workspace) {
        let runs = Some(&workspace.evaluation_runs).filter(|runs| runs.are_in_memory()).cloned();
        let remains = Remains { evaluations: workspace.evaluations(), runs };
        self.lock().insert(workspace.dir.clone(), remains);
    }

    pub(super) fn evaluations(&self) -> Vec<PathBuf> {
        self.lock().values().map(|remains| remains.evaluations.clone()).collect()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<PathBuf, Remains>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
