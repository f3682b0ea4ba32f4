//! The LMDB environment below the cache, whose replies are sealed.
//!
//! The only `unsafe` is opening it: LMDB maps the file, and a file that another program truncates
//! or rewrites while it is mapped is beyond what Rust can check. What can be checked is, before
//! any page is read.
#![expect(unsafe_code, reason = "heed's `open` is unsafe; see above")]
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use heed::types::Bytes;
use heed::{Database, Env, EnvClosingEvent, EnvOpenOptions, MdbError, WithoutTls};

use super::cache::{CacheError, Key};
use super::sealed::{Entry, Name, Sealed, is_key_file};

/// Address space, not disk: the file grows as it is written. A cache that may be larger gets more.
const LEAST_MAP: usize = 64 << 30;
const GIB: usize = 1 << 30;
/// A limit beyond this is not a limit: 16 TiB.
const LARGEST: u64 = 16 << 40;
/// Folder of what is written, in the cache's.
pub(super) const SEALED: &str = "replies";

pub(super) type Table = Database<'static, Bytes, Bytes>;

pub(crate) struct Store {
    path: PathBuf,
    /// `None` where the folder cannot be written to: nothing is cached then.
    sealed: Option<Sealed>,
    limit: u64,
}

impl Store {
    /// For replies of about `limit` bytes at most. A damaged environment is moved aside and a new
    /// one made.
    pub(crate) fn open(dir: &Path, limit: u64) -> Result<Self, CacheError> {
        let fail = |reason: String| CacheError { path: dir.to_owned(), reason };
        let folder = dir.join(SEALED);
        let made = std::fs::create_dir_all(&folder);
        let opened = made.map_err(StoreError::from).and_then(|()| Sealed::open(&folder, limit));
        let sealed = match opened {
            Ok(sealed) => Some(sealed),
            Err(StoreError::Damaged(reason)) => {
                let aside = set_aside(&folder).map_err(|e| fail(format!("{reason}; {e}")))?;
                let (dir, aside) = (folder.display(), aside.display());
                tracing::warn!("the cache in `{dir}` is damaged ({reason}); it is now `{aside}`");
                let again = std::fs::create_dir_all(&folder).map_err(StoreError::from);
                let again = again.and_then(|()| Sealed::open(&folder, limit));
                Some(again.map_err(|error| fail(error.into_reason()))?)
            }
            Err(StoreError::Denied(reason)) => {
                let dir = dir.display();
                tracing::warn!("replies are not cached: `{dir}` cannot be written to ({reason})");
                None
            }
            Err(StoreError::Other(reason)) => return Err(fail(reason)),
        };
        Ok(Self { path: dir.to_owned(), sealed, limit })
    }

    /// What `decode` makes of the bytes of this key; `None` when there are none, or they cannot be
    /// read, which is logged.
    pub(crate) fn read<T>(&self, key: &Key, decode: impl Fn(&[u8]) -> T) -> Option<T> {
        let bytes = self.sealed.as_ref()?.read(key).unwrap_or_else(|error| {
            let (path, reason) = (self.path.display(), error.into_reason());
            tracing::warn!("the cache in `{path}` cannot be read: {reason}");
            None
        });
        bytes.map(|bytes| decode(&bytes))
    }

    /// Tells when the environment is closed, if there is one.
    pub(super) fn closing(&self) -> Option<EnvClosingEvent> {
        self.sealed.as_ref().map(Sealed::closing)
    }

    /// All of them or none.
    pub(crate) fn write(&self, batch: &[(Key, Entry)]) -> Result<(), CacheError> {
        let Some(sealed) = &self.sealed else { return Ok(()) };
        sealed.write(batch).map_err(|error| self.error(error))
    }

    /// Destroys the oldest replies where there are more than the limit allows; returns how many.
    pub(crate) fn evict(&self) -> Result<u64, CacheError> {
        let evicted = self.sealed.as_ref().map_or(Ok(0), |sealed| sealed.evict(self.limit));
        evicted.map_err(|error| self.error(error))
    }

    /// Replies, and about how many bytes they take.
    pub(crate) fn size(&self) -> Result<(u64, u64), CacheError> {
        let size = self.sealed.as_ref().map_or(Ok((0, 0)), Sealed::size);
        size.map_err(|error| self.error(error))
    }

    pub(crate) fn entries(&self) -> Result<u64, CacheError> {
        let count = self.sealed.as_ref().map_or(Ok(0), Sealed::entries);
        count.map_err(|error| self.error(error))
    }

    /// Destroys the replies about any of these documents and returns their number. Those in
    /// damaged folders may be about any.
    pub(crate) fn forget(&self, names: &[Name]) -> Result<u64, CacheError> {
        let count = self.sealed.as_ref().map_or(Ok(0), |sealed| sealed.forget(names));
        let count = count.map_err(|error| self.error(error))?;
        self.remove_damaged()?;
        Ok(count)
    }

    /// Destroys all replies.
    pub(crate) fn clear(&self) -> Result<(), CacheError> {
        let cleared = self.sealed.as_ref().map_or(Ok(()), Sealed::clear);
        cleared.map_err(|error| self.error(error))?;
        self.remove_damaged()
    }

