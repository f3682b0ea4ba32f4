//! The files of a cache as a whole: what they take on the disk, and their removal.
use std::fs;
use std::io;
use std::path::Path;

use super::cache::{Cache, CacheError};
use super::store::{SEALED, damaged, holds_keys, remove_damaged, set_aside};

/// What a cache has and takes on the disk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CacheFigures {
    pub replies: u64,
    /// About how many bytes of the files these replies take; the rest is free for new ones.
    pub bytes_in_use: u64,
    /// All its files, also those that were set aside because they were damaged.
    pub bytes_on_disk: u64,
    /// The files of keys alone, which grow with each reply and do not shrink.
    pub key_bytes: u64,
}

impl CacheFigures {
    /// Of the cache in the folder `dir`; zeros where there is none.
    pub fn read(dir: &Path) -> Result<Self, CacheError> {
        let folder = dir.join(SEALED);
        if !folder.exists() && damaged(&folder).is_empty() {
            return Ok(Self::default());
        }
        let (replies, bytes_in_use) = Cache::open(dir)?.size()?;
        let mut figures = Self { replies, bytes_in_use, ..Self::default() };
        let folders = damaged(&folder).into_iter().chain([folder]);
        let counted = folders.into_iter().try_for_each(|folder| figures.count(&folder));
        counted.map_err(|e| failed(dir, &e))?;
        Ok(figures)
    }

    fn count(&mut self, folder: &Path) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let bytes = entry.metadata()?.len();
            self.bytes_on_disk += bytes;
            if holds_keys(&entry) {
                self.key_bytes += bytes;
            }
        }
        Ok(())
    }
}

impl Cache {
    /// Destroys the cache in the folder `dir` with its files. A program that has it open at this
    /// moment keeps what it has open, which is not found any more when it has ended.
    pub fn destroy(dir: &Path) -> Result<(), CacheError> {
        let folder = dir.join(SEALED);
        let set_aside = if folder.exists() { set_aside(&folder).map(drop) } else { Ok(()) };
        set_aside.and_then(|()| remove_damaged(&folder)).map_err(|e| failed(dir, &e))
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
        assert!(filled.key_bytes >= 2 * 20 * 3_000, "{filled:?}");
        assert!(filled.bytes_on_disk > filled.bytes_in_use && filled.bytes_in_use > 1_000_000);
        // Clearing frees no space on the disk, and later keys come after the former ones.
        Cache::open(&dir).unwrap().clear().unwrap();
        let cleared = CacheFigures::read(&dir).unwrap();
        assert_eq!((cleared.replies, cleared.key_bytes), (0, filled.key_bytes));
        let keys = dir.join("replies/reply-keys");
        let same = folder.path().join("same");
        fs::hard_link(&keys, &same).unwrap();
        fs::create_dir(dir.join("replies.damaged-7")).unwrap();
        Cache::destroy(&dir).unwrap();
        Cache::destroy(&dir).unwrap();
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 0);
        assert!(fs::read(&same).unwrap().iter().all(|byte| *byte == 0), "keys are overwritten");
        assert_eq!(CacheFigures::read(&dir).unwrap(), CacheFigures::default());
        fill(10);
        let again = CacheFigures::read(&dir).unwrap();
        assert_eq!(again.replies, 10);
        assert!(again.key_bytes < 1_000 && again.bytes_on_disk < filled.bytes_on_disk / 10);
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
