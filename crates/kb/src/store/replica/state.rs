//! What a replica knows of the shared base, in a database of its own.
use halma_seal::Slot;

use crate::store::schema::{decode, encode};
use crate::store::{Store, StoreReader, StoreWriter};

const KEY: &[u8] = b"state";

/// Up to where a replica has taken in what others wrote, and what it is sending.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct ReplicaState {
    /// The name of the shared base, without a password.
    pub(crate) name: String,
    /// The generation that this replica holds, apart from what it has not sent.
    pub(crate) generation: u64,
    /// Slots whose keys the shared folder of keys holds.
    pub(crate) slots: Slot,
    /// A push that was begun, and whose answer was not heard.
    pub(crate) pending: Option<PendingPush>,
}

/// A push that may have arrived.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct PendingPush {
    pub(crate) id: [u8; 16],
    /// Everything that was written up to this transaction is in it.
    pub(crate) transaction: u64,
    /// So many slots have their keys in the shared folder if it arrived.
    pub(crate) slots: Slot,
}

impl ReplicaState {
    /// The generation of a replica that holds something else than any: all is to be taken in again.
    pub(crate) const NONE: u64 = u64::MAX;
}

impl StoreReader<'_> {
    /// `None` in a store that is no replica.
    pub(crate) fn replica_state(&self) -> heed::Result<Option<ReplicaState>> {
        let Some(replica) = self.store.db.replica else { return Ok(None) };
        Ok(Some(replica.state.get(self, KEY)?.map(decode).transpose()?.unwrap_or_default()))
    }

    /// Whether there is anything that was written here and not sent.
    pub(crate) fn has_unsent(&self) -> heed::Result<bool> {
        let Some(replica) = self.store.db.replica else { return Ok(false) };
        Ok(!replica.journal.is_empty(self)?)
    }
}

impl StoreWriter<'_> {
    pub(crate) fn set_replica_state(&mut self, state: &ReplicaState) -> heed::Result<()> {
        let Some(replica) = self.store.db.replica else { return Ok(()) };
        replica.state.put(self.txn(), KEY, &encode(state)?)
    }

    /// What was last written in this transaction or before is sent.
    pub(crate) fn clear_journal(&mut self, transaction: u64) -> heed::Result<()> {
        let Some(replica) = self.store.db.replica else { return Ok(()) };
        let mut sent = vec![];
        for entry in replica.journal.iter(self)? {
            let (key, written) = entry?;
            if written.try_into().map_or(0, u64::from_be_bytes) <= transaction {
                sent.push(key.to_vec());
            }
        }
        sent.iter().try_for_each(|key| replica.journal.delete(self.txn(), key).map(|_| ()))
    }
}

impl Store {
    /// [`StoreReader::replica_state`] of a view of its own.
    pub(crate) fn replica_state(&self) -> Result<ReplicaState, crate::KbError> {
        self.read(|reader| Ok(reader.replica_state()?.unwrap_or_default()))
    }
}
