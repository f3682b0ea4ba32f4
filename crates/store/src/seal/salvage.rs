//! What can still be read of an environment that is damaged.
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;

use heed::{Env, RoTxn, RwTxn, WithoutTls};

use crate::seal::environment::{
    CopyError, DATA, KEYS, Table, new_table, open, snapshot, tables, write_keys,
};
use crate::seal::key_file::copy_of;

/// LMDB's header of a file: its magic number, the size of a page and the number of the last page,
/// by their offsets in bytes (`MDB_meta` after the 16 bytes of a page's own header).
const HEADER: usize = 152;
const MAGIC: (usize, u32) = (16, 0xBEEF_C0DE);
const PAGE_SIZE: usize = 40;
const LAST_PAGE: usize = 136;

/// A file that counts more bytes than this has a damaged header.
const LARGEST: u64 = 1 << 44;

/// What was saved of an environment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SalvageCounts {
    /// Values that were copied.
    pub values: u64,
    /// Values that cannot be stored again, because their keys are not valid.
    pub lost: u64,
    /// Tables that could be read in part only: what follows in them is not known.
    pub broken_tables: u64,
}

/// Copies the environment in `from` with its key file into the new folder `to`, if its file is shorter
/// than the pages that it counts, and fills it up: reading pages that are not in the file would end
/// the program. Returns whether it did. Whole ones may be shorter too, by pages that are free.
///
/// # Errors
/// [`CopyError`] where the file cannot be copied, or has no valid header.
pub fn pad_environment(from: &Path, to: &Path) -> Result<bool, CopyError> {
    let fail = |source| CopyError { path: from.to_owned(), source };
    let pad = || -> heed::Result<bool> {
        let data = from.join(DATA);
        let Some(counted) = counted_bytes(&data)? else {
            return Err(heed::Error::Mdb(heed::MdbError::Invalid));
        };
        if fs::metadata(&data)?.len() >= counted {
            return Ok(false);
        }
        fs::create_dir_all(to)?;
        for file in [KEYS.into(), copy_of(Path::new(KEYS)), DATA.into()] {
            match fs::copy(from.join(&file), to.join(&file)) {
                Err(e) if e.kind() != ErrorKind::NotFound => return Err(e.into()),
                _ => {}
            }
        }
        File::options().write(true).open(to.join(DATA))?.set_len(counted)?;
        Ok(true)
    };
    pad().map_err(fail)
}

/// The bytes of all pages that a file counts by its two headers; `None` where one is not valid.
fn counted_bytes(data: &Path) -> io::Result<Option<u64>> {
    let mut file = File::open(data)?;
    let Some((size, first)) = read_header(&mut file, 0)? else { return Ok(None) };
    let Some((_, second)) = read_header(&mut file, size)? else { return Ok(None) };
    let pages = first.max(second).checked_add(1);
    Ok(pages.and_then(|pages| pages.checked_mul(size)).filter(|bytes| *bytes <= LARGEST))
}

