//! Replies that can be destroyed: each is sealed under a key of its own, and listed under the
//! documents that its request may quote (docs/adr/0010-sealed-records.md).
//!
//! A value is the slot of its key, the number of names, their hashes, and the sealed reply.
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use halma_seal::{Keys, Slot, seal, unseal};
use heed::types::Bytes;
use heed::{CommitOrAbort, Env, EnvClosingEvent, RoTxn, RwTxn, WithoutTls};

use super::ages::{Ages, bytes_on_disk};
use super::cache::Key;
use super::store::{StoreError, Table, open_env};

/// A hash of a document's name.
pub(crate) type Name = [u8; 16];

/// Names of tables. A change of the replies' form changes them.
const TABLES: [&str; 5] = ["replies-3", "about-3", "wipes-3", "slots-3", "order-3"];

/// The file of keys.
const KEYS: &str = "reply-keys";

/// Whether a file of this name holds keys; copies included.
pub(super) fn is_key_file(name: &str) -> bool {
    name.starts_with(KEYS)
}

/// The key of the entry of `slots-3` that says how many slots are known.
const KNOWN: &[u8] = b"known";

/// Replies that are removed in one transaction to make room.
const STEP: usize = 1_000;

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
    ages: Ages,
}

/// The keys of an environment; a new one gets some.
fn open_keys(dir: &Path, env: &Env<WithoutTls>, slots: Table) -> Result<Keys, StoreError> {
    let path = dir.join(KEYS);
    // Under the lock for writing, since two processes may make it.
    let transaction = env.write_txn()?;
    let keys = match slots.get(&transaction, KNOWN)? {
        Some(_) => Keys::open(&path).map_err(|e| StoreError::Damaged(e.to_string()))?,
        None => Keys::create(&path)?,
    };
    drop(transaction);
    Ok(keys)
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

    /// About how many bytes it takes on the disk.
    fn bytes(&self) -> u64 {
        let value = 2 * size_of::<Slot>() + size_of_val(self.about) + self.sealed.len();
        bytes_on_disk(value, self.about.len())
    }
}

impl Sealed {
    /// Tells when the environment is closed.
    pub(super) fn closing(&self) -> EnvClosingEvent {
        self.env.clone().prepare_for_closing()
    }

    /// For replies of about `limit` bytes at most.
    pub(super) fn open(dir: &Path, limit: u64) -> Result<Self, StoreError> {
        let env = open_env(dir, limit)?;
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
        let [replies, about, wipes, slots, order] = opened.unwrap_commit();
        let keys = open_keys(dir, &env, slots)?;
        let ages = Ages { order, slots };
        let sealed = Self { env, keys, replies, about, wipes, slots, ages };
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
        let Some(key) = self.keys.key(stored.slot)? else { return Ok(None) };
        unseal(&key, stored.sealed).map(Some).map_err(|e| StoreError::Other(e.to_string()))
    }

    /// Replies, and about how many bytes they take.
    pub(super) fn size(&self) -> Result<(u64, u64), StoreError> {
        let transaction = self.env.read_txn()?;
        Ok((self.replies.len(&transaction)?, self.ages.size(&transaction)?))
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
        let bytes = former.as_ref().map(Stored::bytes);
        if let Some((slot, bytes)) = slot.zip(bytes) {
            self.ages.remove(transaction, slot, bytes)?;
        }
        // One whose key is damaged gets a new one: nothing can be read with the old.
        let held = slot.and_then(|slot| self.keys.key(slot).ok().flatten());
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
        self.ages.add(transaction, slot, key, bytes_on_disk(value.len(), about.len()))?;
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

    /// Destroys the oldest replies where all of them take more than about `limit` bytes: some more
    /// than needed, so that not every write does so again. Returns how many.
    pub(super) fn evict(&self, limit: u64) -> Result<u64, StoreError> {
        if self.ages.size(&self.env.read_txn()?)? <= limit {
            return Ok(0);
        }
        let (mut evicted, enough) = (0, limit - limit / 100);
        loop {
            let mut transaction = self.env.write_txn()?;
            let oldest = self.ages.oldest(&transaction, STEP)?;
            let before = evicted;
            for (slot, key) in &oldest {
                if self.ages.size(&transaction)? <= enough {
                    break;
                }
                self.take_out(&mut transaction, key)?;
                // One that a version without limits has removed may still be listed.
                self.ages.remove(&mut transaction, *slot, 0)?;
                evicted += 1;
            }
            transaction.commit()?;
            if evicted == before {
                break;
            }
        }
        self.wipe()?;
        Ok(evicted)
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
            self.ages.remove(transaction, stored.slot, stored.bytes())?;
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
