//! Keeping a replica and the shared base alike: taking in what others wrote, and sending what was
//! written here.
use std::fs::{File, TryLockError as FileError};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, TryLockError};
use std::time::{Duration, Instant};

use halma_seal::KeyStore;

use super::leading::lock;
use super::removals::Removals;
use super::waiting::Waiting;
use super::{Head, IsUrgent, Lease, Push, Upstream, UpstreamError, Urgency};
use crate::KbError;
use crate::lock_file;
use crate::store::{Extent, Outgoing, PendingPush, ReplicaState, Store};

/// Held by the process on this machine that leads or takes in.
const LOCK: &str = "replica.lock";

/// Pushes after which the whole is sent, so that a new replica does not repeat each of them.
const PUSHES: u64 = 500;

/// When what a listener could not do is tried again.
const AGAIN: Duration = Duration::from_secs(30);

/// Segments that were read and are not sent yet, at most.
const QUEUED: usize = 8;

/// How a replica is shared.
pub(crate) struct Replication {
    upstream: Arc<dyn Upstream>,
    /// The folder of keys that all replicas share.
    keys: PathBuf,
    dir: PathBuf,
    pub(super) held: Mutex<HeldLease>,
    /// One push at a time.
    sending: Mutex<()>,
    /// Held while what others wrote is taken in, until searches find it.
    pub(super) taking_in: Mutex<()>,
    pub(super) waiting: Waiting,
    /// What was taken in and is not in the indexes yet.
    pub(super) unindexed: Mutex<Pulled>,
    removals: Removals,
    listener: OnceLock<RemovalListener>,
    /// When a listener that left something to do is asked again.
    told_again: Mutex<Option<Instant>>,
}

/// Hears of documents that other machines have removed; returns whether nothing is left to be done.
pub(crate) type RemovalListener = Box<dyn Fn(&[String]) -> bool + Send + Sync>;

/// What the writes of this process share.
#[derive(Default)]
pub(super) struct HeldLease {
    pub(super) writers: usize,
    lease: Option<Arc<dyn Lease>>,
    lock: Option<File>,
}

/// What a write asks for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LeadRequest {
    pub(crate) urgency: Urgency,
    /// Whether it holds the lock of the indexes.
    pub(crate) has_indexes: bool,
}

/// What was found when a replica was compared with the shared base.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pulled {
    /// Nothing was new.
    Current,
    Changed,
    /// Everything was taken in again, so that indexes are to be made again.
    Replaced,
}

impl Replication {
    pub(crate) fn new(dir: &Path, upstream: Arc<dyn Upstream>, keys: &Path) -> Self {
        Self {
            upstream,
            keys: keys.to_owned(),
            dir: dir.to_owned(),
            held: Mutex::default(),
            sending: Mutex::default(),
            taking_in: Mutex::default(),
            waiting: Waiting::default(),
            unindexed: Mutex::new(Pulled::Current),
            removals: Removals::new(dir),
            listener: OnceLock::new(),
            told_again: Mutex::default(),
        }
    }

    /// Only the first listener is heard.
    pub(crate) fn listen(&self, listener: RemovalListener) {
        self.listener.get_or_init(|| listener);
    }

    /// Tells the listener, if there is one yet, of documents that others have removed, also of those
    /// that a program took in which ended before it had told of them.
    pub(crate) fn tell_removed(&self, store: &Store) -> Result<(), KbError> {
        let Some(listener) = self.listener.get() else { return Ok(()) };
        if lock(&self.told_again).is_some_and(|at| Instant::now() < at) {
            return Ok(());
        }
        // Also if it fails.
        *lock(&self.told_again) = Some(Instant::now() + AGAIN);
        if self.removals.tell(store, listener)? {
            *lock(&self.told_again) = None;
        }
        Ok(())
    }

    /// What is noted of removals in this replica.
    pub(super) fn removals(&self) -> &Removals {
        &self.removals
    }

    fn keys_of(&self, base: u64) -> KeyStore {
        KeyStore::new(&self.keys, base)
    }

    /// Fails where the folder of keys is not that of this base.
    pub(crate) fn check_keys(&self, store: &Store) -> Result<(), KbError> {
        let (state, base) = store.read(|reader| Ok((reader.replica_state()?, reader.uid()?)))?;
        let slots = state.unwrap_or_default().slots;
        self.keys_of(base).read(slots.saturating_sub(1)..slots)?;
        Ok(())
    }

    /// As the shared base is called in messages.
    pub(crate) fn name(&self) -> &str {
        self.upstream.name()
    }

