//! Arguments of `halma backup` and `halma restore`.
use std::path::PathBuf;

use super::KbDir;

#[derive(clap::Args)]
pub(crate) struct Backup {
    /// Folder to write, which is brought up to date if it is an earlier backup, or a file `NAME.tar`
    pub(crate) to: PathBuf,
    #[command(flatten)]
    pub(crate) kb: KbDir,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(clap::Args)]
pub(crate) struct Restore {
    /// What `halma backup` has written
    pub(crate) backup: PathBuf,
    #[command(flatten)]
    pub(crate) kb: KbDir,
    /// Replace what is in the folder of the knowledge base
    #[arg(long)]
    pub(crate) replace: bool,
    /// Restore what can still be read of a damaged backup
    #[arg(long)]
    pub(crate) unverified: bool,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
