//! What is done to a base as a whole: copying it while it is used, and
//! putting a copy back.
mod archive;
mod backup;
mod place;
mod restore;
mod tree;

use std::path::{Path, PathBuf};

pub use self::backup::{BackupReport, backup};
pub use self::restore::{RestoreOptions, RestoreReport, restore};
use crate::KbError;

/// Why a backup or a restore ends.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    #[error(
        "`{path}` is not empty and not a backup; give a folder that is one, an empty one, or one \
         that does not exist"
    )]
    NotABackup { path: PathBuf },
    #[error(
        "`{path}` is there already and is not an archive `NAME.tar` of a backup, so it is not \
         replaced; give a folder, or another name that ends with `.tar`"
    )]
    NotAnArchive { path: PathBuf },
    #[error("`{path}` is a backup of another base, `{of}`; give another folder or file")]
    OfAnother { path: PathBuf, of: String },
    #[error("another process is writing the backup `{path}`; wait for it")]
    Busy { path: PathBuf },
    #[error("there is nothing to back up in `{path}`; give the folder of a base with `--kb`")]
    NoBase { path: PathBuf },
    #[error("`{path}` lies in the folder that is backed up; give one outside of it")]
    Inside { path: PathBuf },
    #[error(
        "`{path}` is a link, and a backup follows none, so it would lack what the link leads to; \
         put that in its place, or remove the link"
    )]
    Link { path: PathBuf },
    #[error("`{path}` is not a backup; give what `halma backup` has written")]
    NoBackup { path: PathBuf },
    #[error(
        "the backup `{path}` was written by a newer version of Halma: its base has format {format}, \
         and this version reads up to {reads}; upgrade Halma and restore it then"
    )]
    Newer { path: PathBuf, format: u32, reads: u32 },
    #[error(
        "the backup `{path}` is of an older format: its base has format {format}, and this version \
         reads {reads}; restore it with the version of Halma that wrote it, or \
         index its documents again with `halma index --kb NEW_DIR FOLDER`"
    )]
    TooOld { path: PathBuf, format: u32, reads: u32 },
    #[error("`{path}` is there already; with `--replace` the backup takes its place")]
    Exists { path: PathBuf },
    #[error("the base in `{path}` is in use by a server, a build or a restore; stop it first")]
    InUse { path: PathBuf },
    #[error(
        "the backup `{path}` is damaged: {problem}; take an earlier one, or `--unverified` to get \
         what can still be read"
    )]
    Damaged { path: PathBuf, problem: String },
    #[error(
        "cannot {doing} `{path}`: {source}; check the path, its permissions and the space left"
    )]
    Io { path: PathBuf, doing: &'static str, source: std::io::Error },
    #[error(transparent)]
    Copy(#[from] halma_store::seal::CopyError),
    #[error(transparent)]
    Base(#[from] KbError),
}

impl BackupError {
    fn io(path: &Path, doing: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, doing, source }
    }

    /// Whether the user can fix it by calling Halma differently (exit code 2).
    pub fn is_wrong_use(&self) -> bool {
        match self {
            Self::NotABackup { .. }
            | Self::NotAnArchive { .. }
            | Self::OfAnother { .. }
            | Self::NoBase { .. }
            | Self::Inside { .. }
            | Self::Link { .. }
            | Self::NoBackup { .. }
            | Self::Newer { .. }
            | Self::TooOld { .. }
            | Self::Exists { .. } => true,
            Self::Base(error) => error.is_wrong_use(),
            Self::Busy { .. }
            | Self::InUse { .. }
            | Self::Damaged { .. }
            | Self::Io { .. }
            | Self::Copy(_) => false,
        }
    }

    /// Names the backup where the error names a copy that was made of it.
    fn of_backup(self, backup: &Path) -> Self {
        match self {
            Self::Newer { format, reads, .. } => {
                Self::Newer { path: backup.to_owned(), format, reads }
            }
            Self::TooOld { format, reads, .. } => {
                Self::TooOld { path: backup.to_owned(), format, reads }
            }
            other => other,
        }
    }
}
