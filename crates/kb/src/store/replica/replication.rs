//! Keeping a replica and the shared base alike: taking in what others wrote, and sending what was
//! written here.
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use halma_store::seal::KeyStore;
use parking_lot::{Mutex, MutexGuard};

use super::removals::Removals;
use super::waiting::Waiting;
use super::{IsUrgent, Lease, Upstream, Urgency};
use crate::store::Store;
use crate::{KbError, UpstreamError, lock_file};

/// Held by the process on this machine that leads or takes in.
pub(super) const LOCK: &str = "replica.lock";

/// When what a listener could not do is tried again.
const AGAIN: Duration = Duration::from_secs(30);

/// How a replica is shared.
pub(crate) struct Replication {
    pub(super) upstream: Arc<dyn Upstream>,
    /// The folder of keys that all replicas share.
    keys: PathBuf,
    pub(super) dir: PathBuf,
    pub(super) leadership: Mutex<HeldLease>,
    /// One push at a time.
    pub(super) sending: Mutex<()>,
    /// Held while what others wrote is taken in, until searches find it.
    pub(super) taking_in: Mutex<()>,
    pub(super) waiting: Waiting,
    /// The transaction of the store after which its indexes were last found up to date.
    indexed: Mutex<Option<usize>>,
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
    pub(super) lease: Option<Arc<dyn Lease>>,
    lock: Option<File>,
}

/// What a write asks for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LeadRequest {
    pub(crate) urgency: Urgency,
    /// Whether it holds the lock of the indexes.
    pub(crate) has_indexes: bool,
}

impl Replication {
    pub(crate) fn new(dir: &Path, upstream: Arc<dyn Upstream>, keys: &Path) -> Self {
        Self {
            upstream,
            keys: keys.to_owned(),
            dir: dir.to_owned(),
            leadership: Mutex::default(),
            sending: Mutex::default(),
            taking_in: Mutex::default(),
            waiting: Waiting::default(),
            indexed: Mutex::default(),
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
        if self.told_again.lock().is_some_and(|at| Instant::now() < at) {
            return Ok(());
        }
        // Also if it fails.
        *self.told_again.lock() = Some(Instant::now() + AGAIN);
        if self.removals.tell(store, listener)? {
            *self.told_again.lock() = None;
        }
        Ok(())
    }

    /// Calls `is_current` unless nothing was written in the store since it was last found that its
    /// indexes are up to date.
    pub(crate) fn are_indexed(
        &self,
        store: &Store,
        is_current: impl FnOnce() -> Result<bool, KbError>,
    ) -> Result<bool, KbError> {
        // Before it is found: what is written meanwhile is looked at again.
        let now = store.read(|reader| Ok(reader.id()))?;
        if *self.indexed.lock() == Some(now) {
            return Ok(true);
        }
        let is_current = is_current()?;
        if is_current {
            *self.indexed.lock() = Some(now);
        }
        Ok(is_current)
    }

    /// What is noted of removals in this replica.
    pub(super) fn removals(&self) -> &Removals {
        &self.removals
    }

    pub(super) fn keys_of(&self, base: u64) -> KeyStore {
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
        let lease = self.leadership.lock().lease.clone();
        lease.map_or(Ok(false), |lease| Ok(lease.is_wanted()?))
    }

    /// Takes the lease for the first writer of this process. While it waits, others of this process
    /// take in what is written elsewhere.
    pub(super) fn enter(&self, store: &Store, request: LeadRequest) -> Result<(), KbError> {
        let LeadRequest { urgency, has_indexes } = request;
        // Given back after what says that this write waits.
        let mut entry_guard = None;
        let _waits = has_indexes.then(|| self.waiting.with_indexes());
        // One that waits for the lease in this process asks for it urgently from now on.
        let (mut leadership, _room) = match self.leadership.try_lock() {
            None => {
                let is_urgent = urgency == Urgency::Urgent;
                let room = is_urgent.then(|| lock_file::ask_for_room(&self.dir)).transpose()?;
                (self.leadership.lock(), room)
            }
            Some(leadership) => (leadership, None),
        };
        if leadership.writers == 0 {
            *leadership = self.begin(store, urgency, &mut entry_guard)?;
        } else {
            entry_guard.get_or_insert_with(|| self.lock_entry());
        }
        leadership.writers += 1;
        Ok(())
    }

    fn begin<'a>(
        &'a self,
        store: &Store,
        urgency: Urgency,
        entry_guard: &mut Option<MutexGuard<'a, ()>>,
    ) -> Result<HeldLease, KbError> {
        // The lock first: others on this machine must not take in what is older.
        // A build in another process on this machine makes room, too.
        let is_urgent = urgency == Urgency::Urgent;
        let _urgent = is_urgent.then(|| lock_file::ask_for_room(&self.dir)).transpose()?;
        let file = lock_file::open(&self.dir, LOCK)?;
        file.lock().map_err(|e| KbError::io(self.dir.join(LOCK), "lock", e))?;
        let waits = self.waiting.for_lease();
        let lease = self.upstream.lease(&self.urgency(is_urgent)?);
        entry_guard.get_or_insert_with(|| self.lock_entry());
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
        let room = lock_file::Room::open(&self.dir)?;
        Ok(Arc::new(move || is_urgent || room.is_asked_for()))
    }

    /// Ends a write of this process: what was written is sent if it is published or the last.
    pub(super) fn leave(&self, store: &Store, is_published: bool) -> Result<(), KbError> {
        let mut leadership = self.leadership.lock();
        leadership.writers = leadership.writers.saturating_sub(1);
        let is_last = leadership.writers == 0;
        let lease = if is_last { leadership.lease.take() } else { leadership.lease.clone() };
        // Others wait for the last one; meanwhile nobody on this machine takes in what is older.
        let (mut _file, mut _leadership) = (None, None);
        if is_last {
            _file = leadership.lock.take();
            _leadership = Some(leadership);
        } else {
            drop(leadership);
        }
        if !is_last && !is_published {
            return Ok(());
        }
        let lease = lease.ok_or_else(|| self.lost())?;
        self.send_by(store, lease.as_ref())
    }

    pub(super) fn lost(&self) -> KbError {
        UpstreamError::LeaseLost { name: self.name().to_owned() }.into()
    }
}