    /// Whether an urgent write waits for the lease that this process holds.
    pub(crate) fn is_wanted(&self) -> Result<bool, KbError> {
        let lease = lock(&self.held).lease.clone();
        lease.map_or(Ok(false), |lease| Ok(lease.is_wanted()?))
    }

    /// Takes the lease for the first writer of this process. While it waits, others of this process
    /// take in what is written elsewhere.
    pub(super) fn enter(&self, store: &Store, request: LeadRequest) -> Result<(), KbError> {
        let LeadRequest { urgency, has_indexes } = request;
        // Given back after what says that this write waits.
        let mut turn = None;
        let _waits = has_indexes.then(|| self.waiting.with_indexes());
        // One that waits for the lease in this process asks for it urgently from now on.
        let (mut held, _room) = match self.held.try_lock() {
            Err(TryLockError::WouldBlock) => {
                let is_urgent = urgency == Urgency::Urgent;
                let room = is_urgent.then(|| lock_file::ask_for_room(&self.dir)).transpose()?;
                (lock(&self.held), room)
            }
            Err(TryLockError::Poisoned(held)) => (held.into_inner(), None),
            Ok(held) => (held, None),
        };
        if held.writers == 0 {
            *held = self.begin(store, urgency, &mut turn)?;
        } else {
            turn.get_or_insert_with(|| self.turn_to_enter());
        }
        held.writers += 1;
        Ok(())
    }

