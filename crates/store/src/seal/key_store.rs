//! The keys of a base that several machines share: a key file and its copy in a folder that all of
//! them reach, outside the database that holds what is sealed. A wiped key is overwritten in place,
//! so the folder must not be on storage that keeps former contents (snapshots, versions, backups).
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::seal::key_file::{KeyFile, SlotState};
use crate::seal::{CallKeys, Key, Keys, SealError, Slot, call_keys, private};

/// The keys themselves.
const FILE: &str = "keys";

/// Locked by programs that read or write.
const LOCK: &str = "keys.lock";

/// The fence of the last writer.
const FENCE: &str = "keys.fence";

/// The key of what machines ask each other to do, which lives as long as that.
const CALLS: &str = "calls.key";

/// The keys of the documents that this quotes.
const DOCUMENTS: &str = "calls.keys";

/// A shared folder of keys.
#[derive(Debug, Clone)]
pub struct KeyStore {
    dir: PathBuf,
}

impl KeyStore {
    /// The keys of a base in a folder that several bases may share, each in a folder below it.
    #[must_use]
    pub fn new(dir: &Path, base: u64) -> Self {
        Self { dir: dir.join(format!("{base:016x}")) }
    }

    /// The keys of slots; `None` for those that were wiped. Slots that the folder does not hold are
    /// an error: without their keys nothing can be read.
    pub fn read(&self, slots: Range<Slot>) -> Result<Vec<Option<Key>>, SealError> {
        if slots.is_empty() {
            return Ok(vec![]);
        }
        let read = || {
            let lock = File::open(self.dir.join(LOCK)).map_err(|e| missing(e, &slots))?;
            lock.lock_shared()?;
            let mut file = KeyFile::open_read_only(&self.path())?;
            let states = file.read(slots.start as usize, slots.end as usize)?;
            if states.contains(&SlotState::Damaged) {
                let count = file.slots()?;
                let what = format!(
                    "keys up to {} are needed, and of the {count} that are here some are damaged",
                    slots.end
                );
                return Err(io::Error::new(ErrorKind::InvalidData, what));
            }
            Ok(states.into_iter().map(SlotState::key).collect())
        };
        read().map_err(|source| self.failed("read", source))
    }

    /// Puts keys into the slots from `first` on; those before must be there. `false`, and nothing is
    /// written, if a writer with a higher fence was here.
    pub fn write(&self, fence: u64, first: Slot, keys: &[Option<Key>]) -> Result<bool, SealError> {
        let write = || {
            let _lock = self.lock()?;
            let path = self.dir.join(FENCE);
            let last = match fs::read_to_string(&path) {
                Err(e) if e.kind() == ErrorKind::NotFound => 0,
                text => text?.trim().parse().map_err(io::Error::other)?,
            };
            if last > fence {
                return Ok(false);
            }
            if last < fence {
                let part = self.dir.join("keys.fence.part");
                private::write(&part, fence.to_string().as_bytes())?;
                fs::rename(&part, &path)?;
            }
            let mut file = self.open()?;
            if file.slots()? < first as usize {
                return Err(missing(ErrorKind::NotFound.into(), &(0..first)));
            }
            let states = keys.iter().map(|key| key.map_or(SlotState::Wiped, SlotState::Key));
            file.write(first as usize, &states.collect::<Vec<_>>())?;
            Ok(true)
        };
        write().map_err(|source| self.failed("write", source))
    }

    /// Destroys keys; they are gone from the folder when this returns.
    pub fn wipe(&self, slots: &[Slot]) -> Result<(), SealError> {
        let wipe = || {
            let _lock = self.lock()?;
            let mut file = self.open()?;
            let count = file.slots()?;
            let slots = slots.iter().map(|slot| *slot as usize).filter(|slot| *slot < count);
            file.wipe(&slots.map(|slot| slot..slot + 1).collect::<Vec<_>>())
        };
        wipe().map_err(|source| self.failed("wipe", source))
    }

    /// The keys that seal calls on their way between machines. They are made by the first who asks.
    pub fn call_keys(&self) -> Result<CallKeys, SealError> {
        let documents = self.dir.join(DOCUMENTS);
        let read = || {
            let _lock = self.lock()?;
            call_keys::read_or_make(&documents)
        };
        let file = read().map_err(|source| failed_at(&documents, source))?;
        Ok(CallKeys::new(self.calls_key()?, file))
    }

    /// Puts other keys in the place of some of [`KeyStore::call_keys`]; what was sealed with the former
    /// ones is destroyed when this returns.
    pub fn renew_document_keys(&self, numbers: &[i32]) -> Result<(), SealError> {
        let path = self.dir.join(DOCUMENTS);
        let renew = || {
            let _lock = self.lock()?;
            call_keys::renew(&path, numbers)
        };
        renew().map_err(|source| failed_at(&path, source))
    }

