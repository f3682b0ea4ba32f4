//! Taking in what others write while writes of this process wait for the lease, which may be for as
//! long as another machine builds. What such a write holds, the files of the replica and of the
//! indexes, is used in its place meanwhile; it goes on when that is done.
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::MutexGuard;

use super::Replication;

/// How many writes of this process are where.
#[derive(Default)]
pub(super) struct Waiting {
    /// They wait for the lease and hold the lock of the replica; one at most.
    for_lease: AtomicUsize,
    /// They wait, and hold the lock of the indexes.
    with_indexes: AtomicUsize,
    /// They have the lease, and wait until nothing is taken in.
    to_enter: AtomicUsize,
}

/// Counts a write for as long as it lives.
pub(super) struct Counted<'a>(&'a AtomicUsize);

impl<'a> Counted<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(count)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Waiting {
    pub(super) fn for_lease(&self) -> Counted<'_> {
        Counted::new(&self.for_lease)
    }

    pub(super) fn with_indexes(&self) -> Counted<'_> {
        Counted::new(&self.with_indexes)
    }
}

/// How the indexes of a replica can be changed by who takes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IndexAccess {
    /// The lock of the indexes is needed.
    Needed,
    /// A write of this process has the lock, and waits.
    Lent,
    /// A write waits for this: what was taken in is indexed later.
    Later,
}

impl Replication {
    /// For taking in; `None` while this process leads, which has everything already. Waits for
    /// another thread that takes in.
    pub(crate) fn lock_incoming(&self) -> Option<MutexGuard<'_, ()>> {
        if !self.may_take_in() {
            return None;
        }
        let guard = self.taking_in.lock();
        self.may_take_in().then_some(guard)
    }

    fn may_take_in(&self) -> bool {
        let leads = || self.leadership.try_lock().is_none_or(|leadership| leadership.writers != 0);
        self.lends_replica() || !leads()
    }

    /// Whether a write of this process holds the lock of the replica and waits for the lease. With
    /// the lock for taking in, this does not change from yes to no.
    pub(crate) fn lends_replica(&self) -> bool {
        self.waiting.for_lease.load(Ordering::SeqCst) > 0
    }

    /// To be read with the lock for taking in.
    pub(crate) fn index_access(&self) -> IndexAccess {
        if self.waiting.with_indexes.load(Ordering::SeqCst) > 0 {
            IndexAccess::Lent
        } else if self.waiting.to_enter.load(Ordering::SeqCst) > 0 {
            IndexAccess::Later
        } else {
            IndexAccess::Needed
        }
    }

    /// The lock for taking in, for a write that has the lease.
    pub(super) fn lock_entry(&self) -> MutexGuard<'_, ()> {
        let _waits = Counted::new(&self.waiting.to_enter);
        self.taking_in.lock()
    }
}
