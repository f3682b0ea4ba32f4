//! The key file of base formats 3 to 5: a head, then sixteen bytes for each slot.
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use crate::keys::{NO_KEY, SealError};
use crate::{Key, Slot};

const HEAD: &[u8; 16] = b"halma keys 1\n\0\0\0";

/// All keys of a former version's file.
pub struct FormerKeys(Vec<Key>);

impl FormerKeys {
    /// Whether the file at `path` is one of a former version.
    #[must_use]
    pub fn is_at(path: &Path) -> bool {
        let mut head = NO_KEY;
        File::open(path).and_then(|mut file| file.read_exact(&mut head)).is_ok() && head == *HEAD
    }

    /// Writes a file as a former version did, for tests of reading it.
    #[doc(hidden)]
    pub fn write(path: &Path, keys: &[Option<Key>]) -> Result<(), SealError> {
        let mut bytes = HEAD.to_vec();
        bytes.extend(keys.iter().flat_map(|key| key.unwrap_or(NO_KEY)));
        let written = std::fs::write(path, bytes);
        written.map_err(|source| SealError { path: path.to_owned(), doing: "write", source })
    }

    /// Reads the file; a slot that was written in part is left out.
    pub fn read(path: &Path) -> Result<Self, SealError> {
        let fail = |source| SealError { path: path.to_owned(), doing: "read", source };
        let bytes = std::fs::read(path).map_err(fail)?;
        let Some(slots) = bytes.strip_prefix(HEAD) else {
            let what = "this is not a key file of a former version";
            return Err(fail(io::Error::new(io::ErrorKind::InvalidData, what)));
        };
        Ok(Self(slots.as_chunks::<16>().0.to_vec()))
    }

    /// Destroys the keys and removes the file.
    pub fn destroy(path: &Path) -> Result<(), SealError> {
        let destroy = || -> io::Result<()> {
            let file = File::options().write(true).open(path)?;
            let length = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX);
            (&file).write_all(&vec![0; length])?;
            file.sync_all()?;
            std::fs::remove_file(path)
        };
        destroy().map_err(|source| SealError { path: path.to_owned(), doing: "wipe", source })
    }

    /// The key of a slot; `None` when it was wiped or never given.
    #[must_use]
    pub fn key(&self, slot: Slot) -> Option<Key> {
        self.0.get(slot as usize).copied().filter(|key| *key != NO_KEY)
    }

    /// Number of slots, wiped ones included.
    #[must_use]
    pub fn slots(&self) -> Slot {
        Slot::try_from(self.0.len()).unwrap_or(Slot::MAX)
    }
}
