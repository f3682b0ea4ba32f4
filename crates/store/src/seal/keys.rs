//! The keys of one store, by slot. Slots are given in sequence and never twice; a wiped one stays
//! wiped. They are in a file and its copy (`key_file.rs`).
//!
//! The store decides what is true: it says how many slots it knows of ([`Keys::begin`]), and what
//! the file holds beyond is of a write that never came to be and is wiped.
use std::io;
use std::path::{Path, PathBuf};

use parking_lot::RwLock;

use crate::seal::key_file::{KeyFile, SlotState, number};

/// What values are sealed with; zeros are not a key.
pub type Key = [u8; 16];

/// The number of a key.
pub type Slot = u32;

pub(crate) const NO_KEY: Key = [0; 16];

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
    restored: bool,
    table: RwLock<KeyTable>,
}

struct KeyTable {
    file: KeyFile,
    /// Slots as far as they were read. Wiped ones stay as they were while the process lives: a
    /// reader may still read a view of the store from before.
    slots: Vec<SlotState>,
    /// How many of them are in the file.
    saved: usize,
    /// Whether the two files were compared.
    repaired: bool,
}

impl Keys {
    /// Makes the files of a store that has no keys yet; what was there is lost.
    pub fn create(path: &Path) -> Result<Self, SealError> {
        Self::with(path, "make", KeyFile::create(path).map(|file| (file, false)))
    }

    /// Opens the keys of a store that has some. A file that is missing is made again from its
    /// copy; when both are, it is an error.
    pub fn open(path: &Path) -> Result<Self, SealError> {
        Self::with(path, "open", KeyFile::open(path))
    }

    /// Opens keys that cannot or shall not be written.
    pub fn open_read_only(path: &Path) -> Result<Self, SealError> {
        Self::with(path, "open", KeyFile::open_read_only(path).map(|file| (file, false)))
    }

    /// Whether there is a key file at `path`, or its copy.
    #[must_use]
    pub fn exist(path: &Path) -> bool {
        path.exists() || crate::seal::key_file::copy_of(path).exists()
    }

    fn with(
        path: &Path,
        doing: &'static str,
        file: io::Result<(KeyFile, bool)>,
    ) -> Result<Self, SealError> {
        let path = path.to_owned();
        let (file, restored) = match file {
            Ok(opened) => opened,
            Err(source) => return Err(SealError { path, doing, source }),
        };
        let table = KeyTable { file, slots: vec![], saved: 0, repaired: false };
        Ok(Self { path, restored, table: RwLock::new(table) })
    }

    /// Whether one of the two files was missing or damaged and was made again when they were opened.
    #[must_use]
    pub fn were_restored(&self) -> bool {
        self.restored
    }

    fn failed(&self, doing: &'static str, source: io::Error) -> SealError {
        SealError { path: self.path.clone(), doing, source }
    }

    /// The key of a slot; `None` when it was wiped or never given, an error when it is damaged in
    /// the file and in its copy.
    pub fn key(&self, slot: Slot) -> Result<Option<Key>, SealError> {
        let at = slot as usize;
        let state = self.table.read().slots.get(at).copied();
        if let Some(SlotState::Key(key)) = state {
            return Ok(Some(key));
        }
        // Another process may have given it since.
        let state = self.table.write().look(at).map_err(|source| self.failed("read", source))?;
        match state {
            Some(SlotState::Key(key)) => Ok(Some(key)),
            Some(SlotState::Damaged) => {
                let what = format!("key {slot} is damaged, and so is its copy");
                Err(self.failed("read", io::Error::new(io::ErrorKind::InvalidData, what)))
            }
            Some(SlotState::Wiped) | None => Ok(None),
        }
    }

    /// Slots in the file, wiped ones included.
    pub fn slots(&self) -> Result<Slot, SealError> {
        self.table.write().file.slots().map(number).map_err(|source| self.failed("read", source))
    }

    /// Begins a write of a store that knows of `count` slots; what is beyond is wiped.
    pub fn begin(&self, count: Slot) -> Result<(), SealError> {
        self.table.write().begin(count as usize).map_err(|source| self.failed("read", source))
    }

    /// A new key; it counts from [`Keys::save`] on.
    pub fn give(&self) -> Result<(Slot, Key), SealError> {
        let mut key = NO_KEY;
        while key == NO_KEY {
            getrandom::fill(&mut key).map_err(|e| self.failed("make", io::Error::other(e)))?;
        }
        let mut table = self.table.write();
        let full = || self.failed("make", io::Error::other("there are 2^32 already"));
        let slot = Slot::try_from(table.slots.len()).ok().filter(|slot| *slot < Slot::MAX);
        table.slots.push(SlotState::Key(key));
        slot.map(|slot| (slot, key)).ok_or_else(full)
    }

