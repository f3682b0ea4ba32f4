//! Claims of workspaces besides the default one that have builds to do: an entry each in the database
//! of the default workspace, so that one statement tells any server of all of them. A claim is renewed
//! while a server does the builds; of one that is not, another server takes over the builds.
use std::io;

use halma_engine::{BaseState, Entries, StateEntry};
use parking_lot::Mutex;

/// The kind of the entries. The id of one is the folder of the workspace; it holds the name of the
/// server that does the builds, or nothing when none does.
const CLAIMS: &str = "workspace builds";

/// The claims of all workspaces. Calls block; none may be made on a thread that drives asynchronous
/// work.
#[derive(Clone)]
pub(crate) struct Claims {
    entries: Entries,
}

/// A claim as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ClaimRecord {
    pub(crate) folder: String,
    pub(crate) version: u64,
    /// The server that does the builds, empty when none does; `None` once nothing is to be done.
    pub(crate) server: Option<String>,
}

/// The claim of one workspace as one server writes it.
pub(crate) struct Claim {
    claims: Claims,
    folder: String,
    server: String,
    /// Of the last time that this server wrote it.
    version: Mutex<u64>,
}

impl Claims {
    /// In the database of the default workspace.
    pub(crate) fn new(state: &BaseState) -> Self {
        Self { entries: state.entries(CLAIMS) }
    }

    /// The claim of a workspace for this server to write.
    pub(crate) fn for_folder(&self, folder: &str, server: &str) -> Claim {
        let (folder, server) = (folder.to_owned(), server.to_owned());
        Claim { claims: self.clone(), folder, server, version: Mutex::default() }
    }

    /// What has changed after a version, in the order of the changes: one short statement.
    pub(crate) fn changed_since(&self, version: u64) -> io::Result<Vec<ClaimRecord>> {
        let changed = self.entries.changed_since(version)?;
        let record = |StateEntry { id, version, bytes }| {
            let server = bytes.map(|name| String::from_utf8_lossy(&name).into_owned());
            ClaimRecord { folder: id, version, server }
        };
        Ok(changed.into_iter().map(record).collect())
    }

    /// Writes the claim if no one has since this version; the new version then.
    pub(crate) fn take(&self, folder: &str, version: u64, server: &str) -> io::Result<Option<u64>> {
        self.entries.put(folder, version, server.as_bytes())
    }

    /// Removes the claim if no one has written it since this version.
    pub(crate) fn remove(&self, folder: &str, version: u64) -> io::Result<()> {
        self.entries.delete(folder, version).map(drop)
    }
}

impl Claim {
    /// Says that there is something to do and that this server does it.
    pub(super) fn renew(&self) -> io::Result<()> {
        self.write(&self.server)
    }

    /// Says that there is something to do for any other server.
    pub(super) fn release(&self) -> io::Result<()> {
        self.write("")
    }

    fn write(&self, server: &str) -> io::Result<()> {
        let mut version = self.version.lock();
        if *version > 0
            && let Some(renewed) = self.claims.take(&self.folder, *version, server)?
        {
            *version = renewed;
            return Ok(());
        }
        // Another server has written it, or this one has not yet.
        let current = self.claims.entries.get(&self.folder)?.map_or(0, |entry| entry.version);
        // One that another server writes at this moment is as new as it would be.
        *version = self.claims.take(&self.folder, current, server)?.unwrap_or(0);
        Ok(())
    }

    /// Says that there is nothing to do, unless another server has said since that there is.
    pub(super) fn remove(&self) -> io::Result<()> {
        match std::mem::take(&mut *self.version.lock()) {
            0 => Ok(()),
            version => self.claims.remove(&self.folder, version),
        }
    }
}
