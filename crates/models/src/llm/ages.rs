//! The order in which replies came and what they take on the disk, so that a cache with a limit can
//! destroy the oldest.
//!
//! Slots of keys are given in sequence, so the order of the slots is that of the replies.
use halma_seal::Slot;
use heed::{RoTxn, RwTxn, WithoutTls};

use super::cache::Key;
use super::store::{StoreError, Table};

/// The key of the entry of `slots-3` with the bytes of all replies.
const SIZE: &[u8] = b"size";

/// Bytes for the entries of a reply besides the value itself: its keys in the files of keys and its
/// place in the order.
const ENTRIES: u64 = 100;
/// Bytes of an entry that lists a reply under the name of a document.
const NAME_ENTRY: u64 = 84;
/// A value of more bytes gets pages of its own in LMDB; others share pages.
const SHARES: u64 = 1_990;
const PAGE: u64 = 4_096;

pub(super) struct Ages {
    /// Slot, with its greatest byte first → key of the reply.
    pub(super) order: Table,
    /// The table with the entry [`SIZE`].
    pub(super) slots: Table,
}

impl Ages {
    /// About how many bytes all replies take on the disk.
    pub(super) fn size(&self, transaction: &RoTxn<'_, WithoutTls>) -> Result<u64, StoreError> {
        let size = self.slots.get(transaction, SIZE)?.and_then(|size| size.try_into().ok());
        Ok(size.map_or(0, u64::from_le_bytes))
    }

    pub(super) fn set_size(
        &self,
        transaction: &mut RwTxn<'_>,
        bytes: u64,
    ) -> Result<(), StoreError> {
        Ok(self.slots.put(transaction, SIZE, &bytes.to_le_bytes())?)
    }

    /// A reply of this key was stored in a slot.
    pub(super) fn add(
        &self,
        transaction: &mut RwTxn<'_>,
        slot: Slot,
        key: &Key,
        bytes: u64,
    ) -> Result<(), StoreError> {
        self.order.put(transaction, &slot.to_be_bytes(), key)?;
        let size = self.size(transaction)?;
        self.set_size(transaction, size.saturating_add(bytes))
    }

    /// The reply in a slot is removed.
    pub(super) fn remove(
        &self,
        transaction: &mut RwTxn<'_>,
        slot: Slot,
        bytes: u64,
    ) -> Result<(), StoreError> {
        self.order.delete(transaction, &slot.to_be_bytes())?;
        let size = self.size(transaction)?;
        self.set_size(transaction, size.saturating_sub(bytes))
    }

    /// The first slots with the keys of their replies, at most `count`.
    pub(super) fn oldest(
        &self,
        transaction: &RoTxn<'_, WithoutTls>,
        count: usize,
    ) -> Result<Vec<(Slot, Key)>, StoreError> {
        let mut oldest = vec![];
        for entry in self.order.iter(transaction)?.take(count) {
            let (slot, key) = entry?;
            let slot = slot.try_into().map(Slot::from_be_bytes);
            oldest.extend(slot.ok().zip(key.first_chunk().copied()));
        }
        Ok(oldest)
    }
}

/// About how many bytes a value of this length takes on the disk, when its reply is listed under
/// `names` documents. Pages that values share are two thirds full, as random keys leave them.
pub(super) fn bytes_on_disk(value: usize, names: usize) -> u64 {
    let value = value as u64;
    let own = if value > SHARES {
        (value + 16).next_multiple_of(PAGE)
    } else {
        (value + 40).saturating_mul(3) / 2
    };
    own + ENTRIES + NAME_ENTRY * names as u64
}
