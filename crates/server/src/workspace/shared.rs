//! The workspaces of a shared base: made and removed on any of its servers.
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::Workspaces;
use crate::limits::blocking::run_blocking;
use crate::problem::Problem;
use crate::settings::SharedSettings;

/// After this time no server writes any more to a workspace that was removed: each has read of it or
/// does not reach the database.
const GRACE_PERIOD: Duration = Duration::from_secs(10);

/// When this server read of each folder whose contents are being removed.
pub(super) type RemovalTimes = Mutex<HashMap<String, Instant>>;

impl Workspaces {
    /// Removes the contents of a workspace in the database and overwrites its keys. They may come
    /// from another server, which writes until it has read of it; [`Workspaces::follow`] removes
    /// what it wrote.
    pub(super) async fn erase(&self, dir: &Path) -> Result<(), Problem> {
        let (engine, dir) = (self.root.engine(), dir.to_owned());
        run_blocking(move || Ok(engine.erase_sibling(&dir)?)).await
    }

    /// Closes what other servers have removed, and completes removals.
    pub(crate) async fn follow(&self) {
        let Some(shared) = &self.shared else { return };
        let open = self.others.folders();
        let replicas = folders(&self.dir).into_iter().filter(|dir| !is_temporary(dir));
        let mut gone: Vec<PathBuf> = open.into_iter().chain(replicas).collect();
        gone.sort();
        gone.dedup();
        gone.retain(|dir| is_gone(shared, dir));
        if !gone.is_empty() {
            // One that was made after the settings were read, by this or another program, is not gone.
            let again = Arc::clone(shared);
            if run_blocking(move || again.refresh()).await.is_err() {
                return;
            }
            gone.retain(|dir| is_gone(shared, dir));
        }
        for dir in gone {
            if let Err(problem) = self.close(&dir).await {
                tracing::warn!("the replica of a removed workspace stays: {}", problem.detail);
            }
        }
        self.complete_removals(shared).await;
    }

    /// Removes once more what is left of removed workspaces, now that no server writes to them, also
    /// those that a server began to remove that is gone. Then their folders may be used again.
    async fn complete_removals(&self, shared: &Arc<SharedSettings>) {
        let removed = &shared.current().settings.removed;
        let due: Vec<String> = {
            let mut removal_times = self.removal_times.lock();
            removal_times.retain(|folder, _| removed.contains(folder));
            for folder in removed {
                removal_times.entry(folder.clone()).or_insert_with(Instant::now);
            }
            let due = removal_times.iter().filter(|(_, at)| at.elapsed() > GRACE_PERIOD);
            due.map(|(folder, _)| folder.clone()).collect()
        };
        for folder in due {
            let mut completed = self.erase(&self.dir.join(&folder)).await;
            if completed.is_ok() {
                let shared = Arc::clone(shared);
                let forget = move || {
                    shared.change(|settings| {
                        settings.removed.remove(&folder);
                        Ok(())
                    })
                };
                completed = run_blocking(forget).await;
            }
            if let Err(problem) = completed {
                tracing::warn!("a workspace is not removed completely yet: {}", problem.detail);
            }
        }
    }
}

/// Whether no workspace has this folder.
fn is_gone(shared: &SharedSettings, dir: &Path) -> bool {
    let folder = dir.file_name().unwrap_or_default().to_string_lossy();
    !shared.current().settings.workspaces.values().any(|used| *used == folder)
}

fn folders(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
}

/// Whether it is being removed already.
fn is_temporary(dir: &Path) -> bool {
    dir.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'))
}
