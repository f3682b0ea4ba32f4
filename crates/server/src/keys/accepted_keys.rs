//! The keys that the server accepts. Those in the file of a base are compared with it at every request,
//! those in a database regularly; while they cannot be read, those that were read last are accepted.
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::Utc;
use parking_lot::{Mutex, RwLock};
use tokio::sync::watch;

use super::key::Credentials;
use super::stored::{ChangedKey, matches};
use super::{ApiKeys, Key, KeysError};

/// How often the keys of a folder are checked while there are no requests, and a database at all.
const INTERVAL: Duration = Duration::from_millis(500);

/// For how long what was read from a database counts as what is there.
const RECENT: Duration = Duration::from_secs(2);

/// How often it is said that the keys cannot be read.
const WARNING_INTERVAL: Duration = Duration::from_mins(1);

/// How often a database is looked at for requests whose key is not known.
const MIN_INTERVAL: Duration = Duration::from_millis(50);

pub(crate) struct Keys {
    pub(crate) stored: ApiKeys,
    loaded: RwLock<LoadedKeys>,
    /// When the keys were last compared with those that are stored.
    looked: RwLock<Instant>,
    /// When a look for a key that is not known began last.
    again: tokio::sync::Mutex<Option<Instant>>,
    /// When it was said last that the keys cannot be read.
    warned: Mutex<Option<Instant>>,
    /// Counts reloads, so that running answers check whether their key still exists.
    reloads: watch::Sender<u64>,
}

struct LoadedKey {
    key: Arc<Key>,
    hash: blake3::Hash,
}

#[derive(Default)]
struct LoadedKeys {
    version: u64,
    /// Never reset: revoking the last key must not open the server.
    required: bool,
    /// By id.
    keys: HashMap<String, LoadedKey>,
}

impl Keys {
    pub(crate) fn open(stored: ApiKeys) -> Result<Self, KeysError> {
        let (loaded, looked) = (RwLock::default(), RwLock::new(Instant::now()));
        let (again, reloads) = (tokio::sync::Mutex::default(), watch::Sender::new(0));
        let keys = Self { stored, loaded, looked, again, warned: Mutex::default(), reloads };
        keys.try_reload()?;
        Ok(keys)
    }

    /// Whether the database is reached in which the keys are; `None` where they are in a folder.
    pub(crate) fn database(&self) -> Option<bool> {
        let looked = *self.looked.read();
        (!self.stored.are_local()).then(|| looked.elapsed() < RECENT)
    }

    pub(crate) fn are_required(&self) -> bool {
        self.look();
        self.loaded.read().required
    }

    /// The key that a client sent, if it is valid and has not expired.
    pub(crate) fn authenticate(&self, text: &str) -> Option<Arc<Key>> {
        self.look();
        let credentials = Credentials::parse(text)?;
        let loaded = self.loaded.read();
        let LoadedKey { key, hash } = loaded.keys.get(credentials.id)?;
        (matches(&credentials, hash) && !key.has_expired(Utc::now())).then(|| Arc::clone(key))
    }

    /// The key with this id, if it has not expired.
    pub(crate) fn by_id(&self, id: &str) -> Option<Arc<Key>> {
        self.look();
        self.find(id)
    }

    fn find(&self, id: &str) -> Option<Arc<Key>> {
        let loaded = self.loaded.read();
        let key = &loaded.keys.get(id)?.key;
        (!key.has_expired(Utc::now())).then(|| Arc::clone(key))
    }

    /// Returns when the key is revoked or has expired.
    pub(crate) async fn revoked(&self, id: &str) {
        let mut reloads = self.reloads.subscribe();
        while self.find(id).is_some() {
            // A timeout lets the loop notice an expiry, which changes nothing that is stored.
            let _ = tokio::time::timeout(INTERVAL, reloads.changed()).await;
        }
    }

    /// Reads the keys again if they have changed and that costs next to nothing.
    fn look(&self) {
        if self.stored.are_local() {
            self.reload();
        }
    }

    /// Reads the keys again if they have changed. While they cannot be read, those that were read last
    /// are accepted, and reading is tried again.
    pub(crate) fn reload(&self) {
        let Err(e) = self.try_reload() else { return };
        let mut warned = self.warned.lock();
        if warned.is_none_or(|at| at.elapsed() > WARNING_INTERVAL) {
            *warned = Some(Instant::now());
            tracing::error!("the keys cannot be read, and those of before stay valid: {e}");
        }
    }

    fn try_reload(&self) -> Result<(), KeysError> {
        let version = self.loaded.read().version;
        let changed = self.stored.changed_since(version)?;
        // It is known what is there, even where a key cannot be read.
        *self.looked.write() = Instant::now();
        if changed.is_empty() {
            return Ok(());
        }
        let mut loaded = self.loaded.write();
        loaded.required = true;
        let mut unreadable = None;
        for ChangedKey { id, version, key } in changed {
            loaded.version = loaded.version.max(version);
            match key {
                Some(Ok((key, hash))) => {
                    loaded.keys.insert(id, LoadedKey { key: Arc::new(key), hash });
                }
                Some(Err(e)) => unreadable = Some(e),
                None => drop(loaded.keys.remove(&id)),
            }
        }
        drop(loaded);
        self.reloads.send_modify(|reloads| *reloads += 1);
        unreadable.map_or(Ok(()), Err)
    }

    /// Reads the keys again, where they are in a database: another server may just have created the
    /// one that is not known. Those who ask at the same time share a look.
    pub(crate) async fn look_again(self: &Arc<Self>) {
        if self.database() != Some(true) {
            return;
        }
        let arrived = Instant::now();
        let mut last = self.again.lock().await;
        if let Some(at) = *last {
            if at > arrived {
                return;
            }
            tokio::time::sleep(MIN_INTERVAL.saturating_sub(at.elapsed())).await;
        }
        *last = Some(Instant::now());
        let keys = Arc::clone(self);
        let _ = tokio::task::spawn_blocking(move || keys.reload()).await;
    }

    /// Checks the keys regularly, so that a revoked one ends answers that are running.
    pub(crate) async fn watch(self: Arc<Self>) {
        loop {
            tokio::time::sleep(INTERVAL).await;
            let keys = Arc::clone(&self);
            // A database may take its time.
            let _ = tokio::task::spawn_blocking(move || keys.reload()).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::stored::tests::new_key;

    #[test]
    fn a_key_stays_valid_while_what_is_stored_of_it_is_broken() {
        let dir = tempfile::tempdir().unwrap();
        let stored = ApiKeys::for_base(dir.path());
        let (first, text) = stored.create(new_key("chat")).unwrap();
        let keys = Keys::open(ApiKeys::for_base(dir.path())).unwrap();
        let state = halma_engine::BaseState::of_folder(dir.path());
        let entries = state.entries(super::super::KEY_ENTRIES);
        let version = entries.get(&first.id).unwrap().unwrap().version;
        entries.put(&first.id, version, b"{ broken").unwrap();
        for _ in 0..2 {
            assert_eq!(keys.authenticate(&text).unwrap().id, first.id);
        }
        assert!(Keys::open(ApiKeys::for_base(dir.path())).is_err());
        let (second, other) = stored.create(new_key("chat")).unwrap();
        assert_eq!(keys.authenticate(&other).unwrap().id, second.id);
        stored.revoke(&first.id).unwrap();
        assert!(keys.authenticate(&text).is_none() && keys.are_required());
    }
}
