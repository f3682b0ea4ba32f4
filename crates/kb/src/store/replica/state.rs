//! What a replica knows of the shared base, in a database of its own.
use halma_store::seal::Slot;

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
    /// The id of the push that made the generation. A log that was restored, or lost its end with the
    /// database, has another one there. `None` if a former version took it in.
    pub(crate) push: Option<[u8; 16]>,
    /// Everything was taken in again, and the lexical indexes are of what was there before.
    pub(crate) has_stale_indexes: bool,
}

/// [`ReplicaState`] as former versions wrote it.
#[derive(serde::Deserialize)]
struct FormerState {
    name: String,
    generation: u64,
    slots: Slot,
    pending: Option<PendingPush>,
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

    /// What is stored. Of one that cannot be read the generation is [`ReplicaState::NONE`]: a replica
    /// can be filled again. Former versions read the beginning of it and ignore what follows.
    fn read(bytes: &[u8]) -> Self {
        let former = || {
            let FormerState { name, generation, slots, pending } = decode(bytes).ok()?;
            Some(Self { name, generation, slots, pending, ..Self::default() })
        };
        let unreadable = || Self { generation: Self::NONE, ..Self::default() };
        decode(bytes).ok().or_else(former).unwrap_or_else(unreadable)
    }
}

impl StoreReader<'_> {
    /// `None` in a store that is no replica.
    pub(crate) fn replica_state(&self) -> heed::Result<Option<ReplicaState>> {
        let Some(replica) = self.store.db.replica else { return Ok(None) };
        Ok(Some(replica.state.get(self, KEY)?.map(ReplicaState::read).unwrap_or_default()))
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

    /// Changes the state and leaves the rest of it, which another process may have changed meanwhile.
    pub(crate) fn change_replica_state(
        &mut self,
        change: impl FnOnce(&mut ReplicaState),
    ) -> heed::Result<()> {
        let Some(mut state) = self.replica_state()? else { return Ok(()) };
        change(&mut state);
        self.set_replica_state(&state)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_of_a_former_version_is_read_and_of_a_damaged_one_all_is_taken_in_again() {
        let pending = PendingPush { id: [7; 16], transaction: 300, slots: 12 };
        let former = ("halma".to_owned(), 1234_u64, 11_u32, Some(pending.clone()));
        let bytes = encode(&former).unwrap();
        let mut expected = ReplicaState {
            name: "halma".into(),
            generation: 1234,
            slots: 11,
            pending: Some(pending),
            ..ReplicaState::default()
        };
        assert_eq!(ReplicaState::read(&bytes), expected);
        expected.push = Some([9; 16]);
        expected.has_stale_indexes = true;
        let bytes = encode(&expected).unwrap();
        assert_eq!(ReplicaState::read(&bytes), expected);
        // A former version reads its part.
        let FormerState { generation, slots, .. } = decode(&bytes).unwrap();
        assert_eq!((generation, slots), (1234, 11));
        for damaged in [&bytes[..3], &[0xff; 40]] {
            assert_eq!(ReplicaState::read(damaged).generation, ReplicaState::NONE);
        }
    }
}
