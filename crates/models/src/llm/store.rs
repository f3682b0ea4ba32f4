//! The LMDB environments below the cache: the one that is written, whose replies are sealed, and
//! that of former versions, whose replies lie open, are only read and go with the first deletion.
//!
//! The only `unsafe` is opening them: LMDB maps the file, and a file that somebody cuts or rewrites
//! while it is mapped is beyond what Rust can check. What can be checked is, before any page is
//! read.
#![expect(unsafe_code, reason = "heed's `open` is unsafe; see above")]
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use heed::types::Bytes;
use heed::{CommitOrAbort, Database, Env, EnvOpenOptions, MdbError, WithoutTls};

use super::cache::{CacheError, Key};
use super::sealed::{Entry, Name, Sealed};

/// Address space, not disk: the file grows as it is written.
const MAP_SIZE: usize = 64 << 30;
/// Folder of what is written, in the cache's.
const SEALED: &str = "replies";
/// Table of former versions.
const FORMER: &str = "replies-1";

pub(super) type Table = Database<'static, Bytes, Bytes>;

pub(crate) struct Store {
    path: PathBuf,
    /// `None` where the folder cannot be written to: nothing is kept then.
    sealed: Option<Sealed>,
    former: Mutex<Option<Former>>,
}

/// Replies that former versions kept, in the clear and without what they are about.
struct Former {
    env: Env<WithoutTls>,
    table: Table,
}

impl Store {
    /// A damaged environment is moved aside and a new one made.
    pub(crate) fn open(dir: &Path) -> Result<Self, CacheError> {
        let fail = |reason: String| CacheError { path: dir.to_owned(), reason };
        let folder = dir.join(SEALED);
        let made = std::fs::create_dir_all(&folder);
        let opened = made.map_err(Trouble::from).and_then(|()| Sealed::open(&folder));
        let sealed = match opened {
            Ok(sealed) => Some(sealed),
            Err(Trouble::Damaged(reason)) => {
                let aside = set_aside(&folder).map_err(|e| fail(format!("{reason}; {e}")))?;
                let (dir, aside) = (folder.display(), aside.display());
                tracing::warn!("the cache in `{dir}` is damaged ({reason}); it is now `{aside}`");
                let again = std::fs::create_dir_all(&folder).map_err(Trouble::from);
                let again = again.and_then(|()| Sealed::open(&folder));
                Some(again.map_err(|trouble| fail(trouble.into_reason()))?)
            }
            Err(Trouble::Denied(reason)) => {
                let dir = dir.display();
                tracing::warn!("replies are not cached: `{dir}` cannot be written to ({reason})");
                None
            }
            Err(Trouble::Other(reason)) => return Err(fail(reason)),
        };
        let former = Mutex::new(Former::open(dir));
        Ok(Self { path: dir.to_owned(), sealed, former })
    }

    fn former(&self) -> MutexGuard<'_, Option<Former>> {
        self.former.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What `decode` makes of the bytes of this key; `None` when there are none or they cannot be
    /// read, which is told once for each.
    pub(crate) fn read<T>(&self, key: &Key, decode: impl Fn(&[u8]) -> T) -> Option<T> {
        let read = || -> Result<Option<T>, Trouble> {
            if let Some(sealed) = &self.sealed
                && let Some(bytes) = sealed.read(key)?
            {
                return Ok(Some(decode(&bytes)));
            }
            let former = self.former();
            let Some(former) = &*former else { return Ok(None) };
            let transaction = former.env.read_txn()?;
            Ok(former.table.get(&transaction, key)?.map(&decode))
        };
        read().unwrap_or_else(|trouble| {
            let (path, reason) = (self.path.display(), trouble.into_reason());
            tracing::warn!("the cache in `{path}` cannot be read: {reason}");
            None
        })
    }

    /// All of them or none.
    pub(crate) fn write(&self, batch: &[(Key, Entry)]) -> Result<(), CacheError> {
        let Some(sealed) = &self.sealed else { return Ok(()) };
        sealed.write(batch).map_err(|trouble| self.error(trouble))
    }

    pub(crate) fn entries(&self) -> Result<u64, CacheError> {
        let count = || -> Result<u64, Trouble> {
            let sealed = self.sealed.as_ref().map_or(Ok(0), Sealed::entries)?;
            let former = self.former();
            let Some(former) = &*former else { return Ok(sealed) };
            let transaction = former.env.read_txn()?;
            Ok(sealed + former.table.len(&transaction)?)
        };
        count().map_err(|trouble| self.error(trouble))
    }

    /// Destroys the replies about any of these documents; returns how many. Those of former
    /// versions and those in damaged folders may be about any.
    pub(crate) fn forget(&self, names: &[Name]) -> Result<u64, CacheError> {
        let sealed = self.sealed.as_ref().map_or(Ok(0), |sealed| sealed.forget(names));
        let sealed = sealed.map_err(|trouble| self.error(trouble))?;
        Ok(sealed + self.forget_former()?)
    }

