//! A backup becomes a base again. It is copied next to the place it is for, looked through, and
//! gets its name when it is found to be whole.
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use halma_store::seal::{
    CopyError, copy_environment, is_environment, pad_environment, salvage_environment,
};
use serde::Serialize;

use super::backup::about;
use super::place::{self, LockedPlace};
use super::tree::{self, FolderKind, Mirror};
use super::{BackupError, archive};
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

/// Restores a backup, a folder or a file, to the folder `to`. No server and no build can begin there
/// meanwhile; killed at any time, it leaves the former base or the restored one, or both and an error
/// for those who open it.
pub fn restore(
    backup: &Path,
    to: &Path,
    options: RestoreOptions,
) -> Result<RestoreReport, BackupError> {
    let began = Instant::now();
    let absolute = to.canonicalize().or_else(|_| std::path::absolute(to));
    let to = &absolute.map_err(BackupError::io(to, "open"))?;
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent).map_err(BackupError::io(parent, "create"))?;
    }
    place::take_back_former(to)?;
    let refuse_filled = || match place::is_filled(to) {
        Ok(true) if !options.replace => Err(BackupError::Exists { path: to.clone() }),
        filled => filled.map(drop),
    };
    refuse_filled()?;
    let place = LockedPlace::take(to)?;
    let part = to.with_added_extension("part");
    let prepared = refuse_filled().and_then(|()| prepare(backup, &part, options));
    let mut report = match prepared {
        Ok(report) => report,
        Err(error) => {
            place.give_up();
            tree::remove(&part)?;
            return Err(error);
        }
    };
    place.put(&part)?;
    report.elapsed_ms = began.elapsed().as_secs_f64() * 1e3;
    Ok(report)
}

/// Copies a backup to the folder `part` and looks through it.
fn prepare(
    backup: &Path,
    part: &Path,
    options: RestoreOptions,
) -> Result<RestoreReport, BackupError> {
    tree::remove(part)?;
    let mut report = if backup.is_file() {
        let unpacked = part.with_extension("unpacked");
        tree::remove(&unpacked)?;
        let taken = take_archive(backup, &unpacked, part, options);
        tree::remove(&unpacked)?;
        taken
    } else {
        take(backup, part)
    }?
    .ok_or_else(|| BackupError::NoBackup { path: backup.to_owned() })?;
    // What could not be copied is named first: what is wrong with the copy follows from it.
    refuse_damaged(backup, &report, options)?;
    for base in bases(part)? {
        match look_through(&base, &mut report) {
            // Of a damaged store.
            Err(BackupError::Base(error)) => report.problems.push(error.to_string()),
            looked => looked.map_err(|error| error.of_backup(backup))?,
        }
    }
    refuse_damaged(backup, &report, options)?;
    Ok(report)
}

/// Refuses a backup with problems unless what can be read of it is asked for.
fn refuse_damaged(
    backup: &Path,
    report: &RestoreReport,
    options: RestoreOptions,
) -> Result<(), BackupError> {
    match report.problems.first() {
        Some(problem) if !options.unverified => {
            Err(BackupError::Damaged { path: backup.to_owned(), problem: problem.clone() })
        }
        _ => Ok(()),
    }
}

/// Unpacks an archive and copies the backup in it.
fn take_archive(
    backup: &Path,
    unpacked: &Path,
    part: &Path,
    options: RestoreOptions,
) -> Result<Option<RestoreReport>, BackupError> {
    if !archive::is_archive(backup) {
        return Ok(None);
    }
    let damage = match archive::unpack(backup, unpacked) {
        Err(BackupError::Damaged { problem, .. }) if options.unverified => Some(problem),
        unpacking => {
            unpacking?;
            None
        }
    };
    let taken = take(unpacked, part)?;
    match (taken, damage) {
        (None, Some(problem)) => Err(BackupError::Damaged { path: backup.to_owned(), problem }),
        (Some(mut report), damage) => {
            report.problems.splice(0..0, damage);
            Ok(Some(report))
        }
        (None, None) => Ok(None),
    }
}

