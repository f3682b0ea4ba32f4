//! Takeover of builds: those of workspaces besides the default one are continued by any server of a
//! shared base, which takes over the claim of the workspace and opens it.
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::{Workspace, Workspaces, server_name};
use crate::app::Shared;
use crate::builds::{ClaimRecord, Claims, SERVER_TIMEOUT, unstored};
use crate::limits::blocking::run_blocking;
use crate::problem::Problem;

/// How often a server says that it is opening a workspace.
const RENEWAL: Duration = Duration::from_secs(5);

/// The folders of the workspaces that are open on this server, and whether they have builds to do.
type Open = HashMap<String, bool>;

/// Takes over the builds of workspaces that no server does.
pub(super) struct Takeover {
    pub(super) claims: Claims,
    index: Mutex<ClaimIndex>,
}

#[derive(Default)]
struct ClaimIndex {
    version: u64,
    /// By folder.
    claims: HashMap<String, ClaimEntry>,
    /// Folders of the workspaces that this server is opening.
    opening: HashSet<String>,
}

struct ClaimEntry {
    version: u64,
    server: String,
    /// When this server read it, by its own clock.
    at: Instant,
}

impl ClaimIndex {
    fn apply(&mut self, changed: Vec<ClaimRecord>, now: Instant) {
        for ClaimRecord { folder, version, server } in changed {
            self.version = self.version.max(version);
            match server {
                Some(server) => self.claims.insert(folder, ClaimEntry { version, server, at: now }),
                None => self.claims.remove(&folder),
            };
        }
    }

    /// The folders whose builds no one does, with the versions of their claims, and those of which this
    /// server should say again that it does them. `server_of` is the name of this server in a workspace.
    fn due(
        &self,
        server_of: impl Fn(&str) -> String,
        open: &Open,
        now: Instant,
    ) -> Vec<(String, u64)> {
        let is_due = |folder: &str, claim: &ClaimEntry| {
            let age = now.saturating_duration_since(claim.at);
            match open.get(folder) {
                Some(is_pending) => {
                    *is_pending && claim.server == server_of(folder) && age > RENEWAL
                }
                None if self.opening.contains(folder) => age > RENEWAL,
                // One of its own is from before it was started.
                None => {
                    claim.server.is_empty()
                        || claim.server == server_of(folder)
                        || age > SERVER_TIMEOUT
                }
            }
        };
        let due = self.claims.iter().filter(|(folder, claim)| is_due(folder, claim));
        due.map(|(folder, claim)| (folder.clone(), claim.version)).collect()
    }
}

impl Takeover {
    pub(super) fn new(claims: Claims) -> Self {
        Self { claims, index: Mutex::default() }
    }

    /// Asks the database, and takes the claims on workspaces below `dir` that are not `open` and whose
    /// builds no one does. Returns the folders that this server is to open.
    fn look(&self, dir: &Path, open: &Open) -> Result<Vec<String>, Problem> {
        let since = self.index.lock().version;
        let changed = self.claims.changed_since(since).map_err(unstored)?;
        let server_of = |folder: &str| server_name(&dir.join(folder));
        let due = {
            let mut index = self.index.lock();
            index.apply(changed, Instant::now());
            index.due(server_of, open, Instant::now())
        };
        let mut claimed = vec![];
        for (folder, version) in due {
            let server = server_of(&folder);
            let won = self.claims.take(&folder, version, &server).map_err(unstored)?;
            let mut index = self.index.lock();
            if let (Some(version), Some(claim)) = (won, index.claims.get_mut(&folder)) {
                *claim = ClaimEntry { version, server, at: Instant::now() };
                if !open.contains_key(&folder) && index.opening.insert(folder.clone()) {
                    claimed.push(folder);
                }
            }
        }
        Ok(claimed)
    }

    /// Removes the claim of a workspace in which nothing is to be done, or that there is no longer.
    fn forget(&self, folder: &str) -> Result<(), Problem> {
        let version = self.index.lock().claims.get(folder).map(|claim| claim.version);
        version.map_or(Ok(()), |version| self.claims.remove(folder, version)).map_err(unstored)
    }

    fn opened(&self, folder: &str) {
        self.index.lock().opening.remove(folder);
    }
}

