//! Taking in what others wrote: from where a replica is, or everything where the log does not lead on
//! from there.
use std::fs::TryLockError;

use super::replication::LOCK;
use super::sending::sum_id;
use super::{Head, Replication};
use crate::store::{Extent, PendingPush, ReplicaState, Store};
use crate::{KbError, lock_file};

impl Replication {
    /// Takes in what others wrote, unless this process or another one on this machine leads, which
    /// has it already; returns whether there was anything.
    pub(crate) fn pull(&self, store: &Store) -> Result<bool, KbError> {
        let is_lent = self.lends_replica();
        match self.leadership.try_lock() {
            _ if is_lent => {}
            Some(leadership) if leadership.writers == 0 => {}
            _ => return Ok(false),
        }
        // Without the lock: while the database is away, a write must not wait for this question.
        let head = self.upstream.head()?;
        let state = store.replica_state()?;
        if is_at(&state, &head) && !is_other(store, &head)? {
            if state.push.is_none() && head.push.is_some() {
                // A former version took it in: from now on it is known.
                store.write_here(|writer| {
                    writer.change_replica_state(|state| {
                        if is_at(state, &head) {
                            state.push = head.push;
                        }
                    })
                })?;
            }
            return Ok(false);
        }
        if is_lent {
            return self.take_in(store);
        }
        let file = lock_file::open(&self.dir, LOCK)?;
        let failed = |e| KbError::io(self.dir.join(LOCK), "lock", e);
        match file.try_lock() {
            Ok(()) => self.take_in(store),
            // Another process fills the replica. Until it has, there is nothing to be searched.
            Err(TryLockError::WouldBlock) if state.generation == 0 => {
                file.lock().map_err(failed)?;
                self.take_in(store)
            }
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(e)) => Err(failed(e)),
        }
    }

    /// Returns whether there was anything. The caller holds the lock.
    pub(super) fn take_in(&self, store: &Store) -> Result<bool, KbError> {
        let head = self.upstream.head()?;
        let mut state = store.replica_state()?;
        let is_replaced = is_other(store, &head)? || self.settle(store, &mut state, &head)?;
        let next = if is_replaced { None } else { self.next_after(&state, &head)? };
        if next.is_some() && state.generation == head.generation {
            return Ok(false);
        }
        let extent = if next.is_some() { Extent::New } else { Extent::Whole };
        let shared = self.keys_of(head.base.unwrap_or_default());
        let keys = |slots| shared.read(slots);
        let received = store.receive(&keys, extent, |take| {
            let after = next.unwrap_or(head.first.saturating_sub(1));
            self.upstream.segments(after, head.generation, take)?;
            let (name, generation) = (self.name().to_owned(), head.generation);
            Ok(ReplicaState { name, generation, push: head.push, ..ReplicaState::default() })
        })?;
        shared.wipe(&received.wiped)?;
        Ok(true)
    }

    /// What was written here and not confirmed: a push that arrived is noted, and one that did not
    /// is kept, unless others have written since. Returns whether everything is to be taken in again.
    fn settle(
        &self,
        store: &Store,
        state: &mut ReplicaState,
        head: &Head,
    ) -> Result<bool, KbError> {
        if is_at(state, head) || !store.read(|reader| reader.has_unsent())? {
            return Ok(false);
        }
        let arrived = state.pending.take().filter(|pending| head.push == Some(pending.id));
        let Some(PendingPush { transaction, slots, .. }) = arrived else {
            tracing::warn!(
                "what was last written on this machine may not have reached `{}` before another \
                 machine wrote there; what is not there is dropped",
                self.name()
            );
            return Ok(true);
        };
        let wiped = store
            .with_outgoing(false, |outgoing| outgoing.wiped_slots().map_err(|e| store.failed(e)))?;
        self.keys_of(head.base.unwrap_or_default()).wipe(&wiped)?;
        *state = store.write_here(|writer| {
            writer.clear_journal(transaction)?;
            writer.change_replica_state(|state| {
                (state.generation, state.push) = (head.generation, head.push);
                (state.slots, state.pending) = (slots, None);
            })?;
            Ok(writer.replica_state()?.unwrap_or_default())
        })?;
        Ok(false)
    }

    /// The generation after which a replica reads on; `None` if the log does not lead on from where
    /// it is: it is behind a push of the whole, which does not say what was deleted with it, or the
    /// log was restored or lost its end, and what the replica has is not what is there.
    fn next_after(&self, state: &ReplicaState, head: &Head) -> Result<Option<u64>, KbError> {
        let ReplicaState { generation, push, .. } = *state;
        if generation == 0 {
            return Ok(Some(head.first.saturating_sub(1)));
        }
        if generation.checked_add(1) == Some(head.first) {
            // The whole of what the replica has, unless it was sent with something new in it.
            let Some(push) = push else { return Ok(None) };
            let is_sum = self.upstream.generation_of(&sum_id(&push))? == Some(head.first);
            return Ok(is_sum.then_some(head.first));
        }
        let is_there = match push {
            _ if !(head.first..=head.generation).contains(&generation) => false,
            None => true,
            Some(_) if generation == head.generation => is_at(state, head),
            Some(push) => self.upstream.generation_of(&push)? == Some(generation),
        };
        if !is_there && generation >= head.first && generation != ReplicaState::NONE {
            tracing::warn!(
                "`{}` does not hold what this machine has of it: a backup was restored, or a standby \
                 took over that lacks the last writes; all of it is read again",
                self.name()
            );
        }
        Ok(is_there.then_some(generation))
    }
}

/// Whether a replica has the last push. What a former version has taken in is not known by its push.
fn is_at(state: &ReplicaState, head: &Head) -> bool {
    state.generation == head.generation && (state.push.is_none() || state.push == head.push)
}

/// Whether another base has taken the place of the one that a replica is of.
fn is_other(store: &Store, head: &Head) -> Result<bool, KbError> {
    let local_uid = store.read(|reader| reader.meta::<u64>("uid"))?;
    Ok(head.base.zip(local_uid).is_some_and(|(there, here)| there != here))
}