    fn calls_key(&self) -> Result<Key, SealError> {
        self.call_key_file(|mut file| {
            let mut key = Key::default();
            if file.metadata()?.len() == key.len() as u64 {
                file.read_exact(&mut key)?;
                return Ok(key);
            }
            renew(&mut file)
        })
    }

    /// Destroys what was sealed with any of [`KeyStore::call_keys`].
    pub fn renew_calls_key(&self) -> Result<(), SealError> {
        self.call_key_file(|mut file| renew(&mut file)).map(drop)
    }

    fn call_key_file(&self, then: impl Fn(File) -> io::Result<Key>) -> Result<Key, SealError> {
        let path = self.dir.join(CALLS);
        let work = || {
            let _lock = self.lock()?;
            then(private::options().read(true).create(true).truncate(false).open(&path)?)
        };
        work().map_err(|source| failed_at(&path, source))
    }

    fn path(&self) -> PathBuf {
        self.dir.join(FILE)
    }

    fn open(&self) -> io::Result<KeyFile> {
        let path = self.path();
        if Keys::exist(&path) { Ok(KeyFile::open(&path)?.0) } else { KeyFile::create(&path) }
    }

    fn lock(&self) -> io::Result<File> {
        private::create_folder(&self.dir)?;
        let path = self.dir.join(LOCK);
        let file = private::options().create(true).truncate(false).open(path)?;
        file.lock()?;
        Ok(file)
    }

    fn failed(&self, doing: &'static str, source: io::Error) -> SealError {
        SealError { path: self.path(), doing, source }
    }
}

fn failed_at(path: &Path, source: io::Error) -> SealError {
    SealError { path: path.to_owned(), doing: "open", source }
}

/// Overwrites a key in place.
fn renew(file: &mut File) -> io::Result<Key> {
    let mut key = Key::default();
    getrandom::fill(&mut key).map_err(io::Error::other)?;
    file.rewind()?;
    file.write_all(&key)?;
    file.set_len(key.len() as u64)?;
    file.sync_all()?;
    Ok(key)
}

/// No keys are there and some are needed.
fn missing(source: io::Error, slots: &Range<Slot>) -> io::Error {
    if source.kind() != ErrorKind::NotFound {
        return source;
    }
    let what = format!(
        "the base has {} keys, and they are not here; name the folder that all machines of this \
         base share",
        slots.end
    );
    io::Error::new(ErrorKind::NotFound, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_writes_the_others_read_until_it_is_wiped() {
        let dir = tempfile::tempdir().unwrap();
        let [one, other] = [(), ()].map(|()| KeyStore::new(&dir.path().join("shared"), 1));
        assert!(other.read(0..0).unwrap().is_empty());
        assert!(other.read(0..1).unwrap_err().to_string().contains("share"));
        let keys = [Some([1; 16]), None, Some([3; 16])];
        assert!(one.write(5, 0, &keys).unwrap());
        assert_eq!(other.read(0..3).unwrap(), keys);
        assert!(other.read(2..4).is_err(), "more than there are");
        one.wipe(&[0, 9]).unwrap();
        assert_eq!(other.read(0..3).unwrap(), [None, None, keys[2]]);
        let file = fs::read(dir.path().join("shared/0000000000000001/keys")).unwrap();
        assert!(!file.windows(16).any(|bytes| bytes == [1; 16]));
    }

    #[test]
    fn a_writer_that_was_overtaken_writes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let store = KeyStore::new(dir.path(), 1);
        assert!(store.write(7, 0, &[Some([1; 16])]).unwrap());
        assert!(!store.write(6, 0, &[Some([2; 16])]).unwrap());
        assert_eq!(store.read(0..1).unwrap(), [Some([1; 16])]);
        assert!(store.write(7, 0, &[Some([3; 16])]).unwrap());
        assert_eq!(store.read(0..1).unwrap(), [Some([3; 16])]);
        // The folder of another base, or a wrong one.
        let other = KeyStore::new(dir.path(), 2);
        assert!(other.write(8, 1, &[Some([4; 16])]).unwrap_err().to_string().contains("share"));
    }

    #[test]
    fn the_key_of_calls_is_the_same_for_all_until_it_is_renewed() {
        let dir = tempfile::tempdir().unwrap();
        let [one, other] = [(), ()].map(|()| KeyStore::new(&dir.path().join("shared"), 1));
        let key = one.calls_key().unwrap();
        assert_eq!(other.calls_key().unwrap(), key);
        other.renew_calls_key().unwrap();
        let renewed = one.calls_key().unwrap();
        assert_ne!(renewed, key);
        assert_eq!(
            fs::read(dir.path().join("shared/0000000000000001/calls.key")).unwrap(),
            renewed
        );
    }
}
