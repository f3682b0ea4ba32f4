//! What a base keeps in addition to its documents, such as traces, builds and keys: in the file `state.db` of
//! its folder, or, of a base that is shared, in its database, where all its machines find it. Calls
//! block; none may be made on a thread that drives asynchronous work.
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use halma_store::pg::{PgError, States};
use halma_store::seal::{KeyFolder, seal, unseal};
use halma_store::{Cap, Spent, SpentOn, State, StateEntry};

use crate::error::EngineError;
use crate::shared::{SharedSpace, no_keys};

/// The folder below that of the keys of a shared base.
const FOLDER: &str = "values";

/// How often an entry is written again while the database is not reached, and how long after.
const ATTEMPTS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(500);

/// Where a base keeps its state.
#[derive(Clone)]
pub enum BaseState {
    Folder(Arc<State>),
    Shared(SharedSpace),
}

impl BaseState {
    /// That of a base in a folder.
    #[must_use]
    pub fn of_folder(dir: &Path) -> Self {
        Self::Folder(Arc::new(State::new(dir)))
    }

    /// The workspace in a database, of a base that is shared.
    #[must_use]
    pub fn space(&self) -> Option<&SharedSpace> {
        if let Self::Shared(space) = self { Some(space) } else { None }
    }

    /// As it is called in messages.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Folder(state) => state.file().display().to_string(),
            Self::Shared(space) => space.name().to_owned(),
        }
    }

    /// The entries of a kind that hold no words of documents.
    #[must_use]
    pub fn entries(&self, kind: &'static str) -> Entries {
        Entries { state: self.clone(), kind, keys: None }
    }

    /// The entries of a kind that may hold words of documents. Of a base that is shared they are sealed
    /// before they leave this machine, each under a key of its own in the folder `keys`, so that wiping
    /// the key reaches every copy in the database; kinds of the same folder share the keys of equal ids.
    pub fn entries_with_words(
        &self,
        kind: &'static str,
        keys: &str,
    ) -> Result<Entries, EngineError> {
        let entries = self.entries(kind);
        let Some(space) = self.space() else { return Ok(entries) };
        let folder = space.folder().ok_or_else(|| no_keys(space.name()))?;
        Ok(Entries { keys: Some(KeyFolder::new(&folder.join(FOLDER).join(keys))), ..entries })
    }

    /// Adds to what a subject has used on a day (days since 1970-01-01), unless that would exceed
    /// `cap`; `false` then, and nothing is added. After an error it may have been added.
    pub fn add(&self, subject: &str, day: i32, spent: Spent, cap: Cap) -> io::Result<bool> {
        match self {
            Self::Folder(state) => state.add(subject, day, spent, cap),
            Self::Shared(space) => {
                let (usage, subject) = (space.home().usage(), subject.to_owned());
                let adding = async move { usage.add(&subject, day, spent, cap).await };
                space.wait(adding).map_err(io::Error::other)
            }
        }
    }

    /// Adds to what a subject has used on a day, whatever its cap. What cannot be added is logged; in a
    /// database it is added in the background, again while that is not reached.
    pub fn spend(&self, subject: &str, day: i32, spent: Spent) {
        match self {
            Self::Folder(state) => {
                if let Err(e) = state.add(subject, day, spent, Cap::UNLIMITED) {
                    tracing::error!("usage is not counted: {e}");
                }
            }
            Self::Shared(space) => space.spend(subject.to_owned(), day, spent),
        }
    }

    /// What a subject has used on a day.
    pub fn spent(&self, subject: &str, day: i32) -> io::Result<Spent> {
        match self {
            Self::Folder(state) => state.spent(subject, day),
            Self::Shared(space) => {
                let (usage, subject) = (space.home().usage(), subject.to_owned());
                let reading = async move { usage.spent(&subject, day).await };
                space.wait(reading).map_err(io::Error::other)
            }
        }
    }

    /// What every subject has used on each day.
    pub fn used(&self) -> io::Result<Vec<SpentOn>> {
        match self {
            Self::Folder(state) => state.used(),
            Self::Shared(space) => {
                let usage = space.home().usage();
                space.wait(async move { usage.list().await }).map_err(io::Error::other)
            }
        }
    }
}

/// Whether the same may succeed a little later.
pub fn is_transient(error: &io::Error) -> bool {
    error.get_ref().and_then(|source| source.downcast_ref()).is_some_and(PgError::is_transient)
}

/// The entries of one kind of a base.
#[derive(Clone)]
pub struct Entries {
    state: BaseState,
    kind: &'static str,
    /// With which the bytes are sealed in a database.
    keys: Option<KeyFolder>,
}

impl Entries {
    /// Whether no other machine reads or writes them.
    #[must_use]
    pub fn are_local(&self) -> bool {
        self.state.space().is_none()
    }

    /// Where they are, as it is called in messages.
    #[must_use]
    pub fn place(&self) -> String {
        self.state.name()
    }

    /// Writes an entry that nobody else writes. Tries again while the database is not reached.
    pub fn insert(&self, id: &str, bytes: &[u8]) -> io::Result<()> {
        for attempt in 1.. {
            match self.put(id, 0, bytes) {
                Err(e) if is_transient(&e) && attempt < ATTEMPTS => std::thread::sleep(PAUSE),
                // Without a version the first attempt had arrived.
                written => return written.map(drop),
            }
        }
        Ok(())
    }

