//! The keys that the server accepts, reloaded when the key file changes.
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};
use std::time::{Duration, SystemTime};

use chrono::Utc;
use tokio::sync::watch;

use super::file::matches;
use super::key::Credentials;
use super::{Key, KeyFile};

/// How often the file is checked while there are no requests.
const INTERVAL: Duration = Duration::from_millis(500);

pub(crate) struct Keys {
    file: KeyFile,
    loaded: RwLock<LoadedKeys>,
    /// Counts reloads, so that running answers check whether their key still exists.
    reloads: watch::Sender<u64>,
}

struct LoadedKey {
    key: Arc<Key>,
    hash: blake3::Hash,
}

#[derive(Default)]
struct LoadedKeys {
    stamp: Option<(SystemTime, u64)>,
    /// Never reset: removing the file must not open the server.
    required: bool,
    /// By id.
    keys: HashMap<String, LoadedKey>,
}

impl Keys {
    pub(crate) fn new(file: KeyFile) -> Self {
        let keys = Self { file, loaded: RwLock::default(), reloads: watch::Sender::new(0) };
        keys.reload();
        keys
    }

    pub(crate) fn file(&self) -> &KeyFile {
        &self.file
    }

    pub(crate) fn are_required(&self) -> bool {
        self.reload();
        self.loaded().required
    }

    /// The key that a client sent, if it is valid and has not expired.
    pub(crate) fn authenticate(&self, text: &str) -> Option<Arc<Key>> {
        self.reload();
        let credentials = Credentials::parse(text)?;
        let loaded = self.loaded();
        let LoadedKey { key, hash } = loaded.keys.get(credentials.id)?;
        (matches(&credentials, hash) && !key.has_expired(Utc::now())).then(|| Arc::clone(key))
    }

    /// The key with this id, if it has not expired.
    pub(crate) fn by_id(&self, id: &str) -> Option<Arc<Key>> {
        self.reload();
        self.find(id)
    }

    fn find(&self, id: &str) -> Option<Arc<Key>> {
        let loaded = self.loaded();
        let key = &loaded.keys.get(id)?.key;
        (!key.has_expired(Utc::now())).then(|| Arc::clone(key))
    }

    fn loaded(&self) -> RwLockReadGuard<'_, LoadedKeys> {
        self.loaded.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns when the key is revoked or has expired.
    pub(crate) async fn revoked(&self, id: &str) {
        let mut reloads = self.reloads.subscribe();
        while self.find(id).is_some() {
            // A timeout lets the loop notice an expiry, which does not change the file.
            let _ = tokio::time::timeout(INTERVAL, reloads.changed()).await;
        }
    }

    /// Reads the file again if it has changed. While it cannot be read, no key is accepted.
    pub(crate) fn reload(&self) {
        let stamp = self.file.stamp();
        if self.loaded().stamp == stamp {
            return;
        }
        let hashed = self.file.hashed().unwrap_or_else(|e| {
            tracing::error!("{e}");
            vec![]
        });
        let mut loaded = self.loaded.write().unwrap_or_else(PoisonError::into_inner);
        loaded.required |= stamp.is_some();
        loaded.stamp = stamp;
        let entry =
            |(key, hash): (Key, _)| (key.id.clone(), LoadedKey { key: Arc::new(key), hash });
        loaded.keys = hashed.into_iter().map(entry).collect();
        drop(loaded);
        self.reloads.send_modify(|reloads| *reloads += 1);
    }

    /// Checks the file regularly, so that a revoked key ends answers that are running.
    pub(crate) async fn watch(&self) {
        loop {
            tokio::time::sleep(INTERVAL).await;
            self.reload();
        }
    }
}
