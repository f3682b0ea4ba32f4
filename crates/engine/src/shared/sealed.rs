//! Entries that hold words of documents: sealed before they leave this machine, each under a key of
//! its own in the folder of keys, so that wiping the key reaches every copy in the database.
use std::io;
use std::time::Duration;

use halma_pg::{PgError, StateEntry, States};
use halma_seal::{KeyFolder, SealError, seal, unseal};

use super::SharedSpace;
use crate::error::EngineError;

/// The folder below that of the keys of a base.
const FOLDER: &str = "values";

/// How often an entry is written again while the database is not reached, and how long after.
const ATTEMPTS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(500);

/// The entries of one kind of a workspace. Calls block; none may be made on a thread that drives
/// asynchronous work.
#[derive(Clone)]
pub struct SealedEntries {
    space: SharedSpace,
    kind: &'static str,
    keys: KeyFolder,
}

/// An entry as it was sealed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedEntry {
    pub id: String,
    /// Of its last change; see [`halma_pg::StateEntry`].
    pub version: u64,
    /// `None` once it is removed.
    pub bytes: Option<Vec<u8>>,
}

impl SealedEntries {
    /// The entries of a kind. Their keys are in the folder `keys`; kinds of the same folder share
    /// the keys of equal ids.
    pub fn new(space: &SharedSpace, kind: &'static str, keys: &str) -> Result<Self, EngineError> {
        let folder = space.keys.as_ref().ok_or_else(|| super::no_keys(space.name()))?;
        let keys = KeyFolder::new(&folder.join(FOLDER).join(keys));
        Ok(Self { space: space.clone(), kind, keys })
    }

    /// Writes an entry that nobody else writes. Tries again while the database is not reached.
    pub fn insert(&self, id: &str, bytes: &[u8]) -> io::Result<()> {
        let sealed = self.seal(id, bytes)?;
        for attempt in 1.. {
            match self.write(id, 0, sealed.clone()) {
                Err(e) if e.is_transient() && attempt < ATTEMPTS => std::thread::sleep(PAUSE),
                // Without a version the first attempt had arrived.
                written => return written.map(drop).map_err(io::Error::other),
            }
        }
        Ok(())
    }

    /// Writes an entry if it still has the `expected` version, 0 for one that is not there, and
    /// returns its new version; `None` if another program was faster.
    pub fn put(&self, id: &str, expected: u64, bytes: &[u8]) -> io::Result<Option<u64>> {
        let sealed = self.seal(id, bytes)?;
        self.write(id, expected, sealed).map_err(io::Error::other)
    }

    pub fn get(&self, id: &str) -> io::Result<Option<SealedEntry>> {
        let (kind, wanted) = (self.kind, id.to_owned());
        let entry = self.ask(move |states| async move { states.get(kind, &wanted).await })?;
        let opened = entry.map(|entry| self.open(entry)).transpose()?;
        Ok(opened.filter(|entry| entry.bytes.is_some()))
    }

    /// All entries, by id.
    pub fn list(&self) -> io::Result<Vec<SealedEntry>> {
        let kind = self.kind;
        let entries = self.ask(move |states| async move { states.list(kind).await })?;
        entries.into_iter().map(|entry| self.open(entry)).collect()
    }

    /// What has changed after a version, in the order of the changes.
    pub fn changed_since(&self, version: u64) -> io::Result<Vec<SealedEntry>> {
        let kind = self.kind;
        let changed =
            self.ask(move |states| async move { states.changed_since(kind, version).await })?;
        changed.into_iter().map(|entry| self.open(entry)).collect()
    }

    /// Removes an entry; its key is destroyed first. Whether it was there.
    pub fn remove(&self, id: &str) -> io::Result<bool> {
        self.keys.wipe(id).map_err(sealing)?;
        let (kind, id) = (self.kind, id.to_owned());
        self.ask(move |states| async move {
            while let Some(entry) = states.get(kind, &id).await? {
                if states.delete(kind, &id, entry.version).await? {
                    return Ok(true);
                }
            }
            Ok(false)
        })
    }

    fn write(&self, id: &str, expected: u64, sealed: Vec<u8>) -> Result<Option<u64>, PgError> {
        let (kind, id, states) = (self.kind, id.to_owned(), self.space.home().states());
        self.space.wait(async move { states.put(kind, &id, expected, &sealed).await })
    }

    fn ask<T, F>(&self, question: impl FnOnce(States) -> F) -> io::Result<T>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, PgError>> + Send + 'static,
    {
        self.space.wait(question(self.space.home().states())).map_err(io::Error::other)
    }

    fn seal(&self, id: &str, bytes: &[u8]) -> io::Result<Vec<u8>> {
        let key = self.keys.give(id).map_err(sealing)?;
        let mut sealed = vec![];
        seal(&key, bytes, &mut sealed);
        Ok(sealed)
    }

    /// An entry whose key was wiped is as good as removed.
    fn open(&self, entry: StateEntry) -> io::Result<SealedEntry> {
        let StateEntry { id, version, bytes } = entry;
        let key = if bytes.is_some() { self.keys.key(&id).map_err(sealing)? } else { None };
        let bytes = bytes.zip(key).map(|(bytes, key)| unseal(&key, &bytes)).transpose();
        let bytes = bytes.map_err(|e| {
            let what = format!("the entry `{id}` of `{}` in {}: {e}", self.kind, self.space.name());
            io::Error::new(io::ErrorKind::InvalidData, what)
        })?;
        Ok(SealedEntry { id, version, bytes })
    }
}

fn sealing(error: SealError) -> io::Error {
    io::Error::other(error)
}
