//! The file of keys: a head, then sixteen bytes for each slot. Slots are given in sequence and
//! never twice; a wiped one is zeros.
//!
//! The store decides what is true: it says how many slots it knows of ([`Keys::begin`]), and what
//! the file holds beyond is of a write that never came to be and is wiped.
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock, RwLockWriteGuard};

/// What values are sealed with; zeros are not a key.
pub type Key = [u8; 16];

/// The number of a key.
pub type Slot = u32;

const NO_KEY: Key = [0; 16];
const HEAD: &[u8; 16] = b"halma keys 1\n\0\0\0";
const SIZE: u64 = 16;

/// The file of keys cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("cannot {doing} the keys in `{}`: {source}", .path.display())]
pub struct SealError {
    pub path: PathBuf,
    pub doing: &'static str,
    pub source: io::Error,
}

/// The keys of one store. Many may read, in many processes; the caller sees to it that one writes
/// at a time (`begin`, `give`, `save`, `undo`, `wipe`).
pub struct Keys {
    path: PathBuf,
    held: RwLock<Held>,
}

struct Held {
    file: File,
    /// Keys by slot, as far as they were read. Wiped ones stay while the process lives: a reader
    /// may still read a view of the store from before.
    keys: Vec<Key>,
    /// How many of them are in the file.
    saved: usize,
}

impl Keys {
    /// Opens the file of keys, which is made when there is none.
    pub fn open(path: &Path) -> Result<Self, SealError> {
        let file = File::options().read(true).write(true).create(true).truncate(false).open(path);
        let keys = Self::with(path, file)?;
        keys.set_up().map_err(|source| keys.failed("set up", source))?;
        Ok(keys)
    }

    /// Opens a file of keys that cannot or shall not be written.
    pub fn open_read_only(path: &Path) -> Result<Self, SealError> {
        Self::with(path, File::open(path))
    }

    fn with(path: &Path, file: io::Result<File>) -> Result<Self, SealError> {
        let path = path.to_owned();
        match file {
            Ok(file) => Ok(Self { path, held: RwLock::new(Held { file, keys: vec![], saved: 0 }) }),
            Err(source) => Err(SealError { path, doing: "open", source }),
        }
    }

