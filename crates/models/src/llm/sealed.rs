//! Replies that can be destroyed: each is sealed under a key of its own, and listed under the
//! documents that its request may quote (docs/adr/0010-sealed-records.md).
//!
//! A value is the slot of its key, the number of names, their hashes, and the sealed reply.
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use halma_seal::{Keys, Slot, seal, unseal};
use heed::types::Bytes;
use heed::{CommitOrAbort, Env, RoTxn, RwTxn, WithoutTls};

use super::cache::Key;
use super::store::{StoreError, Table, open_env};

/// A hash of a document's name.
pub(crate) type Name = [u8; 16];

/// Names of tables. A change of the replies' form changes them.
const TABLES: [&str; 4] = ["replies-2", "about-2", "wipes-2", "slots-2"];

/// The key of the only entry of `slots-2`: how many slots are known.
const KNOWN: &[u8] = b"known";

/// A reply to keep.
#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) reply: Arc<[u8]>,
    pub(crate) about: Arc<[Name]>,
}

pub(crate) struct Sealed {
    env: Env<WithoutTls>,
    keys: Keys,
    replies: Table,
    /// (name, key) → nothing.
    about: Table,
    /// Slots whose keys are to be wiped.
    wipes: Table,
    slots: Table,
}

pub(crate) fn name(document: &str) -> Name {
    let hash = blake3::hash(document.as_bytes());
    hash.as_bytes().first_chunk().copied().unwrap_or_default()
}

struct Stored<'a> {
    slot: Slot,
    about: &'a [Name],
    sealed: &'a [u8],
}

impl<'a> Stored<'a> {
    fn new(value: &'a [u8]) -> Option<Self> {
        let (slot, rest) = value.split_first_chunk()?;
        let (count, rest) = rest.split_first_chunk()?;
        let count = u32::from_le_bytes(*count) as usize;
        let (about, sealed) = rest.split_at_checked(count.checked_mul(size_of::<Name>())?)?;
        let (about, _) = about.as_chunks();
        Some(Self { slot: Slot::from_le_bytes(*slot), about, sealed })
    }
}

impl Sealed {
    pub(super) fn open(dir: &Path) -> Result<Self, StoreError> {
        let env = open_env(dir)?;
        let opened =
            env.create_databases_and_commit(env.write_txn()?, |options, transaction| {
                let mut tables = vec![];
                for name in TABLES {
                    tables.push(options.create_database::<Bytes, Bytes>(transaction, Some(name))?);
                }
                let tables: [_; TABLES.len()] = tables
                    .try_into()
                    .map_err(|_| heed::Error::Decoding("a table too many".into()))?;
                Ok::<_, heed::Error>(CommitOrAbort::<_, ()>::Commit(tables))
            })?;
        let [replies, about, wipes, slots] = opened.unwrap_commit();
        let keys = Keys::open(&dir.join("keys"))?;
        let sealed = Self { env, keys, replies, about, wipes, slots };
        let transaction = sealed.env.read_txn()?;
        let left = sealed.wipes.len(&transaction)?;
        drop(transaction);
        if left > 0 {
            sealed.wipe()?;
        }
        Ok(sealed)
    }

    /// `None` also for a reply that is being destroyed.
    pub(super) fn read(&self, key: &Key) -> Result<Option<Vec<u8>>, StoreError> {
        let transaction = self.env.read_txn()?;
        let Some(value) = self.replies.get(&transaction, key)? else { return Ok(None) };
        let Some(stored) = Stored::new(value) else { return Ok(None) };
        let key = self.keys.key(stored.slot)?;
        Ok(key.and_then(|key| unseal(&key, stored.sealed)))
    }

    pub(super) fn entries(&self) -> Result<u64, StoreError> {
        let transaction = self.env.read_txn()?;
        Ok(self.replies.len(&transaction)?)
    }

