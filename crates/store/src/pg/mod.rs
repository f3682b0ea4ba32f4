//! A knowledge base that many machines share, in PostgreSQL: the log of segments from which every
//! machine fills its local copy, the lease of the one that writes, the ledger of calls that any
//! worker may do, and the state of the servers. What a segment holds is not known here; it is
//! sealed by the store that wrote it (docs/adr/0027-postgresql.md).
//!
//! Every transaction stands for itself: nothing outlives it in the connection, so that a pooler in
//! transaction mode may stand in between.
mod address;
mod calls;
mod connections;
mod database;
mod error;
mod home;
mod segments;
mod state;
mod tables;
mod writer;

pub use address::Address;
pub use calls::{
    CallId, Calls, Done, Failure, NewCall, Outcome, Retry, TakenCall, Worker, call_id,
};
pub use database::Database;
pub use error::PgError;
pub use home::{Head, Home, Versions};
pub use segments::{LARGEST_SEGMENT, Segment};
pub use state::{States, Usage};
pub use writer::{LEASE_LENGTH, Lease, NewPush, Push, Transfer};
