//! Child processes for work that must be stoppable: parsing files and running SQL that people and
//! models wrote. A worker has limits that the system enforces, and is killed when it is late.
mod files;
mod frame;
mod limits;
mod pool;
mod process;
mod requests;

pub use files::{Confinement, FileRules, confinement};
pub use limits::Limits;
pub use pool::{Lease, Pool, PoolSize, Purpose};
pub use process::WorkerCommand;
pub use requests::Requests;

/// Why a worker gave no reply.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    #[error("all {processes} worker processes are busy; try again in a moment")]
    Busy { processes: usize },
    #[error("a worker process cannot be started: {source}")]
    Start { source: std::io::Error },
    #[error("the worker process took too long and was stopped")]
    Late,
    /// It ended by itself: out of memory or CPU time, or it crashed.
    #[error("the worker process ended without a reply")]
    Ended,
}
