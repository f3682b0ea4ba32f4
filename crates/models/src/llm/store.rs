//! The file below the cache: where it cannot be used, questions go on without it.
use std::path::{Path, PathBuf};

use halma_store::{DbError, Entry, Key, Name, Replies, set_aside};

use super::cache::CacheError;

pub(crate) struct Store {
    dir: PathBuf,
    /// `None` where the folder cannot be written to: nothing is cached then.
    replies: Option<Replies>,
    limit: u64,
}

impl Store {
    /// For replies of about `limit` bytes at most. A damaged file is moved aside and a new one made.
    pub(crate) fn open(dir: &Path, limit: u64) -> Result<Self, CacheError> {
        let file = Replies::file(dir);
        let denied = |reason: String| {
            let dir = dir.display();
            tracing::warn!("replies are not cached: `{dir}` cannot be written to ({reason})");
        };
        let store = |replies| Self { dir: dir.to_owned(), replies, limit };
        match std::fs::create_dir_all(dir) {
            Err(e) if is_denied(&e) => {
                denied(e.to_string());
                return Ok(store(None));
            }
            made => made.map_err(|e| failed(dir, e))?,
        }
        match Replies::open(&file) {
            Err(error) if error.is_damage() => {
                let aside = set_aside(&file).map_err(|e| failed(dir, format!("{error}; {e}")))?;
                let (file, aside) = (file.display(), aside.display());
                tracing::warn!("the cache `{file}` is damaged ({error}); it is now `{aside}`");
            }
            Err(error) if error.is_denied() => {
                denied(error.to_string());
                return Ok(store(None));
            }
            opened => {
                return opened.map(|replies| store(Some(replies))).map_err(|e| failed(dir, e));
            }
        }
        Replies::open(&file).map(|replies| store(Some(replies))).map_err(|e| failed(dir, e))
    }

    /// The bytes of this key; `None` when there are none, or they cannot be read, which is logged.
    pub(crate) fn read(&self, key: &Key) -> Option<Vec<u8>> {
        self.replies.as_ref()?.get(key).unwrap_or_else(|error| {
            tracing::warn!("the cache in `{}` cannot be read: {error}", self.dir.display());
            None
        })
    }

    /// All of them or none.
    pub(crate) fn write(&self, batch: &[(Key, Entry)]) -> Result<(), CacheError> {
        self.with((), |replies| replies.put(batch))
    }

    /// Deletes the oldest replies where there are more than the limit allows; returns how many.
    pub(crate) fn evict(&self) -> Result<u64, CacheError> {
        self.with(0, |replies| replies.evict(self.limit))
    }

    /// The number of replies, and how many bytes they take.
    pub(crate) fn size(&self) -> Result<(u64, u64), CacheError> {
        self.with((0, 0), Replies::size)
    }

    /// Deletes the replies about any of these documents and returns their number. Files that were
    /// set aside may have some about any.
    pub(crate) fn forget(&self, documents: &[Name]) -> Result<u64, CacheError> {
        let count = self.with(0, |replies| replies.forget(documents))?;
        let mut files = halma_store::damaged(&Replies::file(&self.dir)).into_iter();
        files.try_for_each(|file| halma_store::remove(&file)).map_err(|e| failed(&self.dir, e))?;
        Ok(count)
    }

    fn with<T>(
        &self,
        without: T,
        work: impl FnOnce(&Replies) -> Result<T, DbError>,
    ) -> Result<T, CacheError> {
        self.replies.as_ref().map_or(Ok(without), work).map_err(|e| failed(&self.dir, e))
    }
}

fn failed(dir: &Path, reason: impl std::fmt::Display) -> CacheError {
    CacheError { path: dir.to_owned(), reason: reason.to_string() }
}

fn is_denied(e: &std::io::Error) -> bool {
    use std::io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
    matches!(e.kind(), PermissionDenied | ReadOnlyFilesystem)
}
