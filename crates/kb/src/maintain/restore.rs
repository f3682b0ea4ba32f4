//! A backup becomes a base again. It is copied next to the place it is for, looked through, and
//! gets its name when it is found to be whole.
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Instant;

use halma_seal::{copy_environment, is_environment};
use serde::Serialize;

use super::archive;
use super::backup::about;
use super::error::BackupError;
use super::tree::{self, FolderKind, MirrorCounts};
use crate::base::store_dir;
use crate::store::LOST_VECTOR;
use crate::{Base, BaseOptions, KbError};

/// How a backup is restored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RestoreOptions {
    /// Takes the place of what is there.
    pub replace: bool,
    /// Restores what can be read of a backup that is damaged.
    pub unverified: bool,
}

/// What a restore did.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct RestoreReport {
    /// Seconds since 1970 at which the backup was begun.
    pub of: u64,
    /// Whether the backup was finished. One that was not has whole records; files next to them may
    /// be older or newer.
    pub complete: bool,
    pub bases: u64,
    pub documents: u64,
    pub chunks: u64,
    /// Lexical indexes that did not fit the records and were built again.
    pub rebuilt_indexes: u64,
    /// Vectors that were not in the backup: their texts are embedded again when the base is indexed.
    pub lost_vectors: u64,
    /// What is wrong with it, where it was restored nevertheless.
    pub problems: Vec<String>,
    pub elapsed_ms: f64,
}

/// Restores a backup, a folder or a file, to the folder `to`.
pub fn restore(
    backup: &Path,
    to: &Path,
    options: RestoreOptions,
) -> Result<RestoreReport, BackupError> {
    let began = Instant::now();
    let part = to.with_added_extension("part");
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent).map_err(BackupError::io(parent, "create"))?;
    }
    let is_there = to.exists() && !tree::is_empty(to)?;
    if is_there && !options.replace {
        return Err(BackupError::Exists { path: to.to_owned() });
    }
    if is_there {
        refuse_in_use(to)?;
    }
    tree::remove(&part)?;
    let unpacked = to.with_added_extension("unpacked");
    let source = if backup.is_file() {
        tree::remove(&unpacked)?;
        archive::unpack(backup, &unpacked)?;
        unpacked.clone()
    } else {
        backup.to_owned()
    };
    let Some(about) = about(&source) else {
        tree::remove(&unpacked)?;
        return Err(BackupError::NoBackup { path: backup.to_owned() });
    };
    let key_file = |dir: &Path| if dir.join("keys").exists() { "keys" } else { "reply-keys" };
    let mut environment = |from: &Path, to: &Path| -> Result<(), BackupError> {
        Ok(copy_environment(from, to, key_file(from)).map(drop)?)
    };
    let counts = &mut MirrorCounts::default();
    tree::mirror(FolderKind::Base, (&source, &part), &mut environment, counts)?;
    tree::remove(&unpacked)?;
    let mut report =
        RestoreReport { of: about.time, complete: about.complete, ..RestoreReport::default() };
    for base in bases(&part)? {
        look_through(&base, &mut report)?;
    }
    if let Some(problem) = report.problems.first()
        && !options.unverified
    {
        let (path, problem) = (backup.to_owned(), problem.clone());
        tree::remove(&part)?;
        return Err(BackupError::Damaged { path, problem });
    }
    put_in_place(&part, to)?;
    report.elapsed_ms = began.elapsed().as_secs_f64() * 1e3;
    Ok(report)
}

/// The folders of bases in a folder, itself included.
fn bases(dir: &Path) -> Result<Vec<PathBuf>, BackupError> {
    let mut found = vec![];
    if is_environment(&store_dir(dir)) {
        found.push(dir.to_owned());
    }
    let workspaces = dir.join(tree::WORKSPACES);
    if workspaces.is_dir() {
        let read = fs::read_dir(&workspaces).map_err(BackupError::io(&workspaces, "read"))?;
        for entry in read {
            let path = entry.map_err(BackupError::io(&workspaces, "read"))?.path();
            if is_environment(&store_dir(&path)) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Opens a base and checks it. A lexical index that is of another moment than the records is built
/// again.
fn look_through(dir: &Path, report: &mut RestoreReport) -> Result<(), BackupError> {
    report.bases += 1;
    let open = || Base::open(dir, BaseOptions::default());
    let mut base = match open() {
        // A backup of a former version: it is converted when it is in its place.
        Err(KbError::Older { .. }) => return Ok(()),
        Err(e) => {
            report.problems.push(e.to_string());
            return Ok(());
        }
        Ok(base) => base,
    };
    let mut verified = base.inspector().verify()?;
    if verified.problems.iter().any(|problem| problem.what.contains("lexical index")) {
        drop(base);
        tree::remove(&dir.join("bm25"))?;
        fs::create_dir(dir.join("bm25")).map_err(BackupError::io(dir, "write"))?;
        base = open()?;
        report.rebuilt_indexes += 1;
        verified = base.inspector().verify()?;
    }
    let is_lost = |problem: &crate::Problem| problem.what.contains(LOST_VECTOR);
    if verified.problems.iter().any(is_lost) {
        let lost = base.store.write(|writer| {
            writer.doubt_vectors()?;
            writer.renew_lost_vectors()
        })?;
        report.lost_vectors += lost as u64;
        verified = base.inspector().verify()?;
    }
    let stats = base.inspector().stats()?;
    report.documents += stats.documents;
    report.chunks += stats.chunks;
    for problem in verified.problems {
        let document = problem.document.unwrap_or_default();
        report.problems.push(format!("{} {document}: {}", problem.id, problem.what));
    }
    Ok(())
}

/// A server or a build holds a lock in the folder.
fn refuse_in_use(dir: &Path) -> Result<(), BackupError> {
    for name in ["serve.lock", "index.lock"] {
        let Ok(file) = File::open(dir.join(name)) else { continue };
        if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
            return Err(BackupError::InUse { path: dir.to_owned() });
        }
    }
    Ok(())
}

/// What is there goes when the new one has its place.
fn put_in_place(part: &Path, to: &Path) -> Result<(), BackupError> {
    let former = to.with_added_extension("replaced");
    tree::remove(&former)?;
    if to.exists() {
        fs::rename(to, &former).map_err(BackupError::io(to, "rename"))?;
    }
    fs::rename(part, to).map_err(BackupError::io(part, "rename"))?;
    let folder = to.parent().filter(|parent| !parent.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    synced.map_err(BackupError::io(folder, "write"))?;
    tree::remove(&former)
}
