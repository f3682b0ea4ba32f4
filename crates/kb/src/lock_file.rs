//! Files that processes on one machine lock; the system gives a lock back when a process dies.
use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::path::Path;

use crate::KbError;

/// Locked by the server of a base while it runs.
pub const SERVER_LOCK: &str = "serve.lock";

/// Locked by what writes to a base: a build, a deletion.
pub const BUILD_LOCK: &str = "index.lock";

/// Locked, together with others, by those whom a build makes room for.
pub(crate) const URGENT: &str = "urgent.lock";

/// A locked file, which is unlocked at its end. Closing the file would not be enough: a child process
/// that has just been forked has it open as well.
pub struct FileLock(pub File);

impl Drop for FileLock {
    fn drop(&mut self) {
        // What cannot be unlocked is closed.
        let _ = self.0.unlock();
    }
}

/// Opens a file to be locked; it is made where there is none.
pub(crate) fn open(dir: &Path, name: &str) -> Result<File, KbError> {
    let path = dir.join(name);
    let opened = File::options().create(true).truncate(false).write(true).open(&path);
    opened.map_err(|e| match e.kind() {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            KbError::ReadOnly { dir: dir.to_owned() }
        }
        _ => KbError::io(path, "open", e),
    })
}

/// Whether an open file has no name any more.
#[cfg(unix)]
pub(crate) fn is_removed(file: &File) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    file.metadata().is_ok_and(|about| about.nlink() == 0)
}

/// An open file keeps its name there.
#[cfg(not(unix))]
pub(crate) fn is_removed(_: &File) -> bool {
    false
}

/// Lets a build make room, as long as the file lives.
pub(crate) fn ask_for_room(dir: &Path) -> Result<File, KbError> {
    let urgent = open(dir, URGENT)?;
    urgent.lock_shared().map_err(|e| KbError::io(dir.join(URGENT), "lock", e))?;
    Ok(urgent)
}

/// Looks whether anyone on this machine asks for room.
pub(crate) struct Room(File);

impl Room {
    pub(crate) fn open(dir: &Path) -> Result<Self, KbError> {
        open(dir, URGENT).map(Self)
    }

    /// Not if it cannot be found out.
    pub(crate) fn is_asked_for(&self) -> bool {
        match self.0.try_lock() {
            Ok(()) => {
                // Its end gives it back as well.
                let _ = self.0.unlock();
                false
            }
            Err(e) => matches!(e, TryLockError::WouldBlock),
        }
    }
}
