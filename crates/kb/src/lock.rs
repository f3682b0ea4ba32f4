//! One writer at a time: a lock on a file, which the system gives back when a process dies.
use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use crate::KbError;
use crate::store::Store;

/// Held until it is dropped.
pub(crate) struct WriterLock(#[expect(dead_code, reason = "holding it is its use")] File);

const NAME: &str = "index.lock";

/// Locked, together with others, by those whom a build makes room for.
const URGENT: &str = "urgent.lock";

/// How often a build checks whether it is to make room.
const INTERVAL: Duration = Duration::from_millis(100);

fn file(dir: &Path, name: &str) -> Result<File, KbError> {
    let path = dir.join(name);
    let opened = File::options().create(true).truncate(false).write(true).open(&path);
    opened.map_err(|e| match e.kind() {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            KbError::ReadOnly { dir: dir.to_owned() }
        }
        _ => KbError::io(path, "open", e),
    })
}

impl WriterLock {
    /// The lock, unless another process holds it.
    pub(crate) fn try_take(dir: &Path) -> Result<Option<Self>, KbError> {
        let file = file(dir, NAME)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(e)) => Err(KbError::io(dir.join(NAME), "lock", e)),
        }
    }

    /// Takes the lock from a build, which continues afterwards, or waits for another writer.
    /// Otherwise like [`WriterLock::take_for`].
    pub(crate) fn take_from_build(dir: &Path, store: &Store) -> Result<Self, KbError> {
        if !store.is_writable() {
            return Err(KbError::ReadOnly { dir: dir.to_owned() });
        }
        let urgent = file(dir, URGENT)?;
        urgent.lock_shared().map_err(|e| KbError::io(dir.join(URGENT), "lock", e))?;
        Self::take_for(dir, store)
    }

    /// Waits for the lock and finishes what the last writer left; an error where the base cannot
    /// be written to. Blocks the thread.
    pub(crate) fn take_for(dir: &Path, store: &Store) -> Result<Self, KbError> {
        if !store.is_writable() {
            return Err(KbError::ReadOnly { dir: dir.to_owned() });
        }
        let lock = Self::take(dir)?;
        store.settle()?;
        Ok(lock)
    }

    /// Waits for the lock. Blocks the thread.
    pub(crate) fn take(dir: &Path) -> Result<Self, KbError> {
        let file = file(dir, NAME)?;
        file.lock().map_err(|e| KbError::io(dir.join(NAME), "lock", e))?;
        Ok(Self(file))
    }
}

/// Returns when someone waits whom a build makes room for.
pub(crate) async fn is_wanted(dir: &Path) -> Result<(), KbError> {
    let urgent = file(dir, URGENT)?;
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
    let urgent = file(dir, URGENT)?;
    urgent.lock().map_err(|e| KbError::io(dir.join(URGENT), "lock", e))
}