/// Copies the backup in the folder `source`; `None` if it is not one. Of a store that is damaged
/// what can be read is copied, and the report names its file.
fn take(source: &Path, part: &Path) -> Result<Option<RestoreReport>, BackupError> {
    let Some(about) = about(source) else { return Ok(None) };
    let mut problems = vec![];
    let mut environment = |from: &Path, to: &Path| -> Result<(), BackupError> {
        if let Some(error) = copy_or_salvage(from, to)? {
            let file = from.strip_prefix(source).unwrap_or(from).join("data.mdb");
            problems.push(format!("`{}` cannot be read ({})", file.display(), error.source));
        }
        Ok(())
    };
    Mirror::new(&mut environment).folder(FolderKind::Base, source, part)?;
    let (of, complete) = (about.time, about.complete);
    Ok(Some(RestoreReport { of, complete, problems, ..RestoreReport::default() }))
}

/// Copies a store, or what can be read of one that is damaged, which may be nothing; returns what is
/// wrong with it.
fn copy_or_salvage(from: &Path, to: &Path) -> Result<Option<CopyError>, BackupError> {
    let padded = to.with_added_extension("padded");
    let source = match pad_environment(from, &padded) {
        Ok(true) => padded.as_path(),
        Ok(false) => from,
        Err(error) if error.is_damage() => return Ok(Some(error)),
        Err(error) => return Err(error.into()),
    };
    let damage = match copy_environment(source, to) {
        Err(error) if error.is_damage() => {
            tree::remove(to)?;
            match salvage_environment(source, to) {
                Err(other) if !other.is_damage() => return Err(other.into()),
                _ => Some(error),
            }
        }
        copied => {
            copied?;
            None
        }
    };
    tree::remove(&padded)?;
    Ok(damage)
}

/// The folders of bases in a folder, itself included.
fn bases(dir: &Path) -> Result<Vec<PathBuf>, BackupError> {
    let mut folders = vec![];
    if is_environment(&store_dir(dir)) {
        folders.push(dir.to_owned());
    }
    let workspaces = dir.join(tree::WORKSPACES);
    if workspaces.is_dir() {
        let read = fs::read_dir(&workspaces).map_err(BackupError::io(&workspaces, "read"))?;
        for entry in read {
            let path = entry.map_err(BackupError::io(&workspaces, "read"))?.path();
            if is_environment(&store_dir(&path)) {
                folders.push(path);
            }
        }
    }
    folders.sort();
    Ok(folders)
}

/// Opens a base and checks it. A lexical index that is of another moment than the records is built
/// again.
fn look_through(dir: &Path, report: &mut RestoreReport) -> Result<(), BackupError> {
    report.bases += 1;
    let open = || Base::open(dir, BaseOptions::default());
    let mut base = match open() {
        // Nothing of it can be used here, verified or not.
        Err(KbError::Newer { format, reads, .. }) => {
            return Err(BackupError::Newer { path: dir.to_owned(), format, reads });
        }
        Err(KbError::Older { format, reads, .. }) => {
            return Err(BackupError::TooOld { path: dir.to_owned(), format, reads });
        }
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
            writer.note_unreadable_vectors()?;
            writer.renew_lost_vectors()
        })?;
        report.lost_vectors += lost as u64;
        verified = base.inspector().verify()?;
    }
    let stats = base.inspector().stats()?;
    report.documents += stats.documents;
    report.chunks += stats.chunks;
    // What is kept of names the next build makes again.
    for problem in verified.problems.into_iter().filter(|problem| !problem.is_of_names()) {
        let document = problem.document.map(|name| format!(" {name}")).unwrap_or_default();
        report.problems.push(format!("{}{document}: {}", problem.id, problem.what));
    }
    Ok(())
}

#[cfg(test)]
#[path = "restore_tests.rs"]
mod tests;
