//! A consistent copy of an LMDB environment that is in use, with its keys: the records of one moment
//! and the keys of the same moment. Writers wait for the keys to be read and no longer.
//!
//! The copy is logical: it has no free pages, so nothing of what was deleted before. One that is
//! brought up to date changes what differs, in one transaction.
#![expect(unsafe_code, reason = "heed marks opening a memory-mapped environment as unsafe")]
use std::cmp::Ordering;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use heed::types::{Bytes, DecodeIgnore};
use heed::{CommitOrAbort, Database, Env, EnvFlags, EnvOpenOptions, PutFlags, RoTxn, WithoutTls};

use crate::seal::key_file::copy_of;
use crate::seal::private;

pub(crate) type Table = Database<'static, Bytes, Bytes>;

/// The key file of an environment.
pub(crate) const KEYS: &str = "keys";
pub(crate) const DATA: &str = "data.mdb";
const GIB: usize = 1 << 30;

/// Values written in one transaction of a copy that is new.
const BATCH: u64 = 20_000;

/// An environment cannot be copied.
#[derive(Debug, thiserror::Error)]
#[error("cannot copy `{}`: {source}", .path.display())]
pub struct CopyError {
    pub path: PathBuf,
    pub source: heed::Error,
}

impl CopyError {
    /// Whether the environment itself cannot be read, and not the disk or a limit is the reason.
    #[must_use]
    pub fn is_damage(&self) -> bool {
        use heed::MdbError::{DbsFull, MapFull, MapResized, ReadersFull, TlsFull, TxnFull};
        match self.source {
            heed::Error::Io(_) | heed::Error::EnvAlreadyOpened => false,
            heed::Error::Mdb(error) => {
                let limits = [DbsFull, MapFull, MapResized, ReadersFull, TlsFull, TxnFull];
                !limits.contains(&error)
            }
            heed::Error::Encoding(_) | heed::Error::Decoding(_) => true,
        }
    }
}

/// What a copy took over.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CopyCounts {
    /// Values that the environment has.
    pub values: u64,
    /// Values that were written or removed: what an update costs.
    pub changed: u64,
}

/// Whether a folder holds an environment.
#[must_use]
pub fn is_environment(dir: &Path) -> bool {
    dir.join(DATA).is_file()
}

/// Copies the environment in `from`, with its key file if it has one, into the
/// folder `to`. A copy that is there is brought up to date; a process that dies leaves it as it
/// was, or in part when it was new.
pub fn copy_environment(from: &Path, to: &Path) -> Result<CopyCounts, CopyError> {
    let source = open(from).map_err(|source| CopyError { path: from.to_owned(), source })?;
    copy_open_environment(&source, to)
}

/// [`copy_environment`] of one that this process has open.
pub fn copy_open_environment(source: &Env<WithoutTls>, to: &Path) -> Result<CopyCounts, CopyError> {
    let from = source.path();
    let fail = |source| CopyError { path: from.to_owned(), source };
    // Handles that are opened later are not known to the view.
    let tables = tables(source).map_err(fail)?;
    let (txn, bytes) = snapshot(source, &from.join(KEYS)).map_err(fail)?;
    fs::create_dir_all(to).map_err(|e| fail(e.into()))?;
    let update = is_environment(to);
    let target = open(to).map_err(fail)?;
    let kept = to.join(KEYS);
    // Slots are never given twice, so former records fit the new keys, but for those that were
    // destroyed. The keys of new records are there before the records.
    if let Some(bytes) = &bytes {
        let merged = if update { united(bytes, &kept) } else { Ok(bytes.clone()) };
        merged.and_then(|merged| write_keys(&kept, &merged)).map_err(|e| fail(e.into()))?;
    }
    let mut counts = CopyCounts::default();
    let pairs = tables.into_iter().map(|(name, from)| Ok((from, new_table(&target, &name)?)));
    let pairs: heed::Result<Vec<(Table, Table)>> = pairs.collect();
    let work = if update { change } else { fill };
    let copied = pairs.and_then(|pairs| work(&txn, &target, &pairs, &mut counts));
    copied.and_then(|()| target.force_sync()).map_err(fail)?;
    // Now those of what was deleted since the last copy go.
    if let (true, Some(bytes)) = (update, &bytes) {
        write_keys(&kept, bytes).map_err(|e| fail(e.into()))?;
    }
    Ok(counts)
}

/// A view of the environment, and the key file as it was at that moment.
pub(crate) fn snapshot<'a>(
    source: &'a Env<WithoutTls>,
    keys: &Path,
) -> heed::Result<(RoTxn<'a, WithoutTls>, Option<Vec<u8>>)> {
    // Keys are given and destroyed under LMDB's lock for writing only.
    let read_only = source.flags()?.is_some_and(|flags| flags.contains(EnvFlags::READ_ONLY));
    let lock = if read_only { None } else { Some(source.write_txn()?) };
    let read = |path: &Path| match fs::read(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        read => read.map(Some),
    };
    let bytes = match read(keys)? {
        None => read(&copy_of(keys))?,
        some => some,
    };
    let txn = source.read_txn()?;
    drop(lock);
    Ok((txn, bytes))
}

/// The new key file with the slots of the former one that were destroyed since.
fn united(new: &[u8], former: &Path) -> io::Result<Vec<u8>> {
    let former = fs::read(former)?;
    let mut both = new.to_vec();
    let common = both.len().min(former.len());
    both[..common].copy_from_slice(&former[..common]);
    Ok(both)
}

