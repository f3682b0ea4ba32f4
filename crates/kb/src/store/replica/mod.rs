//! Bases that several machines share: the truth is a log of segments in a database, and each machine
//! has a replica of it, a folder like any other base. Searches read the replica. A write takes the
//! lease, takes in what others wrote, writes here, and sends what it wrote
//! (docs/adr/0027-postgresql.md).
//!
//! What each replica has of its own is the log of changes, the numbers that say what searches have
//! seen, which chunks name what, and the lexical indexes.
mod apply;
mod incoming;
mod leading;
mod outgoing;
mod removals;
mod replication;
mod segment;
mod sending;
mod state;
#[cfg(test)]
pub(crate) mod testing;
mod upstream;
mod waiting;

pub(crate) use incoming::Extent;
pub(crate) use leading::{Leading, Urgency};
pub(crate) use replication::{LeadRequest, RemovalListener, Replication};
pub(crate) use state::{PendingPush, ReplicaState};
pub(crate) use waiting::IndexAccess;

pub use upstream::{Head, IsUrgent, Lease, NextSegment, Push, Upstream};

/// Values of the base as a whole that each replica has of its own.
const LOCAL_KEYS: [&str; 3] = ["generation", "changes", "vector_doubt"];

/// Whether a value of the base as a whole is shared by its replicas.
pub(super) fn is_shared_value(key: &str) -> bool {
    !LOCAL_KEYS.contains(&key)
}
