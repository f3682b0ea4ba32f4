//! The LMDB environment below the cache.
//!
//! The only `unsafe` is opening it: LMDB maps the file, and a file that somebody cuts or rewrites
//! while it is mapped is beyond what Rust can check. What can be checked is, before any page is
//! read.
#![expect(unsafe_code, reason = "heed's `open` is unsafe; see above")]
use std::path::{Path, PathBuf};
use std::sync::Arc;

use heed::types::Bytes;
use heed::{CommitOrAbort, Database, Env, EnvOpenOptions, MdbError, WithoutTls};

use super::cache::{CacheError, Key};

/// Address space, not disk: the file grows as it is written.
const MAP_SIZE: usize = 64 << 30;
/// Name of the table. A change of the replies' form changes it, and old replies are left alone.
const TABLE: &str = "replies-1";

type Table = Database<'static, Bytes, Bytes>;

pub(crate) struct Store {
    path: PathBuf,
    env: Env<WithoutTls>,
    table: Table,
}

impl Store {
    /// A damaged environment is moved aside and a new one made.
    pub(crate) fn open(dir: &Path) -> Result<Self, CacheError> {
        let fail = |reason: String| CacheError { path: dir.to_owned(), reason };
        match Self::try_open(dir) {
            Ok(store) => return Ok(store),
            Err(Trouble::Damaged(reason)) => {
                let aside = set_aside(dir).map_err(|e| fail(format!("{reason}; {e}")))?;
                let (dir, aside) = (dir.display(), aside.display());
                tracing::warn!("the cache in `{dir}` is damaged ({reason}); it is now `{aside}`");
            }
            Err(Trouble::Other(reason)) => return Err(fail(reason)),
        }
        Self::try_open(dir).map_err(|trouble| match trouble {
            Trouble::Damaged(reason) | Trouble::Other(reason) => fail(reason),
        })
    }

    fn try_open(dir: &Path) -> Result<Self, Trouble> {
        std::fs::create_dir_all(dir).map_err(|e| Trouble::Other(e.to_string()))?;
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
        let transaction = env.write_txn()?;
        let table: Table = env
            .create_databases_and_commit(transaction, |options, transaction| {
                options
                    .create_database(transaction, Some(TABLE))
                    .map(CommitOrAbort::<_, ()>::Commit)
            })?
            .unwrap_commit();
        Ok(Self { path: dir.to_owned(), env, table })
    }

    /// What `decode` makes of the bytes of this key; `None` when there are none or they cannot be
    /// read, which is told once for each.
    pub(crate) fn read<T>(&self, key: &Key, decode: impl FnOnce(&[u8]) -> T) -> Option<T> {
        let read = || -> heed::Result<Option<T>> {
            let transaction = self.env.read_txn()?;
            Ok(self.table.get(&transaction, key)?.map(decode))
        };
        read().unwrap_or_else(|e| {
            tracing::warn!("the cache in `{}` cannot be read: {e}", self.path.display());
            None
        })
    }

    /// All of them or none.
    pub(crate) fn write(&self, batch: &[(Key, Arc<[u8]>)]) -> Result<(), CacheError> {
        let write = || -> heed::Result<()> {
            let mut transaction = self.env.write_txn()?;
            for (key, bytes) in batch {
                self.table.put(&mut transaction, key, bytes)?;
            }
            transaction.commit()
        };
        write().map_err(|e| self.error(&e))
    }

    pub(crate) fn entries(&self) -> Result<u64, CacheError> {
        let count = || -> heed::Result<u64> {
            let transaction = self.env.read_txn()?;
            self.table.len(&transaction)
        };
        count().map_err(|e| self.error(&e))
    }

    pub(crate) fn clear(&self) -> Result<(), CacheError> {
        let clear = || -> heed::Result<()> {
            let mut transaction = self.env.write_txn()?;
            self.table.clear(&mut transaction)?;
            transaction.commit()
        };
        clear().map_err(|e| self.error(&e))
    }

    fn error(&self, e: &heed::Error) -> CacheError {
        CacheError { path: self.path.clone(), reason: e.to_string() }
    }
}

enum Trouble {
    /// The files are not what LMDB wrote.
    Damaged(String),
    /// The files may be well, but cannot be used: no right, no space, already open.
    Other(String),
}

impl From<heed::Error> for Trouble {
    fn from(e: heed::Error) -> Self {
        match &e {
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
