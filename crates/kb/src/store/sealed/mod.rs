//! Sealing: every record, text and vector is stored enciphered under its owner's key, which is
//! wiped when the owner goes. LMDB copies pages and never clears them, so what was deleted would
//! else be read in the file for years (docs/adr/0010-sealed-records.md).
//!
//! A sealed value is the slot of its key in the clear, then what `halma_store::seal` makes of it.
mod shared;

use std::collections::HashMap;
use std::ops::Range;

use halma_core::Layer;
use halma_store::seal::{DamagedValue, Key, SealError, Slot, seal, unseal, unseal_part, value_len};
use serde::de::DeserializeOwned;

pub(super) use shared::{is_shared, shared_owner};

use super::schema::{At, at_key, decode, layer_of, of_row_key, row_of};
use super::{Row, Store, StoreReader, StoreWriter, Table};
use crate::KbError;

/// Bytes of the slot that stands before a value.
const SLOT: usize = size_of::<Slot>();

/// What [`at_key`] made, also at the end of a longer key.
pub(super) fn at_of_key(key: &[u8]) -> Option<At> {
    let key: &[u8; 5] = key.last_chunk()?;
    Some((layer_of(key[0])?, row_of(key)))
}

pub(super) fn broken(source: SealError) -> heed::Error {
    heed::Error::Io(std::io::Error::new(source.source.kind(), source))
}

fn damaged(source: DamagedValue) -> heed::Error {
    heed::Error::Decoding(Box::new(source))
}

fn split(value: &[u8]) -> Option<(Slot, &[u8])> {
    let (slot, sealed) = value.split_first_chunk::<SLOT>()?;
    Some((Slot::from_le_bytes(*slot), sealed))
}

impl Store {
    /// Appends a value, sealed with the key of a slot.
    pub(super) fn seal_onto(
        &self,
        slot: Slot,
        value: &[u8],
        bytes: &mut Vec<u8>,
    ) -> heed::Result<()> {
        let Some(cipher) = self.keys.key(slot).map_err(broken)? else {
            return Err(heed::Error::Encoding(format!("key {slot} is gone").into()));
        };
        bytes.extend(slot.to_le_bytes());
        seal(&cipher, value, bytes);
        Ok(())
    }

    /// A stored value; `None` when its key was wiped, that is, its owner deleted after this view
    /// of the store was taken. A damaged one is an error.
    pub(super) fn unsealed(&self, stored: &[u8]) -> heed::Result<Option<Vec<u8>>> {
        let Some((key, sealed)) = self.with_key(stored)? else { return Ok(None) };
        unseal(&key, sealed).map(Some).map_err(damaged)
    }

    /// What was encoded and stored; `None` as for [`Store::unsealed`].
    pub(super) fn decode_sealed<T: DeserializeOwned>(
        &self,
        stored: &[u8],
    ) -> heed::Result<Option<T>> {
        self.unsealed(stored)?.map(|value| decode(&value)).transpose()
    }

    /// A part of a stored value; `None` also when the value is shorter.
    pub(super) fn unsealed_part(
        &self,
        stored: &[u8],
        part: Range<usize>,
    ) -> heed::Result<Option<Vec<u8>>> {
        let Some((key, sealed)) = self.with_key(stored)? else { return Ok(None) };
        unseal_part(&key, sealed, part).map_err(damaged)
    }

    /// Why a stored value cannot be read; `None` for one that is what was once stored.
    pub(super) fn unreadable(&self, stored: &[u8]) -> Option<&'static str> {
        let Some((slot, sealed)) = split(stored) else {
            return Some("cannot be read: its bytes are damaged");
        };
        match self.keys.key(slot) {
            Err(_) => Some("cannot be read: its key is damaged, and so is the copy"),
            Ok(None) => Some("cannot be read: its key is gone"),
            Ok(Some(key)) => {
                unseal(&key, sealed).err().map(|_| "cannot be read: its bytes are damaged")
            }
        }
    }

    /// The keys of slots, for those who take over what is sealed with them.
    pub(crate) fn list_keys(&self, slots: Range<Slot>) -> Result<Vec<Option<Key>>, SealError> {
        self.keys.list(slots.start, slots.end)
    }

    fn with_key<'a>(&self, stored: &'a [u8]) -> heed::Result<Option<(Key, &'a [u8])>> {
        let Some((slot, sealed)) = split(stored) else {
            return Err(heed::Error::Decoding("a value is too short to be sealed".into()));
        };
        Ok(self.keys.key(slot).map_err(broken)?.map(|key| (key, sealed)))
    }

    /// Length of the value in a stored one.
    pub(super) fn sealed_len(stored: &[u8]) -> usize {
        value_len(stored.len().saturating_sub(SLOT)).unwrap_or_default()
    }

    /// The slot that a stored value is sealed with.
    pub(super) fn slot_in(stored: &[u8]) -> Option<Slot> {
        split(stored).map(|(slot, _)| slot)
    }

    /// Whether a key is there.
    pub(super) fn has_key(&self, slot: Slot) -> heed::Result<bool> {
        Ok(self.keys.key(slot).map_err(broken)?.is_some())
    }

    /// Finishes what a write that was killed has left to wipe. The caller holds the base's lock.
    pub(crate) fn settle(&self) -> Result<(), KbError> {
        let open = self.read(|reader| {
            let committed = reader.meta::<Slot>("slots")?.unwrap_or_default();
            let given = self.keys.slots().map_err(broken)?;
            Ok(given != committed || !self.db.wipes.is_empty(reader)?)
        })?;
        if open { self.write_here(|_| Ok(())) } else { Ok(()) }
    }

    /// Under LMDB's lock for writing: keys that no commit knows of go.
    pub(super) fn begin_keys(&self, reader: &StoreReader<'_>) -> Result<(), KbError> {
        let committed = reader.meta::<Slot>("slots").map_err(|e| self.failed(e))?;
        Ok(self.keys.begin(committed.unwrap_or_default())?)
    }

    /// Wipes what the last commit removed. That commit is brought to the disk first: were it
    /// undone by a power failure, its records must still be there.
    pub(super) fn wipe_keys(&self) -> Result<(), KbError> {
        self.env.force_sync().map_err(|e| self.failed(e))?;
        let mut txn = self.env.write_txn().map_err(|e| self.failed(e))?;
        let wipe = || -> heed::Result<(Vec<Slot>, Erasures)> {
            let (mut slots, mut erasures) = (vec![], Erasures::default());
            for entry in self.db.wipes.iter(&txn)? {
                let (key, _) = entry?;
                slots.extend(key.try_into().map(Slot::from_le_bytes).ok());
                if let Some((embedder, layer, row)) = of_row_key(key) {
                    erasures.rows.entry((embedder, layer)).or_default().push(row);
                }
                if let [embedder] = key {
                    erasures.embedders.push(*embedder);
                }
            }
            Ok((slots, erasures))
        };
        let (slots, erasures) = wipe().map_err(|e| self.failed(e))?;
        self.keys.wipe(&slots)?;
        self.erase(erasures).map_err(|e| self.failed(e))?;
        self.db.wipes.clear(&mut txn).map_err(|e| self.failed(e))?;
        txn.commit().map_err(|e| self.failed(e))
    }
}

