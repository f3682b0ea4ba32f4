//! Folders that are made equal to others, file by file.
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File, FileType, Metadata};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use halma_store::seal::is_environment;

use super::BackupError;
use super::archive::ABOUT;

/// Makes folders equal to others.
pub(super) struct Mirror<'a> {
    environment: &'a mut Environment<'a>,
    /// Files that the copy has.
    pub(super) files: u64,
    /// Files that were written or removed.
    pub(super) changed: u64,
}

/// How a folder with an LMDB environment is taken over.
pub(super) type Environment<'a> = dyn FnMut(&Path, &Path) -> Result<(), BackupError> + 'a;

/// What a folder holds: whether its names are Halma's own or users'.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FolderKind {
    /// A base or a server's folder.
    Base,
    /// The bases of workspaces, by their names.
    Workspaces,
    /// Uploads, by their names.
    Uploads,
    /// Anything else in a base.
    Inner,
}

impl FolderKind {
    /// What belongs to processes and not to the base, or is there only while something is written.
    /// No upload and no workspace has a name that begins with a dot.
    fn leaves_out(self, name: &str) -> bool {
        let is_temporary = name.starts_with(TEMPORARY);
        match self {
            Self::Base => {
                let named = ["store.new", "store.old", ABOUT];
                let ended = [LOCK, ".part", ".tmp", ".db-wal", ".db-shm"];
                is_temporary || named.contains(&name) || ended.iter().any(|end| name.ends_with(end))
            }
            Self::Workspaces | Self::Uploads => name.starts_with('.'),
            Self::Inner => {
                let is_log = [".db-wal", ".db-shm"].iter().any(|end| name.ends_with(end));
                is_temporary || is_log || name.starts_with('.') && name.ends_with(LOCK)
            }
        }
    }

    /// What a folder in one of this kind is.
    fn inner(self, name: &str) -> Self {
        match self {
            Self::Base if name == WORKSPACES => Self::Workspaces,
            Self::Base if name == UPLOADS => Self::Uploads,
            Self::Base | Self::Inner => Self::Inner,
            Self::Workspaces => Self::Base,
            Self::Uploads => Self::Uploads,
        }
    }

    /// Whether a folder of this kind is an LMDB environment; a file among the uploads may have the
    /// name of one.
    fn is_environment(self, dir: &Path) -> bool {
        self == Self::Inner && is_environment(dir)
    }
}

/// How names of files begin that get their own when they are complete.
const TEMPORARY: &str = ".tmp";

/// How names of files end that processes lock.
const LOCK: &str = ".lock";

/// The folder of the workspaces in a server's, and that of the uploads in a base's.
pub(super) const WORKSPACES: &str = "workspaces";
const UPLOADS: &str = "files";