/// The size of a page and the number of the last page, from the header at an offset in bytes.
fn read_header(file: &mut File, at: u64) -> io::Result<Option<(u64, u64)>> {
    let mut header = [0; HEADER];
    file.seek(SeekFrom::Start(at))?;
    match file.read_exact(&mut header) {
        Err(e) if e.kind() == ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let four = |at: usize| u32::from_ne_bytes([0, 1, 2, 3].map(|i| header[at + i]));
    let eight = |at: usize| u64::from_ne_bytes([0, 1, 2, 3, 4, 5, 6, 7].map(|i| header[at + i]));
    let size = u64::from(four(PAGE_SIZE));
    let is_valid = four(MAGIC.0) == MAGIC.1 && (512..=65536).contains(&size);
    Ok(is_valid.then(|| (size, eight(LAST_PAGE))))
}

/// Copies what can be read of the damaged environment in `from`, with its key file, into the
/// folder `to`, which holds no environment.
///
/// # Errors
/// [`CopyError`] where not even its tables can be listed, or the copy cannot be written.
pub fn salvage_environment(from: &Path, to: &Path) -> Result<SalvageCounts, CopyError> {
    let fail = |source| CopyError { path: from.to_owned(), source };
    let source = open(from).map_err(fail)?;
    let tables = tables(&source).map_err(fail)?;
    let (txn, bytes) = snapshot(&source, &from.join(KEYS)).map_err(fail)?;
    fs::create_dir_all(to).map_err(|e| fail(e.into()))?;
    if let Some(bytes) = bytes {
        write_keys(&to.join(KEYS), &bytes).map_err(|e| fail(e.into()))?;
    }
    let target = open(to).map_err(fail)?;
    let mut counts = SalvageCounts::default();
    for (name, table) in tables {
        save_table(&txn, (&name, table), &target, &mut counts).map_err(fail)?;
    }
    target.force_sync().map_err(fail)?;
    Ok(counts)
}

/// Copies a table up to the first place that cannot be read.
fn save_table(
    txn: &RoTxn<'_, WithoutTls>,
    (name, from): (&str, Table),
    target: &Env<WithoutTls>,
    counts: &mut SalvageCounts,
) -> heed::Result<()> {
    let to = new_table(target, name)?;
    let mut writing = target.write_txn()?;
    // Damage may lead around in a circle.
    let mut left = from.len(txn)?;
    for entry in from.iter(txn)? {
        let Ok(entry) = entry else {
            counts.broken_tables += 1;
            break;
        };
        if left == 0 {
            counts.broken_tables += 1;
            break;
        }
        left -= 1;
        save(&mut writing, to, entry, counts)?;
    }
    writing.commit()
}

/// Stores a value, unless its key shows that it is damaged.
fn save(
    writing: &mut RwTxn<'_>,
    to: Table,
    (key, value): (&[u8], &[u8]),
    counts: &mut SalvageCounts,
) -> heed::Result<()> {
    match to.put(writing, key, value) {
        Ok(()) => counts.values += 1,
        Err(heed::Error::Mdb(heed::MdbError::BadValSize)) => counts.lost += 1,
        Err(e) => return Err(e),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seal::copy_environment;

    /// An environment with three values and a key file.
    fn made(dir: &Path) {
        fs::create_dir_all(dir).unwrap();
        fs::write(dir.join("keys"), "k").unwrap();
        let env = open(dir).unwrap();
        let table = new_table(&env, "t").unwrap();
        let mut txn = env.write_txn().unwrap();
        for key in [b"a", b"b", b"c"] {
            table.put(&mut txn, key, b"value").unwrap();
        }
        txn.commit().unwrap();
    }

    #[test]
    fn everything_that_can_be_read_is_saved() {
        let dir = tempfile::tempdir().unwrap();
        let [from, to] = ["from", "to"].map(|name| dir.path().join(name));
        made(&from);
        let saved = salvage_environment(&from, &to).unwrap();
        assert_eq!(saved, SalvageCounts { values: 3, lost: 0, broken_tables: 0 });
        assert!(to.join("keys").exists() && to.join("keys.copy").exists());
    }

    #[test]
    fn a_file_that_is_cut_short_is_damage_and_is_not_read_past_its_end() {
        let dir = tempfile::tempdir().unwrap();
        let [from, padded, to] = ["from", "padded", "to"].map(|name| dir.path().join(name));
        made(&from);
        assert!(!pad_environment(&from, &padded).unwrap());
        let data = from.join(DATA);
        let whole = fs::metadata(&data).unwrap().len();
        let page = read_header(&mut File::open(&data).unwrap(), 0).unwrap().unwrap().0;
        File::options().write(true).open(&data).unwrap().set_len(2 * page).unwrap();
        assert!(pad_environment(&from, &padded).unwrap());
        assert!(fs::metadata(padded.join(DATA)).unwrap().len() >= whole);
        assert!(copy_environment(&padded, &to).unwrap_err().is_damage());
        fs::write(&data, "").unwrap();
        assert!(pad_environment(&from, &padded).unwrap_err().is_damage());
    }
}
