//! Files and folders that hold keys: only their owner reads them.
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// For writing, such that a file that is created is its owner's alone.
pub(crate) fn options() -> OpenOptions {
    let mut options = File::options();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Creates a folder with those above it that are missing.
pub(crate) fn create_folder(dir: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)
}

/// Writes a file, which is on the disk when this returns.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = options().create(true).truncate(true).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::seal::{KeyFolder, KeyStore, Keys};

    /// Everything below a folder that others than its owner may reach.
    fn reached_by_others(dir: &Path) -> Vec<String> {
        let mut reached = vec![];
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let about = path.metadata().unwrap();
            if about.permissions().mode() & 0o077 != 0 {
                reached.push(path.display().to_string());
            }
            if about.is_dir() {
                reached.extend(reached_by_others(&path));
            }
        }
        reached
    }

    #[test]
    fn only_the_owner_reaches_keys() {
        let dir = tempfile::tempdir().unwrap();
        Keys::create(&dir.path().join("keys")).unwrap();
        KeyFolder::new(&dir.path().join("traces")).give("a1").unwrap();
        let store = KeyStore::new(&dir.path().join("shared"), 1);
        assert!(store.write(1, 0, &[Some([1; 16])]).unwrap());
        store.call_keys().unwrap();
        assert_eq!(reached_by_others(dir.path()), Vec::<String>::new());
        assert_eq!(fs::read_dir(dir.path().join("shared/0000000000000001")).unwrap().count(), 6);
    }
}