    fn remove_damaged(&self) -> Result<(), CacheError> {
        remove_damaged(&self.path.join(SEALED))
            .map_err(|e| self.error(StoreError::Other(e.to_string())))
    }

    fn error(&self, error: StoreError) -> CacheError {
        CacheError { path: self.path.clone(), reason: error.into_reason() }
    }
}

/// Opens the environment in a folder that exists, for about `limit` bytes at most.
pub(super) fn open_env(dir: &Path, limit: u64) -> Result<Env<WithoutTls>, StoreError> {
    let held = std::fs::metadata(dir.join("data.mdb")).map_or(0, |data| data.len());
    // Twice that, since a file has free pages as well; a limit that no disk has is none.
    let limit = if limit > LARGEST { 0 } else { limit };
    let most = usize::try_from(held.max(limit)).unwrap_or(0).saturating_mul(2);
    let map = most.next_multiple_of(GIB).max(LEAST_MAP);
    let mut options = EnvOpenOptions::new().read_txn_without_tls();
    options.map_size(map).max_dbs(8).max_readers(4096);
    // SAFETY: only this module opens the environment, through LMDB's own locks, and nothing
    // of Halma writes its files in any other way.
    let env = unsafe { options.open(dir) }?;
    // Of processes that were killed, whose views keep pages from being used again.
    env.clear_stale_readers()?;
    // A file shorter than its header says would end the process when it is read.
    let page = u64::from(env.unnamed_database_stat().page_size);
    let pages = env.info().last_page_number as u64 + 1;
    let length = std::fs::metadata(dir.join("data.mdb")).map_or(0, |data| data.len());
    if pages > 2 && length < pages * page {
        let whole = pages * page;
        return Err(StoreError::Damaged(format!("{length} bytes are left of {whole}")));
    }
    Ok(env)
}

pub(super) enum StoreError {
    /// The files are not what was written.
    Damaged(String),
    /// The files cannot be written.
    Denied(String),
    /// The files may be well, but cannot be used: no space, already open.
    Other(String),
}

impl StoreError {
    fn into_reason(self) -> String {
        match self {
            Self::Damaged(reason) | Self::Denied(reason) | Self::Other(reason) => reason,
        }
    }
}

impl From<std::io::Error> for StoreError {
    fn from(e: std::io::Error) -> Self {
        match e.kind() {
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
                Self::Denied(e.to_string())
            }
            _ => Self::Other(e.to_string()),
        }
    }
}

impl From<heed::Error> for StoreError {
    fn from(e: heed::Error) -> Self {
        match e {
            heed::Error::Io(e) => e.into(),
            heed::Error::Mdb(
                MdbError::Invalid
                | MdbError::Corrupted
                | MdbError::PageNotFound
                | MdbError::VersionMismatch
                | MdbError::Panic
                | MdbError::Incompatible,
            ) => Self::Damaged(e.to_string()),
            _ => Self::Other(e.to_string()),
        }
    }
}

impl From<halma_seal::SealError> for StoreError {
    fn from(e: halma_seal::SealError) -> Self {
        match e.source.kind() {
            ErrorKind::InvalidData => Self::Damaged(e.to_string()),
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
                Self::Denied(e.to_string())
            }
            _ => Self::Other(e.to_string()),
        }
    }
}

/// What was set aside of a folder.
pub(super) fn damaged(dir: &Path) -> Vec<PathBuf> {
    let (Some(parent), Some(name)) = (dir.parent(), dir.file_name()) else { return vec![] };
    let Ok(entries) = std::fs::read_dir(parent) else { return vec![] };
    let head = format!("{}.damaged-", name.to_string_lossy());
    let paths = entries.filter_map(Result::ok).map(|entry| entry.path());
    paths
        .filter(|path| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&head))
        })
        .collect()
}

/// Removes what was set aside of a folder. Keys are overwritten first: without them the rest cannot be
/// read, also where the disk still has it.
pub(super) fn remove_damaged(folder: &Path) -> std::io::Result<()> {
    for aside in damaged(folder) {
        for entry in std::fs::read_dir(&aside)? {
            let entry = entry?;
            if holds_keys(&entry) {
                halma_seal::wipe_folder(&entry.path()).map_err(|e| e.source)?;
            }
        }
        std::fs::remove_dir_all(&aside)?;
    }
    Ok(())
}

pub(super) fn holds_keys(entry: &std::fs::DirEntry) -> bool {
    is_key_file(&entry.file_name().to_string_lossy())
}

/// Renames the folder to the first free `dir.damaged-N`.
pub(super) fn set_aside(dir: &Path) -> std::io::Result<PathBuf> {
    let name = |n: u32| {
        let mut name = dir.as_os_str().to_owned();
        name.push(format!(".damaged-{n}"));
        PathBuf::from(name)
    };
    let aside = (1..u32::MAX).map(name).find(|path| !path.exists()).unwrap_or_else(|| name(0));
    std::fs::rename(dir, &aside)?;
    Ok(aside)
}