    fn begin<'a>(
        &'a self,
        store: &Store,
        urgency: Urgency,
        turn: &mut Option<MutexGuard<'a, ()>>,
    ) -> Result<HeldLease, KbError> {
        // The lock first: others on this machine must not take in what is older.
        // A build in another process on this machine makes room, too.
        let is_urgent = urgency == Urgency::Urgent;
        let _urgent = is_urgent.then(|| lock_file::ask_for_room(&self.dir)).transpose()?;
        let file = lock_file::open(&self.dir, LOCK)?;
        file.lock().map_err(|e| KbError::io(self.dir.join(LOCK), "lock", e))?;
        let waits = self.waiting.for_lease();
        let lease = self.upstream.lease(&self.urgency(is_urgent)?);
        turn.get_or_insert_with(|| self.turn_to_enter());
        drop(waits);
        let lease: Arc<dyn Lease> = Arc::from(lease?);
        self.take_in(store)?;
        if store.read(|reader| reader.has_unsent())? {
            self.send_by(store, lease.as_ref())?;
        }
        Ok(HeldLease { writers: 0, lease: Some(lease), lock: Some(file) })
    }

    /// Whether a write is urgent by now: it is, or it stands in the way of an urgent one on this machine.
    fn urgency(&self, is_urgent: bool) -> Result<IsUrgent, KbError> {
        let room = lock_file::Room::of(&self.dir)?;
        Ok(Arc::new(move || is_urgent || room.is_asked_for()))
    }

    /// Ends a write of this process: what was written is sent if it is published or the last.
    pub(super) fn leave(&self, store: &Store, is_published: bool) -> Result<(), KbError> {
        let mut held = lock(&self.held);
        held.writers = held.writers.saturating_sub(1);
        let is_last = held.writers == 0;
        let lease = if is_last { held.lease.take() } else { held.lease.clone() };
        // Others wait for the last one; meanwhile nobody on this machine takes in what is older.
        let (mut _file, mut _held) = (None, None);
        if is_last {
            _file = held.lock.take();
            _held = Some(held);
        } else {
            drop(held);
        }
        if !is_last && !is_published {
            return Ok(());
        }
        let lease = lease.ok_or_else(|| self.lost())?;
        self.send_by(store, lease.as_ref())
    }

    fn send_by(&self, store: &Store, lease: &dyn Lease) -> Result<(), KbError> {
        let _alone = lock(&self.sending);
        if !store.read(|reader| reader.has_unsent())? {
            return Ok(());
        }
        let first = self.upstream.head()?.first;
        let generation = store.replica_state()?.generation;
        let is_whole = generation >= first.saturating_add(PUSHES);
        self.push_after(generation, store, (lease, is_whole))
    }

    /// Sends everything that there is, in the place of what was sent before. A lease must be held.
    pub(crate) fn send_whole(&self, store: &Store) -> Result<(), KbError> {
        let _alone = lock(&self.sending);
        let lease = lock(&self.held).lease.clone().ok_or_else(|| self.lost())?;
        let generation = self.upstream.head()?.generation;
        self.push_after(generation, store, (lease.as_ref(), true))
    }

    fn push_after(
        &self,
        expected: u64,
        store: &Store,
        (lease, is_whole): (&dyn Lease, bool),
    ) -> Result<(), KbError> {
        let id = push_id()?;
        let (mut state, pending, base) = store.read(|reader| {
            let slots = reader.meta("slots")?.unwrap_or_default();
            let pending = PendingPush { id, transaction: reader.id() as u64, slots };
            Ok((reader.replica_state()?.unwrap_or_default(), pending, reader.uid()?))
        })?;
        // Should the answer be lost, what was written until now is known to have arrived.
        state.pending = Some(pending);
        self.name().clone_into(&mut state.name);
        store.write_here(|writer| writer.set_replica_state(&state))?;
        let (generation, transaction, slots) = store.with_outgoing(is_whole, |outgoing| {
            let first = if is_whole { 0 } else { state.slots };
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
            let name = self.name().to_owned();
            writer.set_replica_state(&ReplicaState { name, generation, slots, pending: None })
        })
    }

    /// Takes in what others wrote, unless this process or another one on this machine leads, which
    /// has it already.
    pub(crate) fn pull(&self, store: &Store) -> Result<Pulled, KbError> {
        let is_lent = self.lends_replica();
        match self.held.try_lock() {
            _ if is_lent => {}
            Ok(held) if held.writers == 0 => {}
            _ => return Ok(Pulled::Current),
        }
        // Without the lock: while the database is away, a write must not wait for this question.
        let head = self.upstream.head()?;
        if store.replica_state()?.generation == head.generation && !is_other(store, &head)? {
            return Ok(Pulled::Current);
        }
        if is_lent {
            return self.take_in(store);
        }
        let file = lock_file::open(&self.dir, LOCK)?;
        match file.try_lock() {
            Ok(()) => self.take_in(store),
            Err(FileError::WouldBlock) => Ok(Pulled::Current),
            Err(FileError::Error(e)) => Err(KbError::io(self.dir.join(LOCK), "lock", e)),
        }
    }

    /// The caller holds the lock.
    fn take_in(&self, store: &Store) -> Result<Pulled, KbError> {
        let head = self.upstream.head()?;
        let mut state = store.replica_state()?;
        let mut extent = Extent::New;
        let is_other = is_other(store, &head)?;
        if is_other || self.settle(store, &mut state, &head)? || !reaches(&head, state.generation) {
            extent = Extent::Whole;
        }
        if extent == Extent::New && state.generation == head.generation {
            return Ok(Pulled::Current);
        }
        let shared = self.keys_of(head.base.unwrap_or_default());
        let keys = |slots| shared.read(slots);
        let received = store.receive(&keys, extent, |take| {
            let is_new = extent == Extent::Whole || state.generation == 0;
            let after = if is_new { head.first.saturating_sub(1) } else { state.generation };
            self.upstream.segments(after, head.generation, take)?;
            let (name, generation) = (self.name().to_owned(), head.generation);
            Ok(ReplicaState { name, generation, ..ReplicaState::default() })
        })?;
        shared.wipe(&received.wiped)?;
        Ok(if extent == Extent::Whole { Pulled::Replaced } else { Pulled::Changed })
    }

    /// What was written here and not confirmed: a push that arrived is noted, and one that did not
    /// is kept, unless others have written since. Returns whether everything is to be taken in again.
    fn settle(
        &self,
        store: &Store,
        state: &mut ReplicaState,
        head: &Head,
    ) -> Result<bool, KbError> {
        let is_current = state.generation == head.generation;
        if is_current || !store.read(|reader| reader.has_unsent())? {
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
        state.generation = head.generation;
        state.slots = slots;
        store.write_here(|writer| {
            writer.clear_journal(transaction)?;
            writer.set_replica_state(state)
        })?;
        Ok(false)
    }

    fn lost(&self) -> KbError {
        UpstreamError::LeaseLost { name: self.name().to_owned() }.into()
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

/// Whether another base has taken the place of the one that a replica is of.
fn is_other(store: &Store, head: &Head) -> Result<bool, KbError> {
    let own = store.read(|reader| reader.meta::<u64>("uid"))?;
    Ok(head.base.zip(own).is_some_and(|(there, here)| there != here))
}

/// Whether the log goes on where a replica is. A push of the whole does not say what was deleted
/// with it, so a replica from before takes in the whole again.
fn reaches(head: &Head, generation: u64) -> bool {
    generation == 0 || (head.first..=head.generation).contains(&generation)
}

fn push_id() -> Result<[u8; 16], KbError> {
    let mut id = [0; 16];
    let failed = |e| UpstreamError::Failed { message: format!("no random number: {e}") };
    getrandom::fill(&mut id).map_err(failed)?;
    Ok(id)
}