    fn set_up(&self) -> io::Result<()> {
        let mut held = self.held();
        if held.file.metadata()?.len() >= SIZE {
            let mut begun = NO_KEY;
            held.read_at(0, &mut begun)?;
            if begun != *HEAD {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "this is not a key file"));
            }
            return Ok(());
        }
        held.write_at(0, HEAD)?;
        held.file.sync_all()?;
        // So that a power failure does not take the file's name away.
        match self.path.parent().map(File::open) {
            Some(Ok(folder)) => folder.sync_all(),
            _ => Ok(()),
        }
    }

    fn held(&self) -> RwLockWriteGuard<'_, Held> {
        self.held.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn failed(&self, doing: &'static str, source: io::Error) -> SealError {
        SealError { path: self.path.clone(), doing, source }
    }

    /// The key of a slot; `None` when it was wiped or never given.
    pub fn key(&self, slot: Slot) -> Result<Option<Key>, SealError> {
        let at = slot as usize;
        let known = self.held.read().unwrap_or_else(PoisonError::into_inner).keys.get(at).copied();
        if let Some(key) = known.filter(|key| *key != NO_KEY) {
            return Ok(Some(key));
        }
        // Another process may have given it since.
        let found = self.held().look(at).map_err(|source| self.failed("read", source))?;
        Ok(found.filter(|key| *key != NO_KEY))
    }

    /// Slots in the file, wiped ones included.
    pub fn slots(&self) -> Result<Slot, SealError> {
        self.held().in_file().map_err(|source| self.failed("read", source))
    }

    /// Begins a write of a store that knows of `known` slots; what is beyond is wiped.
    pub fn begin(&self, known: Slot) -> Result<(), SealError> {
        let mut held = self.held();
        let begin = |held: &mut Held| -> io::Result<()> {
            let saved = held.saved;
            held.keys.truncate(saved);
            let in_file = held.in_file()?;
            held.load()?;
            if in_file > known {
                held.zero(known, in_file)?;
                held.file.sync_data()?;
                held.keys[known as usize..].fill(NO_KEY);
            }
            // A file that was cut gets its length back; what it lost is lost.
            let length = held.keys.len().max(known as usize);
            held.keys.resize(length, NO_KEY);
            Ok(())
        };
        begin(&mut held).map_err(|source| self.failed("read", source))
    }

    /// A new key; it counts from [`Keys::save`] on.
    pub fn give(&self) -> Result<(Slot, Key), SealError> {
        let mut key = NO_KEY;
        while key == NO_KEY {
            getrandom::fill(&mut key).map_err(|e| self.failed("make", io::Error::other(e)))?;
        }
        let mut held = self.held();
        let full = || self.failed("make", io::Error::other("there are 2^32 already"));
        let slot = Slot::try_from(held.keys.len()).ok().filter(|slot| *slot < Slot::MAX);
        held.keys.push(key);
        slot.map(|slot| (slot, key)).ok_or_else(full)
    }

    /// Brings the keys given since [`Keys::begin`] to the disk; returns how many slots there are.
    /// To be called before the store says that it knows of them.
    pub fn save(&self) -> Result<Slot, SealError> {
        let mut held = self.held();
        let save = |held: &mut Held| -> io::Result<Slot> {
            if held.keys.len() > held.saved {
                let bytes: Vec<u8> = held.keys[held.saved..].iter().flatten().copied().collect();
                held.write_at(place(held.saved), &bytes)?;
                held.file.sync_data()?;
                held.saved = held.keys.len();
            }
            Ok(Slot::try_from(held.saved).unwrap_or(Slot::MAX))
        };
        save(&mut held).map_err(|source| self.failed("write", source))
    }

    /// Takes back the keys given since [`Keys::begin`], as far as they were not saved.
    pub fn undo(&self) {
        let mut held = self.held();
        let saved = held.saved;
        held.keys.truncate(saved);
    }

    /// Destroys keys, and with them all that was sealed with them. They are gone from the disk when
    /// this returns. To be called when the store's own forgetting is on the disk.
    pub fn wipe(&self, slots: &[Slot]) -> Result<(), SealError> {
        let mut slots = slots.to_vec();
        slots.sort_unstable();
        slots.dedup();
        let mut held = self.held();
        let mut wipe = || -> io::Result<()> {
            let end = held.in_file()?;
            for run in slots.chunk_by(|a, b| a + 1 == *b) {
                let (first, last) = (run[0], run[run.len() - 1]);
                held.zero(first.min(end), last.saturating_add(1).min(end))?;
            }
            held.file.sync_data()
        };
        wipe().map_err(|source| self.failed("wipe", source))
    }
}

/// Where a slot stands in the file.
fn place(slot: usize) -> u64 {
    HEAD.len() as u64 + SIZE * slot as u64
}

impl Held {
    fn read_at(&mut self, place: u64, into: &mut [u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(place))?;
        self.file.read_exact(into)
    }

    fn write_at(&mut self, place: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(place))?;
        self.file.write_all(bytes)
    }

    /// Slots in the file; one that was written in part counts.
    fn in_file(&self) -> io::Result<Slot> {
        let length = self.file.metadata()?.len().saturating_sub(HEAD.len() as u64);
        Ok(Slot::try_from(length.div_ceil(SIZE)).unwrap_or(Slot::MAX))
    }

    /// Reads what the file has more than is known.
    fn load(&mut self) -> io::Result<()> {
        let in_file = self.in_file()? as usize;
        if in_file <= self.saved {
            return Ok(());
        }
        let mut bytes = vec![];
        self.file.seek(SeekFrom::Start(place(self.saved)))?;
        let rest = (in_file - self.saved) as u64 * SIZE;
        Read::by_ref(&mut self.file).take(rest).read_to_end(&mut bytes)?;
        bytes.resize(bytes.len().next_multiple_of(16), 0);
        self.keys.truncate(self.saved);
        self.keys.extend(bytes.as_chunks::<16>().0);
        self.saved = self.keys.len();
        Ok(())
    }

    /// A key that is not in memory.
    fn look(&mut self, at: usize) -> io::Result<Option<Key>> {
        if at >= self.saved {
            // Keys that were given and not saved are in memory, so this is a reader.
            if self.keys.len() == self.saved {
                self.load()?;
            }
        } else if self.keys[at] == NO_KEY {
            let mut key = NO_KEY;
            self.read_at(place(at), &mut key)?;
            self.keys[at] = key;
        }
        Ok(self.keys.get(at).copied())
    }

    fn zero(&mut self, first: Slot, end: Slot) -> io::Result<()> {
        let count = end.saturating_sub(first) as usize;
        self.write_at(place(first as usize), &vec![0; count * NO_KEY.len()])
    }
}

#[cfg(test)]
#[path = "keys_tests.rs"]
mod tests;
