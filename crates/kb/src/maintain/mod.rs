//! What is done to a base as a whole: copying it while it is used, and
//! putting a copy back.
mod archive;
mod backup;
mod error;
mod place;
mod restore;
mod tree;

pub use backup::{BackupReport, backup};
pub use error::BackupError;
pub use restore::{RestoreOptions, RestoreReport, restore};
