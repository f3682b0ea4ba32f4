//! What a backup says of itself.
use serde::{Deserialize, Serialize};

/// The file that says what a backup is.
pub(super) const ABOUT: &str = "backup.json";

/// What a backup is of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct AboutBackup {
    /// The folder that it is of, as it was given.
    pub(super) of: String,
    /// Seconds since 1970 at which it was begun.
    pub(super) time: u64,
    /// Whether it was finished. The records of one that was not are whole nevertheless.
    pub(super) complete: bool,
}
