//! A copy of a base, or of a server's folder with all its workspaces, while it is used. Every LMDB
//! environment is copied as of one moment with its keys; other files as they are found. The
//! lexical index may be of another moment than the store: `restore` compares the two.
use std::fs::{self, File, TryLockError};
use std::path::{Component, Path, PathBuf};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use halma_store::seal::{copy_environment, is_environment};
use serde::Serialize;

use super::BackupError;
use super::archive::{self, ABOUT, AboutBackup};
use super::tree::{self, FolderKind, Mirror};
use crate::base::store_dir;
use crate::lock_file::FileLock;

/// What a backup did.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct BackupReport {
    /// LMDB environments: stores of bases and caches of replies.
    pub environments: u64,
    /// Values in them, and how many were written or removed.
    pub values: u64,
    pub changed_values: u64,
    /// Other files, and how many were written or removed.
    pub files: u64,
    pub changed_files: u64,
    pub elapsed_ms: f64,
}

/// Backs up the folder of a base or of a server to a folder, which is brought up to date if it is
/// an earlier backup of the same, or to a file with the extension `tar`. Others may read and write
/// meanwhile; a process that dies leaves an earlier backup that can be restored.
pub fn backup(of: &Path, to: &Path) -> Result<BackupReport, BackupError> {
    let began = Instant::now();
    if !is_environment(&store_dir(of)) && !of.join(tree::WORKSPACES).is_dir() {
        return Err(BackupError::NoBase { path: of.to_owned() });
    }
    let real = of.canonicalize().map_err(BackupError::io(of, "open"))?;
    let absolute = std::path::absolute(to).map_err(BackupError::io(to, "open"))?;
    if resolve(&absolute).starts_with(&real) {
        return Err(BackupError::Inside { path: to.to_owned() });
    }
    let is_archive = archive::is_named_one(to);
    let former = archive::about(to).filter(|_| is_archive);
    if to.exists() && former.is_none() && (is_archive || !to.is_dir()) {
        return Err(BackupError::NotAnArchive { path: to.to_owned() });
    }
    if let Some(former) = former.filter(|former| former.of != real.display().to_string()) {
        return Err(BackupError::OfAnother { path: to.to_owned(), of: former.of });
    }
    tree::refuse_links(&real, FolderKind::Base)?;
    if let Some(parent) = absolute.parent() {
        fs::create_dir_all(parent).map_err(BackupError::io(parent, "create"))?;
    }
    let mut report = if is_archive {
        let folder = to.with_added_extension("part.d");
        tree::remove(&folder)?;
        let report = write(&real, &folder, &folder)?;
        archive::pack(&folder, to)?;
        tree::remove(&folder)?;
        report
    } else if to.join(ABOUT).is_file() {
        write(&real, to, to)?
    } else if to.exists() && !tree::is_empty(to)? {
        return Err(BackupError::NotABackup { path: to.to_owned() });
    } else {
        // A new one has its name when it is complete.
        let part = to.with_added_extension("part");
        if part.exists() && !part.join(ABOUT).is_file() && !tree::is_empty(&part)? {
            return Err(BackupError::NotABackup { path: part });
        }
        tree::remove(&part)?;
        let report = write(&real, &part, to)?;
        tree::remove(to)?;
        fs::rename(&part, to).map_err(BackupError::io(to, "create"))?;
        report
    };
    report.elapsed_ms = began.elapsed().as_secs_f64() * 1e3;
    Ok(report)
}

/// Where an absolute path leads, with links and `..` resolved as far as it exists; the rest is not
/// there, so `..` in it leads back to the folder before.
fn resolve(absolute: &Path) -> PathBuf {
    let mut resolved = PathBuf::new();
    for component in absolute.components() {
        if component == Component::ParentDir {
            resolved.pop();
        } else {
            resolved.push(component);
        }
        if let Ok(real) = resolved.canonicalize() {
            resolved = real;
        }
    }
    resolved
}

fn write(of: &Path, to: &Path, name: &Path) -> Result<BackupReport, BackupError> {
    fs::create_dir_all(to).map_err(BackupError::io(to, "create"))?;
    let _lock = lock(to, name)?;
    let source = of.display().to_string();
    if let Some(former) = about(to)
        && former.of != source
    {
        return Err(BackupError::OfAnother { path: name.to_owned(), of: former.of });
    }
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let mut about = AboutBackup { of: source, time, complete: false };
    put(to, &about)?;
    let mut report = BackupReport::default();
    let mut environment = |from: &Path, to: &Path| -> Result<(), BackupError> {
        let copied = copy_environment(from, to)?;
        report.environments += 1;
        report.values += copied.values;
        report.changed_values += copied.changed;
        Ok(())
    };
    let mut mirror = Mirror::new(&mut environment);
    mirror.folder(FolderKind::Base, of, to)?;
    (report.files, report.changed_files) = (mirror.files, mirror.changed);
    about.complete = true;
    put(to, &about)?;
    Ok(report)
}

fn lock(dir: &Path, name: &Path) -> Result<FileLock, BackupError> {
    let path = dir.join("backup.lock");
    let file = File::create(&path).map_err(BackupError::io(&path, "create"))?;
    match file.try_lock() {
        Ok(()) => Ok(FileLock(file)),
        Err(TryLockError::WouldBlock) => Err(BackupError::Busy { path: name.to_owned() }),
        Err(TryLockError::Error(e)) => Err(BackupError::io(&path, "lock")(e)),
    }
}

/// What a folder says of itself; `None` for one that is not a backup.
pub(super) fn about(dir: &Path) -> Option<AboutBackup> {
    serde_json::from_slice(&fs::read(dir.join(ABOUT)).ok()?).ok()
}

fn put(dir: &Path, about: &AboutBackup) -> Result<(), BackupError> {
    let path: PathBuf = dir.join(ABOUT);
    let bytes = serde_json::to_vec(about).map_err(std::io::Error::other);
    bytes.and_then(|bytes| tree::replace(&path, &bytes)).map_err(BackupError::io(&path, "write"))
}

#[cfg(test)]
#[path = "backup_tests.rs"]
mod tests;
