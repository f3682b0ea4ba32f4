//! One writer at a time: a lock on a file, which the system gives back when a process dies.
use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::path::Path;

use crate::KbError;
use crate::store::Store;

/// Held until it is dropped.
pub(crate) struct WriterLock(#[expect(dead_code, reason = "holding it is its use")] File);

const NAME: &str = "index.lock";

fn file(dir: &Path) -> Result<File, KbError> {
    let path = dir.join(NAME);
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
        let file = file(dir)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(e)) => Err(KbError::io(dir.join(NAME), "lock", e)),
        }
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
        let file = file(dir)?;
        file.lock().map_err(|e| KbError::io(dir.join(NAME), "lock", e))?;
        Ok(Self(file))
    }
}
