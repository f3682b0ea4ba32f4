//! The builds of a workspace as they are stored: entries among the state of its base, which all servers
//! of a base that is shared see and change.
use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use halma_engine::{BaseState, EngineError, Entries, StateEntry};
use parking_lot::Mutex;

use super::claim::Claim;
use super::{Build, BuildState};

/// The kind of the entries, and the folder of their keys.
pub(crate) const BUILD_ENTRIES: &str = "build";
const KEYS: &str = "builds";

/// A server that has not reported for this long counts as gone, and another one does its
/// builds, or its evaluations are given up.
pub(crate) const SERVER_TIMEOUT: Duration = Duration::from_secs(15);

pub(super) type All = BTreeMap<String, Build>;

/// What another server did with a build; `None`: it removed it.
pub(super) struct Changed {
    pub(super) id: String,
    pub(super) build: Option<Build>,
}

/// The stored queue; none in a process that builds nothing.
#[derive(Default)]
pub(super) struct Storage(Option<Queue>);

/// The queue of builds.
pub(super) struct Queue {
    entries: Entries,
    /// The name of this server among those that share the base; `None` where it is the only one.
    server: Option<String>,
    sync: Mutex<SyncState>,
    /// Of a shared workspace besides the default one.
    claim: Option<Claim>,
}

/// What was read, and when each entry was last changed, by the clock of this machine.
#[derive(Default)]
struct SyncState {
    version: u64,
    entries: HashMap<String, Change>,
}

struct Change {
    version: u64,
    at: Instant,
}

impl Storage {
    pub(super) fn open(
        state: &BaseState,
        server: String,
        claim: Option<Claim>,
    ) -> Result<Self, EngineError> {
        let entries = state.entries_with_words(BUILD_ENTRIES, KEYS)?;
        let server = (!entries.are_local()).then_some(server);
        Ok(Self(Some(Queue { entries, server, sync: Mutex::default(), claim })))
    }

    /// The name of this server, of a base that is shared.
    pub(super) fn server(&self) -> Option<&str> {
        self.0.as_ref()?.server.as_deref()
    }

    /// All builds. What this server was running when it stopped waits again.
    pub(super) fn read(&self) -> std::io::Result<All> {
        let mut all = All::new();
        let Some(queue) = &self.0 else { return Ok(all) };
        for Changed { id, build } in queue.changes()? {
            let Some(mut build) = build else { continue };
            if build.state == BuildState::Running && build.server == queue.server {
                build.wait();
                queue.put(&build)?;
            }
            all.insert(id, build);
        }
        Ok(all)
    }

    /// What other servers have changed since the last time.
    pub(super) fn changes(&self) -> std::io::Result<Vec<Changed>> {
        self.0.as_ref().map_or(Ok(vec![]), Queue::changes)
    }

    /// Stores a build; `false` if another server has changed it since it was read.
    pub(super) fn put(&self, build: &Build) -> std::io::Result<bool> {
        let unserved = || std::io::Error::other("this process builds nothing");
        self.0.as_ref().ok_or_else(unserved)?.put(build)
    }

    /// A build that cannot be removed is removed later.
    pub(super) fn remove(&self, id: &str) {
        if let Some(queue) = &self.0 {
            drop(queue.entries.remove(id));
        }
    }

    /// Says that no build waits or runs any more. A claim that stays is removed by any server.
    pub(super) fn remove_claim(&self) {
        if let Some(claim) = self.claim()
            && let Err(e) = claim.remove()
        {
            tracing::debug!("the claim of a workspace without builds stays for a while: {e}");
        }
    }

    /// Says that builds are left to other servers.
    pub(super) fn release_claim(&self) -> std::io::Result<()> {
        self.claim().map_or(Ok(()), Claim::release)
    }

    /// The claim that tells other servers of builds here.
    fn claim(&self) -> Option<&Claim> {
        self.0.as_ref()?.claim.as_ref()
    }

    /// Whether the server that runs a build has not reported for [`SERVER_TIMEOUT`].
    pub(super) fn is_orphan(&self, id: &str) -> bool {
        let Some(queue) = &self.0 else { return false };
        queue.sync.lock().entries.get(id).is_some_and(|change| change.at.elapsed() > SERVER_TIMEOUT)
    }
}

impl Queue {
    fn changes(&self) -> std::io::Result<Vec<Changed>> {
        let mut sync = self.sync.lock();
        let changed = match sync.version {
            0 => self.entries.list()?,
            version => self.entries.changed_since(version)?,
        };
        let mut all = vec![];
        for entry in changed {
            sync.version = sync.version.max(entry.version);
            let stored = sync.entries.get(&entry.id);
            if stored.is_some_and(|change| change.version >= entry.version) {
                // It was changed here.
                continue;
            }
            let change = Change { version: entry.version, at: Instant::now() };
            sync.entries.insert(entry.id.clone(), change);
            all.push(Changed { id: entry.id.clone(), build: read(entry) });
        }
        Ok(all)
    }

    fn put(&self, build: &Build) -> std::io::Result<bool> {
        let claim = self.claim.as_ref().filter(|_| build.state.is_pending());
        // Before, so that there is no build without a claim,
        claim.map_or(Ok(()), Claim::renew)?;
        let put = self.put_entry(build)?;
        if build.state == BuildState::Queued {
            // and after, in case that another server found the queue empty in between.
            claim.map_or(Ok(()), Claim::renew)?;
        }
        Ok(put)
    }

    fn put_entry(&self, build: &Build) -> std::io::Result<bool> {
        let mut sync = self.sync.lock();
        let expected = sync.entries.get(&build.id).map_or(0, |change| change.version);
        let put = self.entries.put(&build.id, expected, &serde_json::to_vec(build)?)?;
        if let Some(version) = put {
            sync.entries.insert(build.id.clone(), Change { version, at: Instant::now() });
        }
        Ok(put.is_some())
    }
}

/// The build of an entry; `None` of one that is deleted or cannot be read.
pub(super) fn read(entry: StateEntry) -> Option<Build> {
    serde_json::from_slice(&entry.bytes?).ok()
}
