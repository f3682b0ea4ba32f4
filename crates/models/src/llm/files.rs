//! The files of a cache as a whole: what they take on the disk, and their removal.
use std::fs;
use std::io;
use std::path::Path;

use halma_store::{Replies, damaged, remove};

use super::cache::{Cache, CacheError};

/// What a cache has and takes on the disk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CacheFigures {
    pub replies: u64,
    /// How many bytes of the files these replies take; the rest is free for new ones.
    pub bytes_in_use: u64,
    /// All its files, also those that were set aside because they were damaged.
    pub bytes_on_disk: u64,
}

impl CacheFigures {
    /// Of the cache in the folder `dir`; zeros where there is none.
    pub fn read(dir: &Path) -> Result<Self, CacheError> {
        let file = Replies::file(dir);
        let mut figures = Self::default();
        let sizes = damaged(&file).into_iter().map(|file| bytes(&file)).sum::<io::Result<u64>>();
        figures.bytes_on_disk = sizes.map_err(|e| failed(dir, &e))?;
        if file.exists() {
            (figures.replies, figures.bytes_in_use) = Cache::open(dir)?.size()?;
            figures.bytes_on_disk += bytes(&file).map_err(|e| failed(dir, &e))?;
        }
        Ok(figures)
    }
}

fn bytes(file: &Path) -> io::Result<u64> {
    fs::metadata(file).map(|file| file.len())
}

impl Cache {
    /// Whether a folder has a cache, or what was set aside of one.
    pub fn exists(dir: &Path) -> bool {
        let file = Replies::file(dir);
        file.exists() || !damaged(&file).is_empty()
    }

    /// Deletes the cache in the folder `dir` with its files. A program that has it open at this
    /// moment continues with what it has open, which is gone when it has ended.
    pub fn destroy(dir: &Path) -> Result<(), CacheError> {
        let file = Replies::file(dir);
        let mut files = damaged(&file).into_iter().chain([file]);
        files.try_for_each(|file| remove(&file)).map_err(|e| failed(dir, &e))
    }
}

fn failed(dir: &Path, error: &io::Error) -> CacheError {
    CacheError { path: dir.to_owned(), reason: error.to_string() }
}

#[cfg(test)]
mod tests {
    use halma_core::ChatReply;

    use super::*;

    #[test]
    fn a_cache_that_is_destroyed_gives_its_space_back_and_begins_again() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().join("cache");
        assert_eq!(CacheFigures::read(&dir).unwrap(), CacheFigures::default());
        assert!(!dir.exists(), "looking makes nothing");
        let fill = |count: u32| {
            let cache = Cache::open(&dir).unwrap();
            for n in 0..count {
                let reply = ChatReply { text: "x".repeat(500), ..ChatReply::default() };
                cache.put(*blake3::hash(&n.to_le_bytes()).as_bytes(), &reply, &["a.md".into()]);
            }
        };
        fill(3_000);
        let filled = CacheFigures::read(&dir).unwrap();
        assert_eq!(filled.replies, 3_000);
        assert!(filled.bytes_on_disk >= filled.bytes_in_use && filled.bytes_in_use > 1_000_000);
        // Deleting replies frees no space on the disk.
        assert_eq!(Cache::open(&dir).unwrap().forget(&["a.md".into()]).unwrap(), 3_000);
        let cleared = CacheFigures::read(&dir).unwrap();
        assert_eq!((cleared.replies, cleared.bytes_on_disk), (0, filled.bytes_on_disk));
        assert!(cleared.bytes_in_use < 100_000, "{cleared:?}");
        fs::write(dir.join("replies.db.damaged-7"), "damaged").unwrap();
        Cache::destroy(&dir).unwrap();
        Cache::destroy(&dir).unwrap();
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 0);
        assert_eq!(CacheFigures::read(&dir).unwrap(), CacheFigures::default());
        fill(10);
        let again = CacheFigures::read(&dir).unwrap();
        assert_eq!(again.replies, 10);
        assert!(again.bytes_on_disk < filled.bytes_on_disk / 10);
    }

    #[test]
    fn a_program_that_has_it_open_goes_on_without_it() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(folder.path()).unwrap();
        let reply = ChatReply { text: "one".into(), ..ChatReply::default() };
        cache.put([1; 32], &reply, &[]);
        cache.flush();
        Cache::destroy(folder.path()).unwrap();
        cache.put([2; 32], &reply, &[]);
        cache.flush();
        assert_eq!(cache.entries().unwrap(), 2);
        drop(cache);
        assert_eq!(CacheFigures::read(folder.path()).unwrap(), CacheFigures::default());
    }
}
