//! A store of the format before, copied into a new one: every value is opened with the former
//! cipher and sealed again with a new key. Rows, slots and ids stay what they were, so the lexical
//! index fits.
use std::path::Path;

use halma_seal::{Key, Keys, Slot, former, seal};
use heed::{Env, PutFlags, WithoutTls};

use super::databases::{self, Databases, META};
use super::schema::{self, EmbedderRecord, FORMAT};
use super::vector_file::Precision;
use super::vector_files::{VectorFiles, VectorKey};
use super::{Access, env};
use crate::KbError;

/// The only former format that is converted.
pub(crate) const CONVERTED: u32 = 5;

/// Values written in one transaction.
const BATCH: usize = 20_000;

/// What is in the clear in format 5; `meta`, `vectors` and the databases of layers are not in these
/// lists.
const OPEN: [&str; 8] =
    ["ids", "names", "tombstones", "files", "edges", "backlinks", "slots", "owned"];
/// What is sealed, with the number of bytes that stand before the slot.
const SEALED: [(&str, usize); 3] = [("texts", 0), ("merges", 0), ("ledger", 9)];

/// What converting a store did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ConvertedCounts {
    pub(crate) values: u64,
    /// Values that could not be opened, because they or their keys were damaged. They are left out.
    pub(crate) damaged: u64,
}

/// The format of the store in a folder; `None` for one that was never finished.
pub(crate) fn format_of(dir: &Path) -> Result<Option<u32>, KbError> {
    let fail = |source| KbError::of_store(dir, source);
    let env = env::open(dir, Access::Read).map_err(fail)?;
    databases::format(&env).map_err(fail)
}

/// Copies the store in `from` into the folder `to`, which is empty; `progress` is called with the
/// number of values so far. The format is written last.
pub(crate) fn convert(
    from: &Path,
    to: &Path,
    progress: &dyn Fn(u64),
) -> Result<ConvertedCounts, KbError> {
    let source = env::open(from, Access::Read).map_err(|e| KbError::of_store(from, e))?;
    let target = env::open(to, Access::Write).map_err(|e| KbError::of_store(to, e))?;
    let former = former::FormerKeys::read(&from.join("keys"))?;
    let fail = |e| KbError::of_store(to, e);
    let keys = new_keys(&source, &former, &to.join("keys"))?;
    Databases::create(&target).map_err(fail)?;
    let sealing = Sealing { former, keys, damaged: 0 };
    let mut copying = Copying { source: &source, target: &target, sealing, values: 0, progress };
    copying.vectors(&VectorFiles::new(to, true)).map_err(fail)?;
    copying.everything().map_err(fail)?;
    target.force_sync().map_err(fail)?;
    Ok(ConvertedCounts { values: copying.values, damaged: copying.sealing.damaged })
}

/// A new key for every slot that has one; the others are wiped. Returns them by slot.
fn new_keys(
    source: &Env<WithoutTls>,
    former: &former::FormerKeys,
    path: &Path,
) -> Result<Vec<Key>, KbError> {
    let read = || -> heed::Result<(Slot, Vec<Slot>)> {
        let meta = databases::open_existing(source, META)?;
        let waiting = databases::open_existing(source, "wipes")?;
        let txn = source.read_txn()?;
        let known = meta.get(&txn, b"slots")?.map(schema::decode).transpose()?.unwrap_or_default();
        let mut wiped = vec![];
        for entry in waiting.iter(&txn)? {
            wiped.extend(entry?.0.try_into().map(Slot::from_le_bytes).ok());
        }
        Ok((known, wiped))
    };
    let (known, mut wiped) = read().map_err(|e| KbError::of_store(path, e))?;
    let keys = Keys::create(path)?;
    keys.begin(0)?;
    let mut given = vec![];
    for _ in 0..known {
        given.push(keys.give()?.1);
    }
    keys.save()?;
    wiped.extend((0..known).filter(|slot| former.key(*slot).is_none()));
    keys.wipe(&wiped)?;
    Ok(given)
}

/// From one environment to the other.
struct Copying<'a> {
    source: &'a Env<WithoutTls>,
    target: &'a Env<WithoutTls>,
    sealing: Sealing,
    values: u64,
    progress: &'a dyn Fn(u64),
}

/// The keys of both, by slot.
struct Sealing {
    former: former::FormerKeys,
    keys: Vec<Key>,
    damaged: u64,
}

