//! Builds of workspaces besides the default one are continued by any server of a shared base, also by
//! one where the workspace was not open: it takes over the mark of the workspace and opens it.
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::{Workspace, Workspaces, server_name};
use crate::app::Shared;
use crate::builds::{Marks, SeenMark, unstored};
use crate::limits::blocking::run_blocking;
use crate::problem::Problem;

/// After so long without a word of the server that does the builds, another one does them.
const SILENCE: Duration = Duration::from_secs(15);

/// How often a server says that it is opening a workspace.
const RENEWAL: Duration = Duration::from_secs(5);

/// The folders of the workspaces that are open on this server, and whether they have builds to do.
type Open = HashMap<String, bool>;

/// What this server knows of the marks of workspaces with builds to do.
pub(super) struct Continuing {
    marks: Marks,
    known: Mutex<KnownMarks>,
}

#[derive(Default)]
struct KnownMarks {
    version: u64,
    /// By folder.
    marks: HashMap<String, KnownMark>,
    /// Folders of the workspaces that this server is opening.
    opening: HashSet<String>,
}

struct KnownMark {
    version: u64,
    server: String,
    /// When this server heard of it, by its own clock.
    at: Instant,
}

impl KnownMarks {
    fn take_in(&mut self, changed: Vec<SeenMark>, now: Instant) {
        for SeenMark { folder, version, server } in changed {
            self.version = self.version.max(version);
            match server {
                Some(server) => self.marks.insert(folder, KnownMark { version, server, at: now }),
                None => self.marks.remove(&folder),
            };
        }
    }

    /// The folders whose builds no one does, with the versions of their marks, and those of which this
    /// server should say again that it does them. `own` is the name of this server in a workspace.
    fn due(&self, own: impl Fn(&str) -> String, open: &Open, now: Instant) -> Vec<(String, u64)> {
        let is_due = |folder: &str, mark: &KnownMark| {
            let age = now.saturating_duration_since(mark.at);
            match open.get(folder) {
                Some(is_pending) => *is_pending && mark.server == own(folder) && age > RENEWAL,
                None if self.opening.contains(folder) => age > RENEWAL,
                // One of its own is from before it was started.
                None => mark.server.is_empty() || mark.server == own(folder) || age > SILENCE,
            }
        };
        let due = self.marks.iter().filter(|(folder, mark)| is_due(folder, mark));
        due.map(|(folder, mark)| (folder.clone(), mark.version)).collect()
    }
}

impl Continuing {
    pub(super) fn new(marks: Marks) -> Self {
        Self { marks, known: Mutex::default() }
    }

    pub(super) fn marks(&self) -> &Marks {
        &self.marks
    }

    /// Asks the database, and claims the marks of workspaces below `dir` that are not `open` and whose
    /// builds no one does. Returns the folders that this server is to open.
    fn look(&self, dir: &Path, open: &Open) -> Result<Vec<String>, Problem> {
        let since = self.known.lock().version;
        let changed = self.marks.changed_since(since).map_err(unstored)?;
        let own = |folder: &str| server_name(&dir.join(folder));
        let due = {
            let mut known = self.known.lock();
            known.take_in(changed, Instant::now());
            known.due(own, open, Instant::now())
        };
        let mut claimed = vec![];
        for (folder, version) in due {
            let server = own(&folder);
            let won = self.marks.claim(&folder, version, &server).map_err(unstored)?;
            let mut known = self.known.lock();
            if let (Some(version), Some(mark)) = (won, known.marks.get_mut(&folder)) {
                *mark = KnownMark { version, server, at: Instant::now() };
                if !open.contains_key(&folder) && known.opening.insert(folder.clone()) {
                    claimed.push(folder);
                }
            }
        }
        Ok(claimed)
    }

    /// Removes the mark of a workspace in which nothing is to be done, or that there is no longer.
    fn forget(&self, folder: &str) -> Result<(), Problem> {
        let version = self.known.lock().marks.get(folder).map(|mark| mark.version);
        version.map_or(Ok(()), |version| self.marks.remove(folder, version)).map_err(unstored)
    }

