//! A backup in one file: a tar archive of its folder.
use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::BackupError;

/// Whether a path names an archive to write. An existing file of another name is not one: it may be
/// anything.
pub(super) fn is_named_one(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "tar")
}

/// Whether a file is an archive of any kind: its first entry can be read.
pub(super) fn is_archive(path: &Path) -> bool {
    let read = || -> io::Result<bool> {
        Ok(tar::Archive::new(File::open(path)?).entries()?.next().transpose()?.is_some())
    };
    read().unwrap_or(false)
}

/// What an archive says of itself; `None` for a file that is no archive of a backup.
pub(super) fn about(path: &Path) -> Option<AboutBackup> {
    let search = || -> io::Result<Option<AboutBackup>> {
        let mut archive = tar::Archive::new(File::open(path)?);
        for entry in archive.entries_with_seek()? {
            let entry = entry?;
            let is_about = {
                let name = entry.path()?;
                name.strip_prefix(".").unwrap_or(&name) == Path::new(ABOUT)
            };
            if is_about {
                return Ok(serde_json::from_reader(entry).ok());
            }
        }
        Ok(None)
    };
    search().ok().flatten()
}

/// Packs a folder; the file has its name when it is complete.
pub(super) fn pack(folder: &Path, to: &Path) -> Result<(), BackupError> {
    let part = to.with_added_extension("part");
    let packed = || -> io::Result<()> {
        let mut archive = tar::Builder::new(BufWriter::new(create_private(&part)?));
        archive.follow_symlinks(false);
        archive.append_dir_all(".", folder)?;
        archive.into_inner()?.into_inner().map_err(|e| e.into_error())?.sync_all()?;
        fs::rename(&part, to)
    };
    packed().map_err(BackupError::io(to, "write"))
}

/// Makes a file that only its owner may read: an archive holds documents and their keys.
fn create_private(path: &Path) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
        _ => {}
    }
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Unpacks into a folder that is made; nothing is written outside of it.
///
/// # Errors
/// [`BackupError::Damaged`] where the archive ends early or has entries that cannot be read; what is
/// before them is in the folder.
pub(super) fn unpack(archive: &Path, folder: &Path) -> Result<(), BackupError> {
    let unpacked = || -> io::Result<()> {
        fs::create_dir_all(folder)?;
        tar::Archive::new(File::open(archive)?).unpack(folder)
    };
    // Errors of the disk have kinds of their own.
    let is_damage = |e: &io::Error| {
        matches!(
            e.kind(),
            ErrorKind::Other
                | ErrorKind::UnexpectedEof
                | ErrorKind::InvalidData
                | ErrorKind::InvalidInput
        )
    };
    unpacked().map_err(|e| {
        if is_damage(&e) {
            let problem = format!("it cannot be unpacked in full ({e})");
            BackupError::Damaged { path: archive.to_owned(), problem }
        } else {
            BackupError::io(archive, "unpack")(e)
        }
    })
}

/// The file that says what a backup is.
pub(super) const ABOUT: &str = "backup.json";

/// What a backup is of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct AboutBackup {
    /// The folder that it is of, as it was given.
    pub(super) of: String,
    /// Seconds since 1970 at which it was begun.
    pub(super) time: u64,
    /// Whether it was finished. The records of one that was not are whole nevertheless.
    pub(super) complete: bool,
}