impl Workspaces {
    /// Continues the builds of workspaces that no server does. One short statement where there are
    /// none.
    pub(crate) async fn continue_builds(&self, app: &Shared) -> Result<(), Problem> {
        let Some(takeover) = self.takeover.clone() else { return Ok(()) };
        let (dir, open) = (self.dir.clone(), self.open_and_pending());
        let looking = Arc::clone(&takeover);
        let claimed = run_blocking(move || looking.look(&dir, &open)).await?;
        for folder in claimed {
            let (app, takeover) = (Arc::clone(app), Arc::clone(&takeover));
            // It may take long: the replica is filled.
            tokio::spawn(async move {
                if let Err(problem) = app.workspaces.continue_in(&folder, &takeover).await {
                    tracing::error!("builds of `{folder}` wait: {}", problem.detail);
                }
                takeover.opened(&folder);
            });
        }
        Ok(())
    }

    async fn continue_in(&self, folder: &str, takeover: &Arc<Takeover>) -> Result<(), Problem> {
        let workspace = match self.name_of(folder) {
            Some(name) => Some(self.get(&name).await?),
            None => None,
        };
        if workspace.is_some_and(|workspace| workspace.builds.is_pending()) {
            return Ok(());
        }
        let (takeover, folder) = (Arc::clone(takeover), folder.to_owned());
        run_blocking(move || takeover.forget(&folder)).await
    }

    /// The workspace in a folder of a shared base.
    fn name_of(&self, folder: &str) -> Option<String> {
        let settings = self.shared.as_ref()?.current().settings;
        let mut all = settings.workspaces.iter();
        all.find(|(_, used)| *used == folder).map(|(name, _)| name.clone())
    }

    fn open_and_pending(&self) -> Open {
        let others = self.open().into_iter().skip(1);
        let pending = |workspace: Arc<Workspace>| {
            let folder = workspace.dir.file_name()?.to_string_lossy().into_owned();
            Some((folder, workspace.builds.is_pending()))
        };
        others.filter_map(pending).collect()
    }

    /// Stops all builds. Those of a shared base are left to its other servers.
    pub(crate) async fn stop_builds(&self) {
        for workspace in self.open() {
            workspace.builds.close().await;
            let builds = Arc::clone(&workspace.builds);
            let handed = run_blocking(move || {
                builds.hand_over();
                Ok(())
            });
            // Only a panic is an error, and it is in the log.
            let _ = handed.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(folder: &str, version: u64, server: Option<&str>) -> ClaimRecord {
        ClaimRecord { folder: folder.into(), version, server: server.map(str::to_owned) }
    }

    #[test]
    fn builds_are_due_when_their_server_is_silent_or_has_left_them() {
        let mut index = ClaimIndex::default();
        let server_of = |_: &str| "this".to_owned();
        let began = Instant::now();
        let after = |seconds| began + Duration::from_secs(seconds);
        let mut open = Open::default();
        let due = |index: &ClaimIndex, open: &Open, now| {
            let mut due = index.due(server_of, open, now);
            due.sort();
            due.into_iter().map(|(folder, _)| folder).collect::<Vec<_>>()
        };
        index.apply(
            vec![
                claim("law", 3, Some("other")),
                claim("tax", 4, Some("this")),
                claim("art", 5, Some("")),
            ],
            began,
        );
        assert_eq!(index.version, 5);
        // What it did before it was started, and what another one has left.
        assert_eq!(due(&index, &open, after(1)), ["art", "tax"]);
        index.apply(vec![claim("tax", 6, None), claim("art", 7, Some("other"))], after(10));
        assert!(due(&index, &open, after(14)).is_empty());
        index.apply(vec![claim("law", 8, Some("other"))], after(14));
        assert_eq!(due(&index, &open, after(26)), ["art"], "the other one was heard of `law`");
        // While it opens one it says so from time to time.
        index.opening.insert("art".into());
        index.apply(vec![claim("art", 9, Some("this"))], after(26));
        assert!(due(&index, &open, after(27)).is_empty());
        assert_eq!(due(&index, &open, after(33)), ["art", "law"]);
        // And also when it has opened it, as long as something is to be done there.
        index.opening.clear();
        open.extend([("art".to_owned(), true), ("law".to_owned(), true)]);
        assert!(due(&index, &open, after(30)).is_empty());
        assert_eq!(due(&index, &open, after(33)), ["art"]);
        open.insert("art".into(), false);
        assert!(due(&index, &open, after(60)).is_empty());
    }
}