    /// Writes an entry if it still has the `expected` version, 0 for one that is not there, and
    /// returns its new version; `None` if another program was faster.
    pub fn put(&self, id: &str, expected: u64, bytes: &[u8]) -> io::Result<Option<u64>> {
        match &self.state {
            BaseState::Folder(state) => state.put(self.kind, id, expected, bytes),
            BaseState::Shared(space) => {
                let (kind, bytes, id) = (self.kind, self.seal(id, bytes)?, id.to_owned());
                ask(
                    space,
                    move |states| async move { states.put(kind, &id, expected, &bytes).await },
                )
            }
        }
    }

    pub fn get(&self, id: &str) -> io::Result<Option<StateEntry>> {
        Ok(self.open(self.read(id)?)?.filter(|entry| entry.bytes.is_some()))
    }

    /// An entry as it is stored, sealed or not.
    fn read(&self, id: &str) -> io::Result<Option<StateEntry>> {
        match &self.state {
            BaseState::Folder(state) => state.get(self.kind, id),
            BaseState::Shared(space) => {
                let (kind, id) = (self.kind, id.to_owned());
                ask(space, move |states| async move { states.get(kind, &id).await })
            }
        }
    }

    /// All entries, by id.
    pub fn list(&self) -> io::Result<Vec<StateEntry>> {
        let kind = self.kind;
        let entries = match &self.state {
            BaseState::Folder(state) => state.list(kind)?,
            BaseState::Shared(space) => {
                ask(space, move |states| async move { states.list(kind).await })?
            }
        };
        self.open_all(entries)
    }

    /// The last entries by id, at most `limit`, those with the larger ids first; only those before
    /// the id `before`.
    pub fn last(&self, before: Option<&str>, limit: u32) -> io::Result<Vec<StateEntry>> {
        let kind = self.kind;
        let entries = match &self.state {
            BaseState::Folder(state) => state.last(kind, before, limit)?,
            BaseState::Shared(space) => {
                let before = before.map(str::to_owned);
                ask(space, move |states| async move {
                    states.last(kind, before.as_deref(), limit).await
                })?
            }
        };
        self.open_all(entries)
    }

    /// The ids of all entries but the last `count` by id.
    pub fn ids_before_last(&self, count: u32) -> io::Result<Vec<String>> {
        let kind = self.kind;
        match &self.state {
            BaseState::Folder(state) => state.ids_before_last(kind, count),
            BaseState::Shared(space) => {
                ask(space, move |states| async move { states.ids_before_last(kind, count).await })
            }
        }
    }

    /// What has changed after a version, in the order of the changes; deleted entries have no bytes.
    /// To be asked again with the largest version that was returned.
    pub fn changed_since(&self, version: u64) -> io::Result<Vec<StateEntry>> {
        let kind = self.kind;
        let changed = match &self.state {
            BaseState::Folder(state) => state.changed_since(kind, version)?,
            BaseState::Shared(space) => {
                ask(space, move |states| async move { states.changed_since(kind, version).await })?
            }
        };
        self.open_all(changed)
    }

    /// Deletes an entry if it still has the `expected` version; `false` if not.
    pub fn delete(&self, id: &str, expected: u64) -> io::Result<bool> {
        match &self.state {
            BaseState::Folder(state) => state.delete(self.kind, id, expected),
            BaseState::Shared(space) => {
                let (kind, id) = (self.kind, id.to_owned());
                ask(space, move |states| async move { states.delete(kind, &id, expected).await })
            }
        }
    }

    /// Removes an entry; the key with which it is sealed is destroyed first. Whether it was there.
    pub fn remove(&self, id: &str) -> io::Result<bool> {
        if let Some(keys) = &self.keys {
            keys.wipe(id).map_err(io::Error::other)?;
        }
        loop {
            let Some(entry) = self.read(id)? else { return Ok(false) };
            if self.delete(id, entry.version)? {
                return Ok(true);
            }
        }
    }

    /// Brings what was removed out of the file and its log.
    pub fn erase_removed(&self) -> io::Result<()> {
        match &self.state {
            BaseState::Folder(state) => state.empty_log(),
            BaseState::Shared(_) => Ok(()),
        }
    }

    fn seal(&self, id: &str, bytes: &[u8]) -> io::Result<Vec<u8>> {
        let Some(keys) = &self.keys else { return Ok(bytes.to_vec()) };
        let key = keys.give(id).map_err(io::Error::other)?;
        let mut sealed = vec![];
        seal(&key, bytes, &mut sealed);
        Ok(sealed)
    }

    fn open_all(&self, entries: Vec<StateEntry>) -> io::Result<Vec<StateEntry>> {
        entries.into_iter().filter_map(|entry| self.open(Some(entry)).transpose()).collect()
    }

    /// An entry whose key was wiped is as good as removed.
    fn open(&self, entry: Option<StateEntry>) -> io::Result<Option<StateEntry>> {
        let (Some(StateEntry { id, version, bytes }), Some(keys)) = (&entry, &self.keys) else {
            return Ok(entry);
        };
        let key = if bytes.is_some() { keys.key(id).map_err(io::Error::other)? } else { None };
        let opened = bytes.as_ref().zip(key).map(|(bytes, key)| unseal(&key, bytes)).transpose();
        let bytes = opened.map_err(|e| {
            let what = format!("the entry `{id}` of `{}` in {}: {e}", self.kind, self.place());
            io::Error::new(io::ErrorKind::InvalidData, what)
        })?;
        Ok(Some(StateEntry { id: id.clone(), version: *version, bytes }))
    }
}

fn ask<T, F>(space: &SharedSpace, question: impl FnOnce(States) -> F) -> io::Result<T>
where
    T: Send + 'static,
    F: Future<Output = Result<T, PgError>> + Send + 'static,
{
    space.wait(question(space.home().states())).map_err(io::Error::other)
}
