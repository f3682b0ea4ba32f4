//! A store of a former format, copied into a new one: every value is opened with the cipher it was
//! sealed with and sealed again with a new key. Vectors, which were sealed values until format 6,
//! go into files. Rows, slots and ids stay what they were, so the lexical index fits.
mod former;

use std::path::Path;

use halma_seal::{Key, Keys, Slot, seal};
use heed::{Env, PutFlags, WithoutTls};

#[cfg(test)]
pub(super) use self::former::LENGTHENED;
use self::former::{Form, FormerSeal};
use super::databases::{self, Databases, META};
use super::schema::{self, EmbedderRecord, FORMAT};
use super::vectors::{self, Precision, VectorFiles, VectorKey};
use super::{Access, env};
use crate::KbError;

/// The first of the former formats that are converted; all later ones are as well.
pub(crate) const FIRST_CONVERTED: u32 = 5;

/// Values written in one transaction.
const BATCH: usize = 20_000;

/// What is in the clear in former formats; `meta`, `vectors` and the databases of layers are not in
/// these lists.
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

/// How a store is converted.
#[derive(Clone, Copy)]
pub(crate) struct ConvertOptions<'a> {
    /// How vectors are stored from now on.
    pub(crate) precision: Precision,
    /// Called with the number of values so far.
    pub(crate) progress: &'a dyn Fn(u64),
}

/// The format of the store in a folder; `None` for one that was never finished.
pub(crate) fn format_of(dir: &Path) -> Result<Option<u32>, KbError> {
    let fail = |source| KbError::of_store(dir, source);
    let env = env::open(dir, Access::Read).map_err(fail)?;
    databases::format(&env).map_err(fail)
}

/// Copies the store in `from`, of a former format, into the folder `to`, which is empty. The format
/// is written last.
pub(crate) fn convert(
    from: &Path,
    to: &Path,
    options: ConvertOptions<'_>,
) -> Result<ConvertedCounts, KbError> {
    let source = env::open(from, Access::Read).map_err(|e| KbError::of_store(from, e))?;
    let target = env::open(to, Access::Write).map_err(|e| KbError::of_store(to, e))?;
    let format = databases::format(&source).map_err(|e| KbError::of_store(from, e))?;
    let format = format.unwrap_or(FIRST_CONVERTED);
    let former = FormerSeal::open(format, &from.join("keys"))?;
    let fail = |e| KbError::of_store(to, e);
    let keys = new_keys(&source, &former, &to.join("keys"))?;
    Databases::create(&target, false).map_err(fail)?;
    let sealing = Sealing { former, format, keys, damaged: 0 };
    let (values, lost_vectors) = (0, false);
    let mut copying =
        Copying { source: &source, target: &target, sealing, values, lost_vectors, options };
    copying.vectors(&VectorFiles::new(to, true)).map_err(fail)?;
    copying.everything().map_err(fail)?;
    target.force_sync().map_err(fail)?;
    Ok(ConvertedCounts { values: copying.values, damaged: copying.sealing.damaged })
}

/// A new key for every slot that has one; the others are wiped. Returns them by slot.
fn new_keys(
    source: &Env<WithoutTls>,
    former: &FormerSeal,
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
    wiped.extend((0..known).filter(|slot| !former.has_key(*slot)));
    keys.wipe(&wiped)?;
    Ok(given)
}

/// From one environment to the other.
struct Copying<'a> {
    source: &'a Env<WithoutTls>,
    target: &'a Env<WithoutTls>,
    sealing: Sealing,
    values: u64,
    lost_vectors: bool,
    options: ConvertOptions<'a>,
}

/// The keys of both, by slot.
struct Sealing {
    former: FormerSeal,
    format: u32,
    keys: Vec<Key>,
    damaged: u64,
}