    fn opened(&self, folder: &str) {
        self.known.lock().opening.remove(folder);
    }
}

impl Workspaces {
    /// Continues the builds of workspaces that no server does. One short statement where there are
    /// none.
    pub(crate) async fn continue_builds(&self, app: &Shared) -> Result<(), Problem> {
        let Some(continuing) = self.continuing.clone() else { return Ok(()) };
        let (dir, open) = (self.dir.clone(), self.open_and_pending());
        let looking = Arc::clone(&continuing);
        let claimed = run_blocking(move || looking.look(&dir, &open)).await?;
        for folder in claimed {
            let (app, continuing) = (Arc::clone(app), Arc::clone(&continuing));
            // It may take long: the replica is filled.
            tokio::spawn(async move {
                if let Err(problem) = app.workspaces.continue_in(&folder, &continuing).await {
                    tracing::error!("builds of `{folder}` wait: {}", problem.detail);
                }
                continuing.opened(&folder);
            });
        }
        Ok(())
    }

    async fn continue_in(&self, folder: &str, continuing: &Arc<Continuing>) -> Result<(), Problem> {
        let workspace = match self.name_of(folder) {
            Some(name) => Some(self.get(&name).await?),
            None => None,
        };
        if workspace.is_some_and(|workspace| workspace.builds.is_pending()) {
            return Ok(());
        }
        let (continuing, folder) = (Arc::clone(continuing), folder.to_owned());
        run_blocking(move || continuing.forget(&folder)).await
    }

    /// The workspace in a folder of a shared base.
    fn name_of(&self, folder: &str) -> Option<String> {
        let settings = self.shared.as_ref()?.known().settings;
        let mut all = settings.workspaces.iter();
        all.find(|(_, own)| *own == folder).map(|(name, _)| name.clone())
    }

    fn open_and_pending(&self) -> Open {
        let others = self.open().into_iter().skip(1);
        let pending = |own: Arc<Workspace>| {
            let folder = own.dir.file_name()?.to_string_lossy().into_owned();
            Some((folder, own.builds.is_pending()))
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

    fn mark(folder: &str, version: u64, server: Option<&str>) -> SeenMark {
        SeenMark { folder: folder.into(), version, server: server.map(str::to_owned) }
    }

    #[test]
    fn builds_are_due_when_their_server_is_silent_or_has_left_them() {
        let mut known = KnownMarks::default();
        let own = |_: &str| "this".to_owned();
        let began = Instant::now();
        let after = |seconds| began + Duration::from_secs(seconds);
        let mut open = Open::default();
        let due = |known: &KnownMarks, open: &Open, now| {
            let mut due = known.due(own, open, now);
            due.sort();
            due.into_iter().map(|(folder, _)| folder).collect::<Vec<_>>()
        };
        known.take_in(
            vec![
                mark("law", 3, Some("other")),
                mark("tax", 4, Some("this")),
                mark("art", 5, Some("")),
            ],
            began,
        );
        assert_eq!(known.version, 5);
        // What it did before it was started, and what another one has left.
        assert_eq!(due(&known, &open, after(1)), ["art", "tax"]);
        known.take_in(vec![mark("tax", 6, None), mark("art", 7, Some("other"))], after(10));
        assert!(due(&known, &open, after(14)).is_empty());
        known.take_in(vec![mark("law", 8, Some("other"))], after(14));
        assert_eq!(due(&known, &open, after(26)), ["art"], "the other one was heard of `law`");
        // While it opens one it says so from time to time.
        known.opening.insert("art".into());
        known.take_in(vec![mark("art", 9, Some("this"))], after(26));
        assert!(due(&known, &open, after(27)).is_empty());
        assert_eq!(due(&known, &open, after(33)), ["art", "law"]);
        // And also when it has opened it, as long as something is to be done there.
        known.opening.clear();
        open.extend([("art".to_owned(), true), ("law".to_owned(), true)]);
        assert!(due(&known, &open, after(30)).is_empty());
        assert_eq!(due(&known, &open, after(33)), ["art"]);
        open.insert("art".into(), false);
        assert!(due(&known, &open, after(60)).is_empty());
    }
}
