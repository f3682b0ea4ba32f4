//! The place of a base while a backup is restored to it: locks that keep servers and builds out, and
//! the former base, which stands next to it until the restored one has its name.
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use super::{BackupError, tree};
use crate::base::former_of;
use crate::lock_file::{self, BUILD_LOCK, FileLock, SERVER_LOCK};

const LOCKS: [&str; 2] = [SERVER_LOCK, BUILD_LOCK];

/// The base in a folder and those of its workspaces, locked until this is dropped.
pub(super) struct LockedPlace {
    dir: PathBuf,
    /// Whether there was no folder before.
    is_new: bool,
    _locks: Vec<FileLock>,
}

impl LockedPlace {
    /// Locks what is in `dir`, which is made where there is nothing, so that no server and no build
    /// begins there. Does not wait for those that run.
    pub(super) fn take(dir: &Path) -> Result<Self, BackupError> {
        let is_new = !dir.exists();
        fs::create_dir_all(dir).map_err(BackupError::io(dir, "create"))?;
        let mut locks = vec![];
        for name in LOCKS {
            locks.push(lock(dir, name)?);
        }
        let workspaces = dir.join(tree::WORKSPACES);
        if workspaces.is_dir() {
            let failed = || BackupError::io(&workspaces, "read");
            for entry in fs::read_dir(&workspaces).map_err(failed())? {
                let workspace = entry.map_err(failed())?.path();
                if workspace.is_dir() {
                    locks.push(lock(&workspace, BUILD_LOCK)?);
                }
            }
        }
        Ok(Self { dir: dir.to_owned(), is_new, _locks: locks })
    }

    /// Puts a restored base into the place; what is there goes when the new one has its name.
    pub(super) fn put(&self, part: &Path) -> Result<(), BackupError> {
        let (to, former) = (&self.dir, former_of(&self.dir));
        tree::remove(&former)?;
        fs::rename(to, &former).map_err(BackupError::io(to, "rename"))?;
        if let Err(e) = fs::rename(part, to) {
            let _ = fs::rename(&former, to);
            return Err(BackupError::io(part, "rename")(e));
        }
        let folder = to.parent().filter(|parent| !parent.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        let synced = File::open(folder).and_then(|folder| folder.sync_all());
        synced.map_err(BackupError::io(folder, "write"))?;
        tree::remove(&former)
    }

    /// Leaves the place as it was.
    pub(super) fn give_up(self) {
        if self.is_new {
            for name in LOCKS {
                let _ = fs::remove_file(self.dir.join(name));
            }
            let _ = fs::remove_dir(&self.dir);
        }
    }
}

fn lock(dir: &Path, name: &str) -> Result<FileLock, BackupError> {
    let file = lock_file::open(dir, name)?;
    match file.try_lock() {
        Ok(()) => Ok(FileLock(file)),
        Err(TryLockError::WouldBlock) => Err(BackupError::InUse { path: dir.to_owned() }),
        Err(TryLockError::Error(e)) => Err(BackupError::io(&dir.join(name), "lock")(e)),
    }
}

/// Whether a folder has more in it than the locks that a restore has made.
pub(super) fn is_filled(dir: &Path) -> Result<bool, BackupError> {
    if !dir.exists() {
        return Ok(false);
    }
    for entry in fs::read_dir(dir).map_err(BackupError::io(dir, "read"))? {
        let name = entry.map_err(BackupError::io(dir, "read"))?.file_name();
        if !LOCKS.iter().any(|lock| name == **lock) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Gives the former base its name again after a restore that was killed in that moment.
pub(super) fn take_back_former(dir: &Path) -> Result<(), BackupError> {
    let former = former_of(dir);
    if former.exists() && (!dir.exists() || tree::is_empty(dir)?) {
        fs::rename(&former, dir).map_err(BackupError::io(&former, "rename"))?;
    }
    Ok(())
}
