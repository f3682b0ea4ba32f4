//! What is done to a base as a whole: converting its format, copying it while it is used, and
//! putting a copy back.
mod about;
mod archive;
mod backup;
mod convert;
mod error;
mod place;
mod restore;
mod tree;

pub use backup::{BackupReport, backup};
pub use convert::Converted;
pub use error::BackupError;
pub(crate) use place::is_half_restored;
pub use restore::{RestoreOptions, RestoreReport, restore};