/// Vectors to be overwritten, and embedders whose files go.
#[derive(Default)]
struct Erasures {
    rows: HashMap<(u8, Layer), Vec<Row>>,
    embedders: Vec<u8>,
}

impl Store {
    fn erase(&self, erasures: Erasures) -> heed::Result<()> {
        for ((embedder, layer), rows) in erasures.rows {
            self.vectors.erase(embedder, layer, &rows)?;
        }
        let txn = self.env.read_txn()?;
        let reader = StoreReader::new(self, txn)?;
        for embedder in erasures.embedders {
            // The same embedder may have begun again since.
            let record = reader.embedders()?.into_iter().nth(usize::from(embedder));
            let is_in_use = reader.has_any_vector(embedder)?;
            let keep = record.filter(|_| is_in_use).map(|record| record.dimensions as usize);
            self.vectors.remove(embedder, keep)?;
        }
        Ok(())
    }
}

impl StoreReader<'_> {
    /// The slot that a node is sealed with; `None` when the node is gone.
    pub(super) fn slot_of_node(&self, (layer, row): At) -> heed::Result<Option<Slot>> {
        Ok(self.store.layer(layer).get(self, &row.to_be_bytes())?.and_then(Store::slot_in))
    }

    /// Every owner with its slot.
    pub(super) fn owners(&self) -> heed::Result<Vec<(At, Slot)>> {
        let mut owners = vec![];
        for entry in self.store.db.slots.iter(self)? {
            let (key, slot) = entry?;
            let slot = slot.try_into().map(Slot::from_le_bytes);
            owners.extend(at_of_key(key).zip(slot.ok()));
        }
        Ok(owners)
    }
}

impl StoreWriter<'_> {
    /// Seals a value and stores it. Whatever holds words of a document or of a model is stored
    /// through this.
    pub(super) fn put_sealed(
        &mut self,
        db: Table,
        key: &[u8],
        slot: Slot,
        value: &[u8],
    ) -> heed::Result<()> {
        let mut bytes = vec![];
        self.store.seal_onto(slot, value, &mut bytes)?;
        db.put(self.txn(), key, &bytes)
    }

    /// The slot of an owner, which gets one when it has none.
    pub(super) fn slot_of(&mut self, owner: At) -> heed::Result<Slot> {
        if let Some(slot) = self.store.db.slots.get(self, &at_key(owner))? {
            let slot = slot.try_into().map_err(|_| heed::Error::Decoding("a bad slot".into()))?;
            return Ok(Slot::from_le_bytes(slot));
        }
        let (slot, _) = self.store.keys.give().map_err(broken)?;
        self.store.db.slots.put(self.txn(), &at_key(owner), &slot.to_le_bytes())?;
        Ok(slot)
    }

    /// A slot for a value that belongs to no node; its slot is put into `wipes` when it goes.
    pub(super) fn new_slot(&mut self) -> heed::Result<Slot> {
        self.store.keys.give().map(|(slot, _)| slot).map_err(broken)
    }

    /// Everything sealed for an owner becomes unreadable with the commit of this write; what is sealed
    /// for it from now on has another key.
    pub(super) fn forget_owner(&mut self, owner: At) -> heed::Result<()> {
        let Some(slot) = self.store.db.slots.get(self, &at_key(owner))?.map(<[u8]>::to_vec) else {
            return Ok(());
        };
        self.store.db.wipes.put(self.txn(), &slot, &[])?;
        self.store.db.slots.delete(self.txn(), &at_key(owner))?;
        Ok(())
    }

    /// New keys are on the disk before the commit that uses them. Returns whether any are to be
    /// wiped after it.
    pub(super) fn save_keys(&mut self) -> heed::Result<bool> {
        let slots = self.store.keys.save().map_err(broken)?;
        if !self.is_receiving && self.meta::<Slot>("slots")?.unwrap_or_default() != slots {
            self.set_meta("slots", &slots)?;
        }
        Ok(!self.store.db.wipes.is_empty(self)?)
    }
}