    /// Brings the keys given since [`Keys::begin`] to the disk; returns how many slots there are.
    /// To be called before the store says that it knows of them.
    pub fn save(&self) -> Result<Slot, SealError> {
        let mut table = self.table.write();
        table.save().map(number).map_err(|source| self.failed("write", source))
    }

    /// Puts keys that were given elsewhere into the slots from `first` on, `None` where one was
    /// wiped. They are on the disk when this returns. For a copy of a store, between
    /// [`Keys::begin`] and [`Keys::save`], instead of [`Keys::give`].
    pub fn install(&self, first: Slot, keys: &[Option<Key>]) -> Result<(), SealError> {
        let mut table = self.table.write();
        let first = first as usize;
        let states = keys.iter().map(|key| key.map_or(SlotState::Wiped, SlotState::Key));
        let mut states: Vec<SlotState> = states.collect();
        table.file.write(first, &states).map_err(|source| self.failed("write", source))?;
        // Readers of a view from before keep what was wiped since.
        for (state, former) in states.iter_mut().zip(table.slots.iter().skip(first)) {
            if *state == SlotState::Wiped {
                *state = *former;
            }
        }
        table.slots.resize(first, SlotState::Wiped);
        table.slots.extend(states);
        table.saved = table.slots.len();
        Ok(())
    }

    /// The keys of slots from `first` to before `end`; `None` for those that were wiped.
    pub fn list(&self, first: Slot, end: Slot) -> Result<Vec<Option<Key>>, SealError> {
        let mut table = self.table.write();
        let slots = table.file.read(first as usize, end as usize);
        let slots = slots.map_err(|source| self.failed("read", source))?;
        Ok(slots.into_iter().map(SlotState::key).collect())
    }

    /// Takes back the keys given since [`Keys::begin`], as far as they were not saved.
    pub fn undo(&self) {
        let mut table = self.table.write();
        let saved = table.saved;
        table.slots.truncate(saved);
    }

    /// Destroys keys, and with them all that was sealed with them. They are gone from the disk when
    /// this returns. To be called when the store's own forgetting is on the disk.
    pub fn wipe(&self, slots: &[Slot]) -> Result<(), SealError> {
        let mut slots = slots.to_vec();
        slots.sort_unstable();
        slots.dedup();
        let mut table = self.table.write();
        let mut wipe = || -> io::Result<()> {
            let end = table.file.slots()?;
            let runs = slots.chunk_by(|a, b| a + 1 == *b);
            let runs =
                runs.map(|run| (run[0] as usize).min(end)..(run[0] as usize + run.len()).min(end));
            table.file.wipe(&runs.filter(|run| !run.is_empty()).collect::<Vec<_>>())
        };
        wipe().map_err(|source| self.failed("wipe", source))
    }

    /// Slots below `known` that are damaged in both files.
    pub fn damaged(&self, count: Slot) -> Result<Vec<Slot>, SealError> {
        let slots = self.table.write().file.read(0, count as usize);
        let slots = slots.map_err(|source| self.failed("read", source))?;
        let damaged = (0..).zip(slots).filter(|(_, state)| *state == SlotState::Damaged);
        Ok(damaged.map(|(slot, _)| slot).collect())
    }
}

impl KeyTable {
    fn begin(&mut self, count: usize) -> io::Result<()> {
        self.slots.truncate(self.saved);
        self.load()?;
        let end = self.file.slots()?;
        if end > count {
            self.file.wipe(std::slice::from_ref(&(count..end)))?;
            self.slots[count..].fill(SlotState::Wiped);
        }
        // A file that was cut gets its length back; what both have lost is lost.
        let length = self.slots.len().max(count);
        self.slots.resize(length, SlotState::Damaged);
        if !self.repaired {
            let slots = self.file.read(0, length)?;
            self.file.repair(&slots)?;
            self.repaired = true;
        }
        Ok(())
    }

    fn save(&mut self) -> io::Result<usize> {
        if self.slots.len() > self.saved {
            self.file.write(self.saved, &self.slots[self.saved..])?;
            self.saved = self.slots.len();
        }
        Ok(self.saved)
    }

    /// Reads what the file has more than is known.
    fn load(&mut self) -> io::Result<()> {
        let end = self.file.slots()?;
        if end > self.saved {
            let more = self.file.read(self.saved, end)?;
            self.slots.truncate(self.saved);
            self.slots.extend(more);
            self.saved = self.slots.len();
        }
        Ok(())
    }

    /// A key that is not in memory.
    fn look(&mut self, at: usize) -> io::Result<Option<SlotState>> {
        if at >= self.saved {
            // Keys that were given and not saved are in memory, so this is a reader.
            if self.slots.len() == self.saved {
                self.load()?;
            }
        } else if !matches!(self.slots[at], SlotState::Key(_)) {
            // A slot that is just being wiped may have been read in part.
            self.slots[at] = self.file.read(at, at + 1)?[0];
        }
        Ok(self.slots.get(at).copied())
    }
}

#[cfg(test)]
#[path = "keys_tests.rs"]
mod tests;
