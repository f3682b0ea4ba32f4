//! Model calls and embeddings of a build, shared out to workers through the database
//! (docs/adr/0027-postgresql.md). The process that indexes asks; workers on any machine, itself
//! among them, do what is asked.
mod asker;
mod build;
mod ledger;
mod message;
mod models;
mod presence;
mod worker;

pub(crate) use self::build::SharedBuild;
pub use self::build::{CallSharing, Workforce};
pub(crate) use self::ledger::Ledger;
pub(super) use self::presence::machine;
pub use self::worker::{CallWorker, WorkerReport};
