//! One writer at a time: a lock on a file, which the system gives back when a process dies.
use std::fs::TryLockError;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::KbError;
use crate::lock_file::{self, BUILD_LOCK, FileLock, URGENT};
use crate::store::{Leading, Store, Urgency};

/// Held until it is dropped.
pub(crate) struct WriterLock {
    /// Says in this process that it is held.
    _writing: Option<Writing>,
    /// In a replica, the right to write to the shared base; given back before the file.
    _leading: Option<Leading>,
    _file: FileLock,
}

/// Says that this very process holds the lock, which the file does not.
struct Writing(Arc<AtomicUsize>);

impl Writing {
    fn note(store: &Store) -> Self {
        store.writers.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(&store.writers))
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Whether this process holds the lock of a base.
pub(crate) fn is_held_here(store: &Store) -> bool {
    store.writers.load(Ordering::Relaxed) > 0
}

/// How often a build checks whether it is to make room.
const INTERVAL: Duration = Duration::from_millis(100);

impl WriterLock {
    /// The lock, unless another process holds it.
    pub(crate) fn try_take(dir: &Path) -> Result<Option<Self>, KbError> {
        let file = lock_file::open(dir, BUILD_LOCK)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { _writing: None, _leading: None, _file: FileLock(file) })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(e)) => Err(KbError::io(dir.join(BUILD_LOCK), "lock", e)),
        }
    }

    /// Takes the lock from a build, which continues afterwards, or waits for another writer.
    /// Otherwise like [`WriterLock::take_for`].
    pub(crate) fn take_from_build(dir: &Path, store: &Store) -> Result<Self, KbError> {
        if !store.is_writable() {
            return Err(KbError::ReadOnly { dir: dir.to_owned() });
        }
        let _urgent = lock_file::ask_for_room(dir)?;
        let lock = Self::take(dir)?.leading(store, Urgency::Urgent)?;
        store.settle()?;
        Ok(lock)
    }

    /// Notes in the store that this process writes. In a replica also waits until nobody else writes
    /// to the shared base. Blocks the thread.
    pub(crate) fn leading(self, store: &Store, urgency: Urgency) -> Result<Self, KbError> {
        let writing = Some(Writing::note(store));
        Ok(Self { _writing: writing, _leading: store.lead_if_shared(urgency)?, ..self })
    }

    /// Waits for the lock and finishes what the last writer left; an error where the base cannot
    /// be written to. Blocks the thread.
    pub(crate) fn take_for(dir: &Path, store: &Store) -> Result<Self, KbError> {
        if !store.is_writable() {
            return Err(KbError::ReadOnly { dir: dir.to_owned() });
        }
        let lock = Self::take(dir)?.leading(store, Urgency::Normal)?;
        store.settle()?;
        Ok(lock)
    }

    /// Waits for the lock; an error if a restore had it and has put another base into the place.
    /// Blocks the thread.
    pub(crate) fn take(dir: &Path) -> Result<Self, KbError> {
        let file = lock_file::open(dir, BUILD_LOCK)?;
        file.lock().map_err(|e| KbError::io(dir.join(BUILD_LOCK), "lock", e))?;
        if lock_file::is_removed(&file) {
            return Err(KbError::Replaced { dir: dir.to_owned() });
        }
        Ok(Self { _writing: None, _leading: None, _file: FileLock(file) })
    }
}

/// Returns when someone waits whom a build makes room for.
pub(crate) async fn is_wanted(dir: &Path) -> Result<(), KbError> {
    let urgent = lock_file::open(dir, URGENT)?;
    loop {
        tokio::time::sleep(INTERVAL).await;
        match urgent.try_lock() {
            Ok(()) => urgent.unlock().map_err(|e| KbError::io(dir.join(URGENT), "unlock", e))?,
            Err(TryLockError::WouldBlock) => return Ok(()),
            Err(TryLockError::Error(e)) => return Err(KbError::io(dir.join(URGENT), "lock", e)),
        }
    }
}

/// Waits until nobody is waiting whom a build makes room for. Blocks the thread.
pub(crate) fn make_room(dir: &Path) -> Result<(), KbError> {
    let urgent = lock_file::open(dir, URGENT)?;
    urgent.lock().map_err(|e| KbError::io(dir.join(URGENT), "lock", e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_known_to_hold_the_lock_until_it_is_given_back() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        assert!(!is_held_here(&store));
        let lock = WriterLock::take_for(dir.path(), &store).unwrap();
        assert!(is_held_here(&store.whole()));
        drop(lock);
        // Held by another process, as far as the store knows.
        let _lock = WriterLock::take(dir.path()).unwrap();
        assert!(!is_held_here(&store));
    }
}