/// A link in a base, which a copy would lack without a word. What is linked may be anywhere and be
/// of any size, so it is not followed.
pub(super) fn refuse_links(dir: &Path, kind: FolderKind) -> Result<(), BackupError> {
    for entry in fs::read_dir(dir).map_err(BackupError::io(dir, "read"))? {
        let entry = entry.map_err(BackupError::io(dir, "read"))?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let Ok(file) = entry.file_type() else { continue };
        if kind.leaves_out(&name) {
            continue;
        }
        if file.is_symlink() {
            return Err(BackupError::Link { path: entry.path() });
        }
        if file.is_dir() {
            match refuse_links(&entry.path(), kind.inner(&name)) {
                // Removed meanwhile.
                Err(BackupError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {}
                looked => looked?,
            }
        }
    }
    Ok(())
}

impl<'a> Mirror<'a> {
    /// `environment` takes over a folder with an LMDB environment.
    pub(super) fn new(environment: &'a mut Environment<'a>) -> Self {
        Self { environment, files: 0, changed: 0 }
    }

    /// Makes `to`, a folder of this kind, equal to `from`: what has the same length and time is
    /// taken to be the same, and what is no longer there is removed. Links are not followed and not
    /// copied.
    pub(super) fn folder(
        &mut self,
        kind: FolderKind,
        from: &Path,
        to: &Path,
    ) -> Result<(), BackupError> {
        fs::create_dir_all(to).map_err(BackupError::io(to, "create"))?;
        let mut names: BTreeSet<OsString> = BTreeSet::new();
        for entry in fs::read_dir(from).map_err(BackupError::io(from, "read"))? {
            let entry = entry.map_err(BackupError::io(from, "read"))?;
            let name = entry.file_name();
            let text = name.to_string_lossy();
            if kind.leaves_out(&text) {
                continue;
            }
            // A file may go between being listed and being looked at.
            let Ok(file) = entry.file_type() else { continue };
            if self.entry(file, kind.inner(&text), &entry.path(), &to.join(&name))? {
                names.insert(name);
            }
        }
        for entry in fs::read_dir(to).map_err(BackupError::io(to, "read"))? {
            let entry = entry.map_err(BackupError::io(to, "read"))?;
            let name = entry.file_name();
            let of_backup = ["backup.lock", ABOUT].iter().any(|file| name == **file);
            let of_backup = of_backup && kind == FolderKind::Base;
            if !of_backup && !names.contains(&name) {
                remove(&entry.path())?;
                self.changed += 1;
            }
        }
        Ok(())
    }

    /// Takes over a file, or a folder, which would be of this kind; returns whether it did.
    fn entry(
        &mut self,
        file: FileType,
        kind: FolderKind,
        from: &Path,
        to: &Path,
    ) -> Result<bool, BackupError> {
        if file.is_dir() && kind.is_environment(from) {
            (self.environment)(from, to)?;
            // Vectors are written before the records that list them, so that all that are listed in
            // the records copied above are there. Those of documents deleted since are not.
            let (vectors, target) = (from.join("vectors"), to.join("vectors"));
            if vectors.is_dir() {
                self.folder(FolderKind::Inner, &vectors, &target)?;
            } else {
                remove(&target)?;
            }
        } else if file.is_dir() {
            self.folder(kind, from, to)?;
        } else if file.is_file() {
            // An SQLite file may be in use.
            let is_database = kind == FolderKind::Inner && to.extension() == Some("db".as_ref());
            match if is_database { halma_store::copy(from, to) } else { copy(from, to) } {
                Ok(changed) => {
                    self.files += 1;
                    self.changed += u64::from(changed);
                }
                Err(e) if e.kind() == ErrorKind::NotFound => return Ok(false),
                Err(e) => return Err(BackupError::io(from, "copy")(e)),
            }
        } else {
            return Ok(false);
        }
        Ok(true)
    }
}

/// Copies a file unless it is there already; returns whether it was copied.
fn copy(from: &Path, to: &Path) -> io::Result<bool> {
    let (about, there) = (fs::metadata(from)?, fs::metadata(to));
    if there.is_ok_and(|there| there.is_file() && is_same(&about, &there)) {
        return Ok(false);
    }
    // A name that no other file has: `a.md.part` may be an upload.
    let part = to.with_file_name(format!("{TEMPORARY}-copy"));
    fs::copy(from, &part)?;
    let file = File::options().write(true).open(&part)?;
    file.set_modified(about.modified()?)?;
    file.sync_all()?;
    fs::rename(&part, to)?;
    Ok(true)
}

fn is_same(one: &Metadata, other: &Metadata) -> bool {
    let times = (one.modified().ok(), other.modified().ok());
    one.len() == other.len() && times.0.is_some() && times.0 == times.1
}

/// Writes a file in full or not at all.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let part = path.with_added_extension("part");
    let mut file = File::create(&part)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&part, path)?;
    path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}

pub(super) fn is_empty(dir: &Path) -> Result<bool, BackupError> {
    let mut entries = fs::read_dir(dir).map_err(BackupError::io(dir, "read"))?;
    Ok(entries.next().is_none())
}

/// Removes a file or a folder, if it is there.
pub(super) fn remove(path: &Path) -> Result<(), BackupError> {
    let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match removed {
        Err(e) if e.kind() != ErrorKind::NotFound => Err(BackupError::io(path, "remove")(e)),
        _ => Ok(()),
    }
}
