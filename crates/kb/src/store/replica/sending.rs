//! Sending what was written in a replica to the shared base.
use super::leading::lock;
use super::{Lease, Push, Replication, UpstreamError};
use crate::KbError;
use crate::store::replica::outgoing::Outgoing;
use crate::store::{PendingPush, Store};

/// Pushes after which the whole is sent, so that a new replica does not repeat each of them.
const PUSHES: u64 = 500;

/// Segments that were read and are not sent yet, at most.
const QUEUED: usize = 8;

/// A push that is to be made.
struct NextPush<'a> {
    lease: &'a dyn Lease,
    is_whole: bool,
    id: [u8; 16],
    /// The generation that it follows.
    expected: u64,
}

impl Replication {
    /// Sends what was written and is not sent yet.
    pub(super) fn send_by(&self, store: &Store, lease: &dyn Lease) -> Result<(), KbError> {
        let _alone = lock(&self.sending);
        if !store.read(|reader| reader.has_unsent())? {
            return Ok(());
        }
        let (id, expected) = (push_id()?, store.replica_state()?.generation);
        let first = self.upstream.head()?.first;
        let is_whole = expected >= first.saturating_add(PUSHES);
        self.push(store, &NextPush { lease, is_whole, id, expected })
    }

    /// Sends everything that there is, in the place of what was sent before. A lease must be held.
    pub(crate) fn send_whole(&self, store: &Store) -> Result<(), KbError> {
        let _alone = lock(&self.sending);
        let lease = lock(&self.held).lease.clone().ok_or_else(|| self.lost())?;
        let (id, expected) = (push_id()?, self.upstream.head()?.generation);
        self.push(store, &NextPush { lease: lease.as_ref(), is_whole: true, id, expected })
    }

    fn push(&self, store: &Store, push: &NextPush<'_>) -> Result<(), KbError> {
        let NextPush { lease, is_whole, id, expected } = *push;
        let (base, sent_slots) = store.write_here(|writer| {
            let slots = writer.meta("slots")?.unwrap_or_default();
            // Should the answer be lost, what was written until now is known to have arrived.
            let pending = PendingPush { id, transaction: writer.id() as u64, slots };
            let mut sent_slots = 0;
            writer.change_replica_state(|state| {
                self.name().clone_into(&mut state.name);
                state.pending = Some(pending);
                sent_slots = state.slots;
            })?;
            Ok((writer.uid()?, sent_slots))
        })?;
        let (generation, transaction, slots) = store.with_outgoing(is_whole, |outgoing| {
            let first = if is_whole { 0 } else { sent_slots };
            let keys = store.list_keys(first..outgoing.slots)?;
            let shared = self.keys_of(base);
            if !shared.write(lease.fence(), first, &keys)? {
                return Err(self.lost());
            }
            let push = Push { id, expected, base, is_whole };
            let generation = push_segments(lease, &push, outgoing)?;
            let wiped = outgoing.wiped_slots().map_err(|e| store.failed(e))?;
            shared.wipe(&wiped)?;
            Ok((generation, outgoing.transaction, outgoing.slots))
        })?;
        store.write_here(|writer| {
            writer.clear_journal(transaction)?;
            writer.change_replica_state(|state| {
                (state.generation, state.push) = (generation, Some(id));
                (state.slots, state.pending) = (slots, None);
            })
        })
    }
}

/// Segments are read from the store while those before are sent.
fn push_segments(lease: &dyn Lease, push: &Push, outgoing: &Outgoing<'_>) -> Result<u64, KbError> {
    // The last message says that it was the last: without it reading has failed.
    let (sender, receiver) = std::sync::mpsc::sync_channel::<Option<Vec<u8>>>(QUEUED);
    std::thread::scope(|scope| {
        let pushing = scope.spawn(move || {
            lease.push(push, &mut || receiver.recv().map_err(|_| UpstreamError::Interrupted))
        });
        let over = |_| UpstreamError::Interrupted.into();
        let read = outgoing.segments(&mut |segment| sender.send(Some(segment)).map_err(over));
        let read = read.and_then(|()| sender.send(None).map_err(over));
        drop(sender);
        let pushed = pushing.join();
        let pushed = pushed.map_err(|panic| KbError::worker_panicked("sending", &panic))?;
        match (read, pushed) {
            // One side ends because the other did, which says why.
            (Err(e), Ok(_) | Err(UpstreamError::Interrupted)) => Err(e),
            (_, pushed) => Ok(pushed?),
        }
    })
}

fn push_id() -> Result<[u8; 16], KbError> {
    let mut id = [0; 16];
    let failed = |e| UpstreamError::Failed { message: format!("no random number: {e}") };
    getrandom::fill(&mut id).map_err(failed)?;
    Ok(id)
}
