//! The key file and its copy: a head, then a record for each slot, a key and its checksum. What one
//! of them has lost is read from the other.
use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::seal::{Key, Slot, private};

pub(crate) const HEAD: &[u8; 16] = b"halma keys 2\n\0\0\0";
const KEY: usize = size_of::<Key>();
/// Bytes of a slot: the key, then the CRC-32 of the slot's number and the key.
pub(crate) const RECORD: usize = KEY + 4;

/// What a slot holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SlotState {
    Key(Key),
    Wiped,
    /// Neither the file nor its copy has it as it was written.
    Damaged,
}

const WIPED: Key = [0; KEY];

impl SlotState {
    fn from_record(slot: usize, record: &[u8]) -> Self {
        match record.split_first_chunk::<KEY>() {
            Some((key, check)) if check == checksum(slot, key) => match *key {
                WIPED => Self::Wiped,
                key => Self::Key(key),
            },
            _ => Self::Damaged,
        }
    }

    pub(crate) fn key(self) -> Option<Key> {
        match self {
            Self::Key(key) => Some(key),
            Self::Wiped | Self::Damaged => None,
        }
    }

    fn record(self, slot: usize) -> [u8; RECORD] {
        let (key, mut check) = match self {
            Self::Key(key) => (key, checksum(slot, &key)),
            Self::Wiped | Self::Damaged => (WIPED, checksum(slot, &WIPED)),
        };
        if self == Self::Damaged {
            check[0] ^= 1;
        }
        let mut record = [0; RECORD];
        record[..KEY].copy_from_slice(&key);
        record[KEY..].copy_from_slice(&check);
        record
    }
}

fn checksum(slot: usize, key: &Key) -> [u8; 4] {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&(slot as u64).to_le_bytes());
    hasher.update(key);
    hasher.finalize().to_le_bytes()
}

/// Where the copy of a key file is.
pub(crate) fn copy_of(path: &Path) -> PathBuf {
    path.with_added_extension("copy")
}

/// The file and its copy. One that is opened for reading may lack one of the two.
pub(crate) struct KeyFile {
    main: Option<File>,
    copy: Option<File>,
}

impl KeyFile {
    /// Creates both files, with no slots.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let create = |path: &Path| -> io::Result<File> {
            let mut file = private::options().read(true).create(true).truncate(true).open(path)?;
            file.write_all(HEAD)?;
            file.sync_all()?;
            Ok(file)
        };
        // The copy first: a file without one is an old one that has lost it.
        let copy = create(&copy_of(path))?;
        let main = create(path)?;
        sync_folder(path)?;
        Ok(Self { main: Some(main), copy: Some(copy) })
    }

    /// Opens both for writing; one that is missing or has lost its head is made again from the
    /// other. The second value is whether that was so.
    pub(crate) fn open(path: &Path) -> io::Result<(Self, bool)> {
        let mut restored = false;
        let copy = copy_of(path);
        match (has_head(path)?, has_head(&copy)?) {
            (true, true) => {}
            (false, false) => return Err(missing(path)),
            (main, _) => {
                let (from, to) = if main { (path, &*copy) } else { (&*copy, path) };
                replace(from, to)?;
                restored = true;
            }
        }
        let open = |path: &Path| File::options().read(true).write(true).open(path).map(Some);
        Ok((Self { main: open(path)?, copy: open(&copy)? }, restored))
    }

    /// Opens what there is for reading.
    pub(crate) fn open_read_only(path: &Path) -> io::Result<Self> {
        let open = |path: &Path| has_head(path)?.then(|| File::open(path)).transpose();
        let (main, copy) = (open(path)?, open(&copy_of(path)).ok().flatten());
        if main.is_none() && copy.is_none() { Err(missing(path)) } else { Ok(Self { main, copy }) }
    }

    /// Slots in the longer file; one that was written in part counts.
    pub(crate) fn slots(&self) -> io::Result<usize> {
        let mut slots = 0;
        for file in [&self.main, &self.copy].into_iter().flatten() {
            slots = slots.max(slots_in(file)?);
        }
        Ok(slots)
    }

    /// The slots from `first` on, in sequence.
    pub(crate) fn read(&mut self, first: usize, end: usize) -> io::Result<Vec<SlotState>> {
        let main = read_slots(self.main.as_mut(), first, end)?;
        if !main.contains(&SlotState::Damaged) {
            return Ok(main);
        }
        let copy = read_slots(self.copy.as_mut(), first, end)?;
        let either = |(main, copy)| if main == SlotState::Damaged { copy } else { main };
        Ok(main.into_iter().zip(copy).map(either).collect())
    }

    /// Writes into both files what they have lost of `slots`, which begin with the first.
    pub(crate) fn repair(&mut self, slots: &[SlotState]) -> io::Result<()> {
        for file in [&mut self.main, &mut self.copy] {
            let stored = read_slots(file.as_mut(), 0, slots.len())?;
            let mut changed = false;
            for (slot, (stored, right)) in stored.iter().zip(slots).enumerate() {
                if stored != right {
                    write_slots(file.as_mut(), slot, &[*right])?;
                    changed = true;
                }
            }
            if let (true, Some(file)) = (changed, file) {
                file.sync_data()?;
            }
        }
        Ok(())
    }

    /// Appends or replaces slots. They are on the disk in the one file when this returns, and soon
    /// after in the other.
    pub(crate) fn write(&mut self, first: usize, slots: &[SlotState]) -> io::Result<()> {
        write_slots(self.main.as_mut(), first, slots)?;
        sync(self.main.as_ref())?;
        write_slots(self.copy.as_mut(), first, slots)
    }

    /// Destroys the keys of slots, in runs; they are gone from both files when this returns.
    pub(crate) fn wipe(&mut self, runs: &[std::ops::Range<usize>]) -> io::Result<()> {
        for file in [&mut self.main, &mut self.copy] {
            for run in runs {
                write_slots(file.as_mut(), run.start, &vec![SlotState::Wiped; run.len()])?;
            }
            sync(file.as_ref())?;
        }
        Ok(())
    }
}