    /// Writes all of them or none.
    pub(super) fn write(&self, batch: &[(Key, Entry)]) -> Result<(), StoreError> {
        let mut transaction = self.env.write_txn()?;
        self.keys.begin(self.known(&transaction)?)?;
        let written =
            batch.iter().try_for_each(|(key, entry)| self.put(&mut transaction, key, entry));
        let written = written.and_then(|()| {
            let known = self.keys.save()?;
            self.slots.put(&mut transaction, KNOWN, &known.to_le_bytes())?;
            Ok(transaction.commit()?)
        });
        if written.is_err() {
            self.keys.undo();
        }
        written
    }

    fn known(&self, transaction: &RoTxn<'_, WithoutTls>) -> Result<Slot, StoreError> {
        let known = self.slots.get(transaction, KNOWN)?.and_then(|known| known.try_into().ok());
        Ok(known.map_or(0, Slot::from_le_bytes))
    }

    /// A reply that is there already keeps its key and stays listed where it was, because its old
    /// bytes stay in the file.
    fn put(&self, transaction: &mut RwTxn<'_>, key: &Key, entry: &Entry) -> Result<(), StoreError> {
        let mut about: BTreeSet<Name> = entry.about.iter().copied().collect();
        let former = self.replies.get(transaction, key)?.and_then(Stored::new);
        let slot = former.as_ref().map(|former| former.slot);
        about.extend(former.iter().flat_map(|former| former.about));
        let held = slot.map(|slot| self.keys.key(slot)).transpose()?.flatten();
        let (slot, cipher) = match slot.zip(held) {
            Some(held) => held,
            None => self.keys.give()?,
        };
        let mut value = slot.to_le_bytes().to_vec();
        value.extend(u32::try_from(about.len()).unwrap_or(u32::MAX).to_le_bytes());
        for name in &about {
            value.extend(name);
            self.about.put(transaction, &[name, key.as_slice()].concat(), &[])?;
        }
        seal(&cipher, &entry.reply, &mut value);
        Ok(self.replies.put(transaction, key, &value)?)
    }

    /// Destroys what is about any of these; returns how many replies.
    pub(super) fn forget(&self, names: &[Name]) -> Result<u64, StoreError> {
        let mut transaction = self.env.write_txn()?;
        let mut keys = BTreeSet::new();
        for name in names {
            for entry in self.about.prefix_iter(&transaction, name)? {
                keys.extend(entry?.0.last_chunk::<32>().copied());
            }
        }
        for key in &keys {
            self.take_out(&mut transaction, key)?;
        }
        transaction.commit()?;
        if !keys.is_empty() {
            self.wipe()?;
        }
        Ok(keys.len() as u64)
    }

    pub(super) fn clear(&self) -> Result<(), StoreError> {
        let mut transaction = self.env.write_txn()?;
        let mut keys: Vec<Key> = vec![];
        for entry in self.replies.iter(&transaction)? {
            keys.extend(entry?.0.last_chunk::<32>().copied());
        }
        for key in &keys {
            self.take_out(&mut transaction, key)?;
        }
        transaction.commit()?;
        self.wipe()
    }

    fn take_out(&self, transaction: &mut RwTxn<'_>, key: &Key) -> Result<(), StoreError> {
        let Some(value) = self.replies.get(transaction, key)?.map(<[u8]>::to_vec) else {
            return Ok(());
        };
        if let Some(stored) = Stored::new(&value) {
            self.wipes.put(transaction, &stored.slot.to_le_bytes(), &[])?;
            for name in stored.about {
                self.about.delete(transaction, &[name, key.as_slice()].concat())?;
            }
        }
        self.replies.delete(transaction, key)?;
        Ok(())
    }

    /// Wipes the keys of what was taken out; what a process that died has left included.
    fn wipe(&self) -> Result<(), StoreError> {
        let mut transaction = self.env.write_txn()?;
        let mut slots = vec![];
        for entry in self.wipes.iter(&transaction)? {
            slots.extend(entry?.0.try_into().map(Slot::from_le_bytes).ok());
        }
        self.keys.wipe(&slots)?;
        self.wipes.clear(&mut transaction)?;
        Ok(transaction.commit()?)
    }
}
