//! Who of the replicas writes: the one that holds the lease. Writes of one process share it.
use std::sync::Arc;

use super::{LeadRequest, Replication};
use crate::KbError;
use crate::store::Store;

/// Whether a build makes room for a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Urgency {
    Normal,
    Urgent,
}

/// As long as it lives nobody else writes to the shared base. What was written is sent by
/// [`Leading::finish`], or with the next write.
pub(crate) struct Leading {
    store: Store,
    replication: Arc<Replication>,
    is_over: bool,
}

impl Store {
    /// The right to write, with everything that others wrote before taken in. Blocks the thread.
    pub(crate) fn lead(&self, urgency: Urgency) -> Result<Leading, KbError> {
        self.lead_by(LeadRequest { urgency, has_indexes: false })
    }

    fn lead_by(&self, request: LeadRequest) -> Result<Leading, KbError> {
        let replication = self.replication.clone().ok_or(KbError::Restricted)?;
        replication.enter(self, request)?;
        Ok(Leading { store: self.clone(), replication, is_over: false })
    }

    /// [`Store::lead`] of one that holds the lock of the indexes, in a replica; nothing elsewhere.
    pub(crate) fn lead_if_shared(&self, urgency: Urgency) -> Result<Option<Leading>, KbError> {
        let request = LeadRequest { urgency, has_indexes: true };
        if self.replication.is_some() { self.lead_by(request).map(Some) } else { Ok(None) }
    }

    pub(crate) fn replication(&self) -> Option<&Arc<Replication>> {
        self.replication.as_ref()
    }
}

impl Leading {
    /// Ends a write; sends what was written if no other write of this process is going on, or if
    /// it is `published`.
    pub(crate) fn finish(mut self, is_published: bool) -> Result<(), KbError> {
        self.is_over = true;
        self.replication.leave(&self.store, is_published)
    }
}

impl Drop for Leading {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        if let Err(reason) = self.replication.leave(&self.store, false) {
            tracing::warn!("{reason}; it is sent with the next write from this machine");
        }
    }
}