/// Writes a key file and its copy, each in full or not at all.
pub(crate) fn write_keys(path: &Path, bytes: &[u8]) -> io::Result<()> {
    for path in [path.to_owned(), copy_of(path)] {
        let part = path.with_added_extension("part");
        private::write(&part, bytes)?;
        fs::rename(&part, &path)?;
    }
    path.parent().map_or(Ok(()), |folder| fs::File::open(folder)?.sync_all())
}

pub(crate) fn open(dir: &Path) -> heed::Result<Env<WithoutTls>> {
    let bytes = fs::metadata(dir.join(DATA)).map_or(0, |file| file.len());
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX / 4);
    let size = bytes.saturating_mul(2).next_multiple_of(GIB).max(64 * GIB);
    let open = |flags| {
        let mut options = EnvOpenOptions::new().read_txn_without_tls();
        options.map_size(size).max_dbs(64).max_readers(1024);
        // SAFETY: LMDB's own lock file keeps processes apart, and no one truncates the file.
        unsafe { options.flags(flags).open(dir) }
    };
    let env = match open(EnvFlags::empty()) {
        Err(heed::Error::Io(e)) if e.kind() == io::ErrorKind::PermissionDenied => {
            return open(EnvFlags::READ_ONLY);
        }
        opened => opened?,
    };
    // A process that was killed while it read would keep every page from being used again.
    env.clear_stale_readers()?;
    Ok(env)
}

/// Writes everything into a new environment, in order.
fn fill(
    txn: &RoTxn<'_, WithoutTls>,
    target: &Env<WithoutTls>,
    pairs: &[(Table, Table)],
    counts: &mut CopyCounts,
) -> heed::Result<()> {
    let mut writing = target.write_txn()?;
    for (from, to) in pairs {
        for entry in from.iter(txn)? {
            let (key, value) = entry?;
            to.put_with_flags(&mut writing, PutFlags::APPEND, key, value)?;
            counts.values += 1;
            if counts.values.is_multiple_of(BATCH) {
                writing.commit()?;
                writing = target.write_txn()?;
            }
        }
    }
    counts.changed = counts.values;
    writing.commit()
}

/// Makes a former copy equal, in one transaction.
fn change(
    txn: &RoTxn<'_, WithoutTls>,
    target: &Env<WithoutTls>,
    pairs: &[(Table, Table)],
    counts: &mut CopyCounts,
) -> heed::Result<()> {
    let former = target.read_txn()?;
    let mut writing = target.write_txn()?;
    for (from, to) in pairs {
        let (mut new, mut old) = (from.iter(txn)?, to.iter(&former)?);
        let (mut one, mut two) = (new.next().transpose()?, old.next().transpose()?);
        loop {
            let order = match (one, two) {
                (Some((new, _)), Some((old, _))) => new.cmp(old),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => break,
            };
            if let (Some((key, value)), Ordering::Less | Ordering::Equal) = (one, order) {
                counts.values += 1;
                if order == Ordering::Less || two.is_some_and(|(_, other)| other != value) {
                    to.put(&mut writing, key, value)?;
                    counts.changed += 1;
                }
                one = new.next().transpose()?;
            }
            if let (Some((key, _)), Ordering::Greater | Ordering::Equal) = (two, order) {
                if order == Ordering::Greater {
                    to.delete(&mut writing, key)?;
                    counts.changed += 1;
                }
                two = old.next().transpose()?;
            }
        }
    }
    drop(former);
    writing.commit()
}

/// The databases that the environment names.
fn names(env: &Env<WithoutTls>) -> heed::Result<Vec<String>> {
    let opened = env.open_databases_and_commit(env.read_txn()?, |opener, txn| {
        let root = opener.open_database::<Bytes, DecodeIgnore>(txn, None)?;
        Ok::<_, heed::Error>(CommitOrAbort::<_, ()>::Commit(root))
    })?;
    let Some(root) = opened.unwrap_commit() else { return Ok(vec![]) };
    let txn = env.read_txn()?;
    let mut names = vec![];
    for entry in root.iter(&txn)? {
        names.extend(String::from_utf8(entry?.0.to_vec()).ok());
    }
    Ok(names)
}

pub(crate) fn tables(env: &Env<WithoutTls>) -> heed::Result<Vec<(String, Table)>> {
    let mut tables = vec![];
    for name in names(env)? {
        let opened = env.open_databases_and_commit(env.read_txn()?, |opener, txn| {
            let database = opener.open_database::<Bytes, Bytes>(txn, Some(&name))?;
            Ok::<_, heed::Error>(CommitOrAbort::<_, ()>::Commit(database))
        })?;
        tables.extend(opened.unwrap_commit().map(|table| (name, table)));
    }
    Ok(tables)
}

pub(crate) fn new_table(env: &Env<WithoutTls>, name: &str) -> heed::Result<Table> {
    let made = env.create_databases_and_commit(env.write_txn()?, |opener, txn| {
        let made = opener.create_database::<Bytes, Bytes>(txn, Some(name))?;
        Ok::<_, heed::Error>(CommitOrAbort::<_, ()>::Commit(made))
    })?;
    Ok(made.unwrap_commit())
}