impl Sealing {
    /// A value sealed again, with `open` bytes before it that stay as they are; `None` for one that
    /// cannot be opened.
    fn renew(&mut self, value: &[u8], open: usize) -> Option<Vec<u8>> {
        let renewed = self.renewed(value, open);
        self.damaged += u64::from(renewed.is_none());
        renewed
    }

    fn renewed(&self, value: &[u8], open: usize) -> Option<Vec<u8>> {
        let (head, sealed) = value.split_at_checked(open)?;
        let mut renewed = head.to_vec();
        // A unit that waits has no result.
        if open > 0 && sealed.is_empty() {
            return Some(renewed);
        }
        let (slot, value) = self.opened(sealed)?;
        renewed.extend(slot.to_le_bytes());
        seal(self.keys.get(slot as usize)?, &value, &mut renewed);
        Some(renewed)
    }

    /// A value in the clear, with its slot.
    fn opened(&self, stored: &[u8]) -> Option<(Slot, Vec<u8>)> {
        let (slot, sealed) = stored.split_first_chunk()?;
        let slot = Slot::from_le_bytes(*slot);
        let value = former::unseal(&self.former.key(slot)?, sealed).ok()?;
        Some((slot, value))
    }
}

impl Copying<'_> {
    /// Vectors go into files; of each the key stays, with nothing under it.
    fn vectors(&mut self, files: &VectorFiles) -> heed::Result<()> {
        let meta = databases::open_existing(self.source, META)?;
        let txn = self.source.read_txn()?;
        let embedders = meta.get(&txn, b"embedders")?.map(schema::decode);
        let embedders: Vec<EmbedderRecord> = embedders.transpose()?.unwrap_or_default();
        drop(txn);
        let put = |sealing: &Sealing, key: &[u8], value: &[u8]| -> heed::Result<bool> {
            let Some((embedder, layer, row)) = schema::of_row_key(key) else { return Ok(false) };
            let known = embedders.get(usize::from(embedder));
            let Some((_, bytes)) = sealing.opened(value) else { return Ok(false) };
            let vector: Vec<f32> =
                bytes.as_chunks().0.iter().map(|four| f32::from_le_bytes(*four)).collect();
            let dimensions = vector.len();
            if known.is_none_or(|known| known.dimensions as usize != dimensions) {
                return Ok(false);
            }
            let key = VectorKey { embedder, layer, dimensions };
            files.put(&*files.create(key, Precision::Int8)?, row, &vector)?;
            Ok(true)
        };
        let mut failed = Ok(());
        self.database("vectors", |sealing, key, value| match put(sealing, key, value) {
            Ok(true) => Some(vec![]),
            Ok(false) => {
                sealing.damaged += 1;
                None
            }
            Err(e) => {
                failed = Err(e);
                None
            }
        })?;
        failed?;
        files.sync()
    }

    fn everything(&mut self) -> heed::Result<()> {
        for name in OPEN {
            self.database(name, |_, _, value| Some(value.to_vec()))?;
        }
        let sealed: Vec<_> =
            schema::layer_databases().map(|name| (name, 0)).chain(SEALED).collect();
        for (name, open) in sealed {
            self.database(name, |sealing, _, value| sealing.renew(value, open))?;
        }
        self.database(META, |_, key, value| (key != b"format").then(|| value.to_vec()))?;
        let meta = databases::open_existing(self.target, META)?;
        let mut txn = self.target.write_txn()?;
        meta.put(&mut txn, b"format", &schema::encode(&FORMAT)?)?;
        txn.commit()
    }

    /// Copies the values of a database, each as `change` makes it.
    fn database(
        &mut self,
        name: &str,
        mut change: impl FnMut(&mut Sealing, &[u8], &[u8]) -> Option<Vec<u8>>,
    ) -> heed::Result<()> {
        let from = databases::open_existing(self.source, name)?;
        let to = databases::open_existing(self.target, name)?;
        let reading = self.source.read_txn()?;
        let mut writing = self.target.write_txn()?;
        for (number, entry) in from.iter(&reading)?.enumerate() {
            let (key, value) = entry?;
            let Some(value) = change(&mut self.sealing, key, value) else { continue };
            // In order, so pages are filled one after the other.
            to.put_with_flags(&mut writing, PutFlags::APPEND, key, &value)?;
            self.values += 1;
            if number % BATCH == BATCH - 1 {
                writing.commit()?;
                (self.progress)(self.values);
                writing = self.target.write_txn()?;
            }
        }
        writing.commit()
    }
}