impl Sealing {
    /// A value sealed again, with `open` bytes before it that stay as they are; `None` for one that
    /// cannot be opened.
    fn renew(&mut self, value: &[u8], open: usize, form: Form) -> Option<Vec<u8>> {
        let renewed = self.renewed(value, open, form);
        self.damaged += u64::from(renewed.is_none());
        renewed
    }

    fn renewed(&self, value: &[u8], open: usize, form: Form) -> Option<Vec<u8>> {
        let (head, sealed) = value.split_at_checked(open)?;
        let mut renewed = head.to_vec();
        // A unit that waits has no result.
        if open > 0 && sealed.is_empty() {
            return Some(renewed);
        }
        let (slot, value) = self.former.open_value(sealed)?;
        renewed.extend(slot.to_le_bytes());
        seal(self.keys.get(slot as usize)?, &form.renew(value)?, &mut renewed);
        Some(renewed)
    }
}

impl Copying<'_> {
    /// Vectors go into files; of each the key stays, with nothing under it. One that cannot be read
    /// stays listed as well, so that the next build embeds its text again.
    fn vectors(&mut self, files: &VectorFiles) -> heed::Result<()> {
        let meta = databases::open_existing(self.source, META)?;
        let txn = self.source.read_txn()?;
        let embedders = meta.get(&txn, b"embedders")?.map(schema::decode);
        let embedders: Vec<EmbedderRecord> = embedders.transpose()?.unwrap_or_default();
        drop(txn);
        let precision = self.options.precision;
        let put = |sealing: &Sealing, key: &[u8], value: &[u8]| -> heed::Result<bool> {
            let Some((embedder, layer, row)) = schema::of_row_key(key) else { return Ok(false) };
            let Some((_, bytes)) = sealing.former.open_value(value) else { return Ok(false) };
            let vector: Vec<f32> =
                bytes.as_chunks().0.iter().map(|four| f32::from_le_bytes(*four)).collect();
            let dimensions = vector.len();
            let known = embedders.get(usize::from(embedder));
            if known.is_none_or(|known| known.dimensions as usize != dimensions) {
                return Ok(false);
            }
            let key = VectorKey { embedder, layer, dimensions };
            VectorFiles::put(&*files.create(key, precision)?, row, &vector)?;
            Ok(true)
        };
        let mut failed = Ok(());
        self.database("vectors", |sealing, key, value| {
            match put(sealing, key, value) {
                Ok(true) => {}
                Ok(false) => sealing.damaged += 1,
                Err(e) => failed = Err(e),
            }
            failed.is_ok().then(Vec::new)
        })?;
        failed?;
        self.lost_vectors = self.sealing.damaged > 0;
        files.sync()
    }

    fn everything(&mut self) -> heed::Result<()> {
        for name in OPEN {
            self.database(name, |_, _, value| Some(value.to_vec()))?;
        }
        let sealed: Vec<_> =
            schema::layer_databases().map(|name| (name, 0)).chain(SEALED).collect();
        for (name, open) in sealed {
            self.database(name, |sealing, key, value| {
                let form = Form::find(sealing.format, name, (key, value));
                sealing.renew(value, open, form)
            })?;
        }
        // Bases that were not opened since there is feedback have none.
        let [records, links] = databases::FEEDBACK;
        if databases::open_one(self.source, records)?.is_some() {
            self.database(records, |sealing, _, value| sealing.renew(value, 0, Form::Same))?;
            self.database(links, |_, _, value| Some(value.to_vec()))?;
        }
        self.database(META, |_, key, value| (key != b"format").then(|| value.to_vec()))?;
        let meta = databases::open_existing(self.target, META)?;
        let mut txn = self.target.write_txn()?;
        if self.lost_vectors {
            let (key, value) = vectors::in_doubt()?;
            meta.put(&mut txn, key, &value)?;
        }
        meta.put(&mut txn, b"precision", &schema::encode(&self.options.precision)?)?;
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
                (self.options.progress)(self.values);
                writing = self.target.write_txn()?;
            }
        }
        writing.commit()
    }
}
