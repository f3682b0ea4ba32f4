//! Files next to a knowledge base, traces of questions and uploaded originals among them, and
//! replacing a file so that a crash or a power failure leaves the former or the new one, in full.
pub(crate) mod cache;
pub(crate) mod originals;
pub(crate) mod series;
pub(crate) mod state;
pub(crate) mod traces;

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

use tempfile::NamedTempFile;

/// Puts these bytes into the place of a file, which need not exist; its folder must. When this
/// returns they are on the disk under its name. Only its owner may read it.
pub fn replace_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let folder = parent.unwrap_or(Path::new("."));
    let mut file = NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|e| e.error)?;
    // So that a power failure does not bring the former one back.
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        replace_file(&path, b"one").unwrap();
        replace_file(&path, b"two").unwrap();
        replace_file(&dir.path().join("none/a"), b"three").unwrap_err();
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "no temporary file is left");
    }
}
