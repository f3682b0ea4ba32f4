//! Removing a folder so that nothing of its files is left on the disk.
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use crate::seal::SealError;

static ZEROS: [u8; 64 << 10] = [0; 64 << 10];

/// Overwrites the files below a folder in place and removes all of it; a link is removed, and what it
/// leads to stays. A folder that is not there is removed already.
pub fn wipe_folder(dir: &Path) -> Result<(), SealError> {
    match wipe(dir) {
        Err(e) if e.kind() == ErrorKind::NotFound && !dir.exists() => Ok(()),
        wiped => wiped.map_err(|source| SealError { path: dir.to_owned(), doing: "wipe", source }),
    }
}

fn wipe(path: &Path) -> io::Result<()> {
    let kind = fs::symlink_metadata(path)?.file_type();
    if kind.is_dir() {
        for entry in fs::read_dir(path)? {
            match wipe(&entry?.path()) {
                // By someone else, meanwhile.
                Err(e) if e.kind() == ErrorKind::NotFound => {}
                wiped => wiped?,
            }
        }
        return fs::remove_dir(path);
    }
    if kind.is_file() {
        let mut file = File::options().write(true).open(path)?;
        let mut left = file.metadata()?.len();
        while left > 0 {
            let size = left.min(ZEROS.len() as u64);
            file.write_all(&ZEROS[..usize::try_from(size).unwrap_or(ZEROS.len())])?;
            left -= size;
        }
        file.sync_all()?;
    }
    fs::remove_file(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_overwritten_before_they_are_removed_and_links_are_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (folder, outside) = (dir.path().join("keys"), dir.path().join("outside"));
        fs::create_dir_all(folder.join("a/b")).unwrap();
        let long = vec![7; 100_000];
        fs::write(folder.join("a/b/key"), &long).unwrap();
        fs::write(&outside, "stays").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(&outside, folder.join("link")).unwrap();
        // A second name of the file shows what was done to its contents.
        let same = dir.path().join("same");
        fs::hard_link(folder.join("a/b/key"), &same).unwrap();
        wipe_folder(&folder).unwrap();
        wipe_folder(&folder).unwrap();
        assert!(!folder.exists());
        assert_eq!(fs::read(&same).unwrap(), vec![0; 100_000]);
        assert_eq!(fs::read_to_string(&outside).unwrap(), "stays");
    }
}