    /// Destroys all replies.
    pub(crate) fn clear(&self) -> Result<(), CacheError> {
        let cleared = self.sealed.as_ref().map_or(Ok(()), Sealed::clear);
        cleared.map_err(|trouble| self.error(trouble))?;
        self.forget_former().map(|_| ())
    }

    /// Removes the files of former versions and what was set aside.
    fn forget_former(&self) -> Result<u64, CacheError> {
        let mut count = 0;
        if let Some(former) = self.former().take() {
            let counted = || {
                let transaction = former.env.read_txn()?;
                former.table.len(&transaction)
            };
            count = counted().map_err(|e: heed::Error| self.error(e.into()))?;
            let Former { env, .. } = former;
            env.prepare_for_closing().wait();
        }
        let remove = || -> std::io::Result<()> {
            for name in ["data.mdb", "lock.mdb"] {
                match std::fs::remove_file(self.path.join(name)) {
                    Err(e) if e.kind() != ErrorKind::NotFound => return Err(e),
                    _ => {}
                }
            }
            for aside in
                [self.path.clone(), self.path.join(SEALED)].iter().flat_map(|dir| asides(dir))
            {
                std::fs::remove_dir_all(aside)?;
            }
            Ok(())
        };
        remove().map_err(|e| self.error(Trouble::Other(e.to_string())))?;
        Ok(count)
    }

    fn error(&self, trouble: Trouble) -> CacheError {
        CacheError { path: self.path.clone(), reason: trouble.into_reason() }
    }
}

impl Former {
    /// `None` where there is none, or none that can be read.
    fn open(dir: &Path) -> Option<Self> {
        if !dir.join("data.mdb").exists() {
            return None;
        }
        let open = || -> Result<Option<Self>, Trouble> {
            let env = open_env(dir)?;
            let opened =
                env.open_databases_and_commit(env.read_txn()?, |options, transaction| {
                    options
                        .open_database(transaction, Some(FORMER))
                        .map(CommitOrAbort::<_, ()>::Commit)
                })?;
            let table = opened.commit().flatten();
            Ok(table.map(|table| Self { env, table }))
        };
        open().unwrap_or_else(|trouble| {
            let (dir, reason) = (dir.display(), trouble.into_reason());
            tracing::warn!("the replies of a former version in `{dir}` are not used: {reason}");
            None
        })
    }
}

/// Opens the environment in a folder that exists.
pub(super) fn open_env(dir: &Path) -> Result<Env<WithoutTls>, Trouble> {
    let mut options = EnvOpenOptions::new().read_txn_without_tls();
    options.map_size(MAP_SIZE).max_dbs(8).max_readers(512);
    // SAFETY: only this module opens the environment, through LMDB's own locks, and nothing
    // of Halma writes its files in any other way.
    let env = unsafe { options.open(dir) }?;
    // A file shorter than its header says would end the process when it is read.
    let page = u64::from(env.unnamed_database_stat().page_size);
    let pages = env.info().last_page_number as u64 + 1;
    let length = std::fs::metadata(dir.join("data.mdb")).map_or(0, |data| data.len());
    if pages > 2 && length < pages * page {
        let wanted = pages * page;
        return Err(Trouble::Damaged(format!("{length} bytes are left of {wanted}")));
    }
    Ok(env)
}

pub(super) enum Trouble {
    /// The files are not what was written.
    Damaged(String),
    /// The files cannot be written.
    Denied(String),
    /// The files may be well, but cannot be used: no space, already open.
    Other(String),
}

impl Trouble {
    fn into_reason(self) -> String {
        match self {
            Self::Damaged(reason) | Self::Denied(reason) | Self::Other(reason) => reason,
        }
    }
}

impl From<std::io::Error> for Trouble {
    fn from(e: std::io::Error) -> Self {
        match e.kind() {
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
                Self::Denied(e.to_string())
            }
            _ => Self::Other(e.to_string()),
        }
    }
}

impl From<heed::Error> for Trouble {
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

impl From<halma_seal::SealError> for Trouble {
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

/// Folders that were set aside, of a folder.
fn asides(dir: &Path) -> Vec<PathBuf> {
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

/// Renames the folder to the first free `dir.damaged-N`.
fn set_aside(dir: &Path) -> std::io::Result<PathBuf> {
    let name = |n: u32| {
        let mut name = dir.as_os_str().to_owned();
        name.push(format!(".damaged-{n}"));
        PathBuf::from(name)
    };
    let aside = (1..u32::MAX).map(name).find(|path| !path.exists()).unwrap_or_else(|| name(0));
    std::fs::rename(dir, &aside)?;
    Ok(aside)
}
