//! Sending what was written in a replica to the shared base.
use super::{Lease, Push, Replication};
use crate::store::{PendingPush, Store};
use crate::{KbError, UpstreamError, lock_file};

/// Pushes after which the whole is sent, so that a new replica does not repeat each of them: at the
/// end of a build, which takes its time. Who writes alone waits for the answer, and sends it only
/// where no build has done so for long.
const PUSHES: u64 = 500;
const MAX_PUSHES: u64 = 4 * PUSHES;

/// Segments that were read and are not sent yet, at most.
const QUEUED: usize = 8;

/// Segments of what can wait, after which it is asked whether an urgent write does.
const STEP: usize = 64;

/// Hands a segment on.
type HandOn<'a> = dyn FnMut(Vec<u8>) -> Result<(), KbError> + 'a;

/// What is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sent {
    /// What was written since the last push.
    New,
    /// Everything, of which nothing is new: replicas that have the push before need not read it.
    Sum,
    /// Everything, in the place of another base.
    Whole,
}

/// A push that is to be made.
struct NextPush<'a> {
    lease: &'a dyn Lease,
    sent: Sent,
    id: [u8; 16],
    /// The generation that it follows.
    expected: u64,
}

impl Replication {
    /// Sends what was written and is not sent yet.
    pub(super) fn send_by(&self, store: &Store, lease: &dyn Lease) -> Result<(), KbError> {
        let _alone = self.sending.lock();
        if !store.read(|reader| reader.has_unsent())? {
            return Ok(());
        }
        let (id, expected) = (push_id()?, store.replica_state()?.generation);
        self.push(store, &NextPush { lease, sent: Sent::New, id, expected })?;
        if let Err(reason) = self.sum_up_after(store, lease, MAX_PUSHES) {
            tracing::warn!("{reason}; it was written, and all of it is sent once more later");
        }
        Ok(())
    }

    /// Sends everything that there is, in the place of what was sent before. A lease must be held.
    pub(crate) fn send_whole(&self, store: &Store) -> Result<(), KbError> {
        let _alone = self.sending.lock();
        let lease = self.leadership.lock().lease.clone().ok_or_else(|| self.lost())?;
        let (id, expected) = (push_id()?, self.upstream.head()?.generation);
        self.push(store, &NextPush { lease: lease.as_ref(), sent: Sent::Whole, id, expected })
    }

    /// Sends everything once more if many pushes were made since the last time, so that a new replica
    /// does not repeat each of them. Gives way to urgent writes. A lease must be held.
    pub(crate) fn sum_up(&self, store: &Store) -> Result<(), KbError> {
        if lock_file::Room::open(&self.dir)?.is_asked_for() || self.is_wanted()? {
            return Ok(());
        }
        let _alone = self.sending.lock();
        let lease = self.leadership.lock().lease.clone().ok_or_else(|| self.lost())?;
        self.sum_up_after(store, lease.as_ref(), PUSHES)
    }

    fn sum_up_after(&self, store: &Store, lease: &dyn Lease, pushes: u64) -> Result<(), KbError> {
        let (first, state) = (self.upstream.head()?.first, store.replica_state()?);
        let expected = state.generation;
        if expected < first.saturating_add(pushes) {
            return Ok(());
        }
        // Without the id of the last push, as a former version leaves it, others read everything.
        let id = state.push.map_or_else(push_id, |push| Ok(sum_id(&push)))?;
        match self.push(store, &NextPush { lease, sent: Sent::Sum, id, expected }) {
            // Nothing of it was written, and nothing needs it.
            Err(KbError::Upstream(UpstreamError::Interrupted)) => Ok(()),
            sent => sent,
        }
    }

    fn push(&self, store: &Store, push: &NextPush<'_>) -> Result<(), KbError> {
        let NextPush { lease, sent, id, expected } = *push;
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
        let is_whole = sent != Sent::New;
        let done = store.with_outgoing(is_whole, |outgoing| {
            if sent == Sent::Sum && outgoing.has_unsent().map_err(|e| store.failed(e))? {
                // Another write of this process has come in between: with the next push.
                return Ok(None);
            }
            let first = if is_whole { 0 } else { sent_slots };
            let keys = store.list_keys(first..outgoing.slots)?;
            let shared = self.keys_of(base);
            if !shared.write(lease.fence(), first, &keys)? {
                return Err(self.lost());
            }
            let push = Push { id, expected, base, is_whole };
            let generation = push_segments(lease, &push, &mut |send| {
                let mut count = 0_usize;
                outgoing.segments(&mut |segment| {
                    count += 1;
                    if sent == Sent::Sum && count.is_multiple_of(STEP) && lease.is_wanted()? {
                        return Err(UpstreamError::Interrupted.into());
                    }
                    send(segment)
                })
            })?;
            let wiped = outgoing.wiped_slots().map_err(|e| store.failed(e))?;
            shared.wipe(&wiped)?;
            Ok(Some((generation, outgoing.transaction, outgoing.slots)))
        })?;
        let Some((generation, transaction, slots)) = done else { return Ok(()) };
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
fn push_segments(
    lease: &dyn Lease,
    push: &Push,
    read: &mut dyn FnMut(&mut HandOn<'_>) -> Result<(), KbError>,
) -> Result<u64, KbError> {
    // The last message says that it was the last: without it reading has failed.
    let (sender, receiver) = std::sync::mpsc::sync_channel::<Option<Vec<u8>>>(QUEUED);
    std::thread::scope(|scope| {
        let pushing = scope.spawn(move || {
            lease.push(push, &mut || receiver.recv().map_err(|_| UpstreamError::Interrupted))
        });
        let over = |_| UpstreamError::Interrupted.into();
        let read = read(&mut |segment| sender.send(Some(segment)).map_err(over));
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

/// The id of a push of everything that follows `push` and says nothing new.
pub(super) fn sum_id(push: &[u8; 16]) -> [u8; 16] {
    let mut id = [0; 16];
    id.copy_from_slice(&blake3::derive_key("halma push of the whole after another", push)[..16]);
    id
}
