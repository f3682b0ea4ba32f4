//! The keys as the server sees them: read again when the file has changed.
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use chrono::Utc;
use tokio::sync::watch;

use super::file::fits;
use super::key::Credentials;
use super::{Key, KeyFile};

/// How often the file is looked at while nobody asks anything.
const EVERY: Duration = Duration::from_millis(500);

pub(crate) struct Keys {
    file: KeyFile,
    known: RwLock<Known>,
    /// Counts readings, so that running answers look whether their key is still there.
    readings: watch::Sender<u64>,
}

#[derive(Default)]
struct Known {
    stamp: Option<(SystemTime, u64)>,
    /// Once required, always: a file that went away opens no door.
    required: bool,
    keys: HashMap<String, (Arc<Key>, blake3::Hash)>,
}

impl Keys {
    pub(crate) fn new(file: KeyFile) -> Self {
        let keys = Self { file, known: RwLock::default(), readings: watch::Sender::new(0) };
        keys.look();
        keys
    }

    pub(crate) fn file(&self) -> &KeyFile {
        &self.file
    }

    pub(crate) fn are_required(&self) -> bool {
        self.look();
        self.known.read().unwrap_or_else(PoisonError::into_inner).required
    }

    /// The key that a client sent, if it is one and not over.
    pub(crate) fn of(&self, text: &str) -> Option<Arc<Key>> {
        self.look();
        let credentials = Credentials::parse(text)?;
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let (key, hash) = known.keys.get(credentials.id)?;
        (fits(&credentials, hash) && !key.is_over(Utc::now())).then(|| Arc::clone(key))
    }

    /// The key of an id, if it is not over.
    pub(crate) fn by_id(&self, id: &str) -> Option<Arc<Key>> {
        self.look();
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.keys.get(id).map(|(key, _)| Arc::clone(key)).filter(|key| !key.is_over(Utc::now()))
    }

    fn holds(&self, id: &str) -> bool {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.keys.get(id).is_some_and(|(key, _)| !key.is_over(Utc::now()))
    }

    /// Returns when the key is revoked or over.
    pub(crate) async fn gone(&self, id: &str) {
        let mut readings = self.readings.subscribe();
        while self.holds(id) {
            // The sender lives as long as `self`; what is over is seen at the next look.
            let _ = tokio::time::timeout(EVERY, readings.changed()).await;
        }
    }

    /// Reads the file again if it has changed. A file that cannot be read lets nobody in.
    pub(crate) fn look(&self) {
        let stamp = self.file.stamp();
        if self.known.read().unwrap_or_else(PoisonError::into_inner).stamp == stamp {
            return;
        }
        let hashed = self.file.hashed().unwrap_or_else(|e| {
            tracing::error!("{e}");
            vec![]
        });
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.required |= stamp.is_some();
        known.stamp = stamp;
        let entry = |(key, hash): (Key, _)| (key.id.clone(), (Arc::new(key), hash));
        known.keys = hashed.into_iter().map(entry).collect();
        drop(known);
        self.readings.send_modify(|readings| *readings += 1);
    }

    /// Looks at the file now and then, for the sake of answers that are running.
    pub(crate) async fn watch(&self) {
        loop {
            tokio::time::sleep(EVERY).await;
            self.look();
        }
    }
}