fn missing(path: &Path) -> io::Error {
    let copy = copy_of(path);
    let copy = copy.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let what = format!(
        "neither it nor its copy `{copy}` is a key file, and without the keys nothing can be read; \
         get the folder back with `halma restore`, or index again into a new one"
    );
    io::Error::new(ErrorKind::NotFound, what)
}

/// Whether there is a key file; one of something else is an error.
fn has_head(path: &Path) -> io::Result<bool> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(false),
        Err(e) => return Err(e),
    };
    let mut head = [0; HEAD.len()];
    match file.read_exact(&mut head) {
        Ok(()) => Ok(head == *HEAD),
        Err(e) if e.kind() == ErrorKind::UnexpectedEof => Ok(false),
        Err(e) => Err(e),
    }
}

/// Puts a copy of `from` in the place of `to`, in full or not at all. What was there is set aside.
fn replace(from: &Path, to: &Path) -> io::Result<()> {
    let part = to.with_added_extension("part");
    std::fs::copy(from, &part)?;
    File::open(&part)?.sync_all()?;
    if to.exists() {
        std::fs::rename(to, to.with_added_extension("damaged"))?;
    }
    std::fs::rename(&part, to)?;
    sync_folder(to)
}

/// So that a power failure does not take a file's name away.
fn sync_folder(path: &Path) -> io::Result<()> {
    match path.parent().map(File::open) {
        Some(Ok(folder)) => folder.sync_all(),
        _ => Ok(()),
    }
}

fn sync(file: Option<&File>) -> io::Result<()> {
    file.map_or(Ok(()), File::sync_data)
}

fn place(slot: usize) -> u64 {
    (HEAD.len() + slot * RECORD) as u64
}

fn slots_in(file: &File) -> io::Result<usize> {
    let length = file.metadata()?.len().saturating_sub(HEAD.len() as u64);
    Ok(usize::try_from(length.div_ceil(RECORD as u64)).unwrap_or(usize::MAX))
}

/// Slots of one file; those that it does not have are damaged.
fn read_slots(file: Option<&mut File>, first: usize, end: usize) -> io::Result<Vec<SlotState>> {
    let mut bytes = vec![];
    if let Some(file) = file {
        file.seek(SeekFrom::Start(place(first)))?;
        file.take((end.saturating_sub(first) * RECORD) as u64).read_to_end(&mut bytes)?;
    }
    let mut records = bytes.chunks(RECORD);
    let mut read = |slot| SlotState::from_record(slot, records.next().unwrap_or_default());
    Ok((first..end).map(&mut read).collect())
}

fn write_slots(file: Option<&mut File>, first: usize, slots: &[SlotState]) -> io::Result<()> {
    let Some(file) = file else { return Ok(()) };
    let numbered = slots.iter().enumerate();
    let bytes: Vec<u8> = numbered.flat_map(|(at, slot)| slot.record(first + at)).collect();
    file.seek(SeekFrom::Start(place(first)))?;
    file.write_all(&bytes)
}

/// The number of a slot as the store has it.
pub(crate) fn number(slot: usize) -> Slot {
    Slot::try_from(slot).unwrap_or(Slot::MAX)
}
