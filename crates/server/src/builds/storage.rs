//! Where the builds of a workspace are stored: a file each in its folder, or, of one that is shared,
//! entries of its database, which all servers see and change.
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use halma_engine::{EngineError, SealedEntries, SharedSpace, replace_file};
use parking_lot::Mutex;

use super::mark::Mark;
use super::{Build, BuildState};

/// The kind of the entries, and the folder of their keys.
pub(crate) const BUILD_ENTRIES: &str = "build";
const KEYS: &str = "builds";

/// After so long without a word of it a server counts as gone, and its build is done by another.
const SILENCE: Duration = Duration::from_secs(15);

pub(super) type All = BTreeMap<String, Build>;

/// What another server did with a build; `None`: it removed it.
pub(super) struct Changed {
    pub(super) id: String,
    pub(super) build: Option<Build>,
}

pub(super) enum Storage {
    Folder(PathBuf),
    /// In a process that builds nothing.
    Unserved,
    Database(Box<SharedQueue>),
}

/// Builds in a database.
pub(super) struct SharedQueue {
    entries: SealedEntries,
    /// The name of this server among those that share the base.
    server: String,
    seen: Mutex<KnownEntries>,
    /// Of a workspace besides the default one.
    mark: Option<Mark>,
}

/// What was read, and when each entry was last changed, by the clock of this machine.
#[derive(Default)]
struct KnownEntries {
    version: u64,
    entries: HashMap<String, Change>,
}

struct Change {
    version: u64,
    at: Instant,
}

impl Storage {
    pub(super) fn database(
        space: &SharedSpace,
        server: String,
        mark: Option<Mark>,
    ) -> Result<Self, EngineError> {
        let entries = SealedEntries::new(space, BUILD_ENTRIES, KEYS)?;
        let queue = SharedQueue { entries, server, seen: Mutex::default(), mark };
        Ok(Self::Database(Box::new(queue)))
    }

    /// The name of this server, of a base that is shared.
    pub(super) fn server(&self) -> Option<&str> {
        match self {
            Self::Folder(_) | Self::Unserved => None,
            Self::Database(queue) => Some(&queue.server),
        }
    }

    /// All builds. What this server was running when it stopped waits again.
    pub(super) fn read(&self) -> std::io::Result<All> {
        match self {
            Self::Folder(dir) => {
                remove_leftovers(dir);
                Ok(read_folder(dir))
            }
            Self::Unserved => Ok(All::new()),
            Self::Database(queue) => {
                let mut all = All::new();
                for Changed { id, build } in queue.changes()? {
                    let Some(mut build) = build else { continue };
                    let is_own = build.server.as_deref() == Some(&queue.server);
                    if build.state == BuildState::Running && is_own {
                        build.wait();
                        queue.put(&build)?;
                    }
                    all.insert(id, build);
                }
                Ok(all)
            }
        }
    }

    /// What other servers have changed since the last time.
    pub(super) fn changes(&self) -> std::io::Result<Vec<Changed>> {
        match self {
            Self::Folder(_) | Self::Unserved => Ok(vec![]),
            Self::Database(queue) => queue.changes(),
        }
    }

    /// Stores a build; `false` if another server has changed it since it was read.
    pub(super) fn put(&self, build: &Build) -> std::io::Result<bool> {
        match self {
            Self::Folder(dir) => {
                replace_file(&path(dir, &build.id), &serde_json::to_vec(build)?)?;
                Ok(true)
            }
            Self::Unserved => Err(std::io::Error::other("this process builds nothing")),
            Self::Database(queue) => queue.put(build),
        }
    }

    /// A build that cannot be removed is removed later.
    pub(super) fn remove(&self, id: &str) {
        match self {
            Self::Folder(dir) => drop(std::fs::remove_file(path(dir, id))),
            Self::Unserved => {}
            Self::Database(queue) => drop(queue.entries.remove(id)),
        }
    }

    /// Says that no build waits or runs any more. A mark that stays is removed by any server.
    pub(super) fn all_done(&self) {
        if let Some(mark) = self.mark()
            && let Err(e) = mark.remove()
        {
            tracing::debug!("the mark of a workspace without builds stays for a while: {e}");
        }
    }

    /// Says that builds are left to other servers.
    pub(super) fn left_to_others(&self) -> std::io::Result<()> {
        self.mark().map_or(Ok(()), Mark::release)
    }

    /// The mark that tells other servers of builds here.
    fn mark(&self) -> Option<&Mark> {
        if let Self::Database(queue) = self { queue.mark.as_ref() } else { None }
    }

    /// Whether nothing was heard for long of a build that another server runs.
    pub(super) fn is_orphan(&self, id: &str) -> bool {
        let Self::Database(queue) = self else { return false };
        queue.seen.lock().entries.get(id).is_some_and(|change| change.at.elapsed() > SILENCE)
    }
}

impl SharedQueue {
    fn changes(&self) -> std::io::Result<Vec<Changed>> {
        let mut seen = self.seen.lock();
        let changed = match seen.version {
            0 => self.entries.list()?,
            version => self.entries.changed_since(version)?,
        };
        let mut all = vec![];
        for entry in changed {
            seen.version = seen.version.max(entry.version);
            let known = seen.entries.get(&entry.id);
            if known.is_some_and(|change| change.version >= entry.version) {
                // It was changed here.
                continue;
            }
            let build = entry.bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
            let change = Change { version: entry.version, at: Instant::now() };
            seen.entries.insert(entry.id.clone(), change);
            all.push(Changed { id: entry.id, build });
        }
        Ok(all)
    }

    fn put(&self, build: &Build) -> std::io::Result<bool> {
        let mark = self.mark.as_ref().filter(|_| build.state.is_pending());
        // Before, so that there is no build without a mark,
        mark.map_or(Ok(()), Mark::renew)?;
        let put = self.put_entry(build)?;
        if build.state == BuildState::Queued {
            // and after, in case that another server found the queue empty in between.
            mark.map_or(Ok(()), Mark::renew)?;
        }
        Ok(put)
    }

    fn put_entry(&self, build: &Build) -> std::io::Result<bool> {
        let mut seen = self.seen.lock();
        let expected = seen.entries.get(&build.id).map_or(0, |change| change.version);
        let put = self.entries.put(&build.id, expected, &serde_json::to_vec(build)?)?;
        if let Some(version) = put {
            seen.entries.insert(build.id.clone(), Change { version, at: Instant::now() });
        }
        Ok(put.is_some())
    }
}

/// Removes temporary files that a server which was killed has not finished.
fn remove_leftovers(dir: &Path) {
    for file in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        if file.file_name().to_string_lossy().starts_with(".tmp")
            && let Err(e) = std::fs::remove_file(file.path())
        {
            tracing::warn!("`{}` cannot be removed: {e}", file.path().display());
        }
    }
}

/// The builds in a folder. What was running when the server stopped waits again.
pub(super) fn read_folder(dir: &Path) -> All {
    let files = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let read = |file: PathBuf| {
        let mut build: Build = serde_json::from_slice(&std::fs::read(&file).ok()?).ok()?;
        if file != path(dir, &build.id) {
            return None;
        }
        if build.state == BuildState::Running {
            build.wait();
        }
        Some((build.id.clone(), build))
    };
    files.filter_map(|file| read(file.path())).collect()
}

fn path(dir: &Path, id: &str) -> PathBuf {
    dir.join(format!("{id}.json"))
}
