//! A backup in one file: a tar archive of its folder.
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::Path;

use super::error::BackupError;

/// Whether a path names an archive.
pub(super) fn is_named_one(path: &Path) -> bool {
    path.is_file() || path.extension().is_some_and(|extension| extension == "tar")
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
pub(super) fn unpack(archive: &Path, folder: &Path) -> Result<(), BackupError> {
    let unpacked = || -> io::Result<()> {
        fs::create_dir_all(folder)?;
        tar::Archive::new(File::open(archive)?).unpack(folder)
    };
    unpacked().map_err(BackupError::io(archive, "unpack"))
}
