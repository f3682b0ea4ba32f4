//! Keys of values that come and go one by one and that several machines share: a small file for
//! each, in a folder outside the store that holds the values. A wiped key is overwritten in place.
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use crate::seal::{Key, SealError, private};

/// A folder of keys, each named after its value.
#[derive(Debug, Clone)]
pub struct KeyFolder {
    dir: PathBuf,
}

impl KeyFolder {
    /// The keys in this folder, which is made when the first one is given.
    #[must_use]
    pub fn new(dir: &Path) -> Self {
        Self { dir: dir.to_owned() }
    }

    /// The key of a new value, or that of one which has this name already. It is on the disk when
    /// this returns.
    pub fn give(&self, name: &str) -> Result<Key, SealError> {
        let give = |path: &Path| {
            let mut key = Key::default();
            getrandom::fill(&mut key).map_err(|e| io::Error::other(e.to_string()))?;
            private::create_folder(&self.dir)?;
            // Two machines that give at the same time: the file of the first stays.
            let part = path.with_extension(format!("part{:02x}{:02x}", key[0], key[1]));
            let mut file = private::options().create_new(true).open(&part)?;
            let linked = file
                .write_all(&key)
                .and_then(|()| file.sync_all())
                .and_then(|()| fs::hard_link(&part, path));
            fs::remove_file(&part)?;
            match linked {
                Err(e) if e.kind() == ErrorKind::AlreadyExists => read(path),
                linked => linked.map(|()| Some(key)),
            }
        };
        let path = self.path(name)?;
        let key = give(&path).and_then(|key| key.ok_or_else(|| wiped(ErrorKind::AlreadyExists)));
        key.map_err(|source| SealError { path, doing: "give", source })
    }

    /// The key of a value; `None` if it was never given or has been wiped.
    pub fn key(&self, name: &str) -> Result<Option<Key>, SealError> {
        let path = self.path(name)?;
        read(&path).map_err(|source| SealError { path, doing: "read", source })
    }

    /// Destroys a key, if it is there.
    pub fn wipe(&self, name: &str) -> Result<(), SealError> {
        let wipe = |path: &Path| {
            let mut file = match File::options().write(true).open(path) {
                Err(e) if e.kind() == ErrorKind::NotFound => return Ok(()),
                file => file?,
            };
            file.write_all(&Key::default())?;
            file.sync_all()?;
            match fs::remove_file(path) {
                Err(e) if e.kind() != ErrorKind::NotFound => Err(e),
                _ => Ok(()),
            }
        };
        let path = self.path(name)?;
        wipe(&path).map_err(|source| SealError { path, doing: "wipe", source })
    }

    /// The file of a key. A name is letters, digits and `-`.
    fn path(&self, name: &str) -> Result<PathBuf, SealError> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        if !name.is_empty() && name.len() < 200 && name.bytes().all(plain) {
            return Ok(self.dir.join(name));
        }
        let source = io::Error::new(ErrorKind::InvalidInput, "this is not the name of a key");
        Err(SealError { path: self.dir.clone(), doing: "name", source })
    }
}

/// What the file holds; `None` where there is none, or a key that was wiped.
fn read(path: &Path) -> io::Result<Option<Key>> {
    let bytes = match fs::read(path) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
        bytes => bytes?,
    };
    let key = Key::try_from(bytes).map_err(|_| wiped(ErrorKind::InvalidData))?;
    Ok((key != Key::default()).then_some(key))
}

fn wiped(kind: ErrorKind) -> io::Error {
    io::Error::new(kind, "the file of the key is damaged or being wiped")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_given_once_read_by_others_and_wiped() {
        let dir = tempfile::tempdir().unwrap();
        let [one, other] = [(), ()].map(|()| KeyFolder::new(&dir.path().join("traces")));
        assert_eq!(other.key("a1").unwrap(), None);
        let key = one.give("a1").unwrap();
        assert_eq!(other.give("a1").unwrap(), key);
        assert_eq!(other.key("a1").unwrap(), Some(key));
        assert_ne!(one.give("a2").unwrap(), key);
        other.wipe("a1").unwrap();
        one.wipe("a1").unwrap();
        assert_eq!(one.key("a1").unwrap(), None);
        assert_eq!(fs::read_dir(dir.path().join("traces")).unwrap().count(), 1);
    }

    #[test]
    fn a_name_never_leads_out_of_the_folder() {
        let dir = tempfile::tempdir().unwrap();
        let keys = KeyFolder::new(dir.path());
        for name in ["", ".", "../a", "a/b", "a.b"] {
            assert!(keys.give(name).is_err() && keys.key(name).is_err(), "{name}");
        }
    }
}
