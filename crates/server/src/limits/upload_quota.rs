//! How much the uploaded files of a workspace may take, also when several requests upload at once.
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::http::StatusCode;
use halma_core::text::thousands;
use halma_engine::Originals;
use parking_lot::Mutex;

use crate::problem::Problem;

/// What the uploads of one workspace have in common.
#[derive(Default)]
pub(crate) struct Uploading {
    /// How many files were moved to the originals; held while one is.
    moves: Mutex<u64>,
    /// Bytes of the originals, as they were looked at last.
    held: AtomicU64,
    /// Bytes of files that are being received or checked.
    receiving: AtomicU64,
}

/// Most files of a workspace, and most bytes of them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct QuotaLimits {
    pub(crate) files: u64,
    pub(crate) bytes: u64,
}

/// What the originals of a workspace hold, as one request knows it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Quota {
    limits: QuotaLimits,
    files: u64,
    bytes: u64,
    /// The value of [`Uploading::moves`] at that time.
    moves: u64,
}

/// A file that is to be moved to the originals.
pub(crate) struct NewFile<'a> {
    pub(crate) name: &'a str,
    pub(crate) bytes: u64,
}

impl Uploading {
    /// Looks at the originals, also at those that the caller does not see. Reads the disk.
    pub(crate) fn look(&self, originals: &Originals, limits: QuotaLimits) -> Quota {
        let moves = self.moves.lock();
        self.look_now(originals, limits, *moves)
    }

    fn look_now(&self, originals: &Originals, limits: QuotaLimits, moves: u64) -> Quota {
        let held = originals.sizes();
        let quota = Quota { limits, files: held.len() as u64, bytes: held.iter().sum(), moves };
        self.held.store(quota.bytes, Ordering::Release);
        quota
    }

    /// Moves a file to the originals by `place`, if there is room for it. No other one is moved
    /// meanwhile, and what others have moved since counts.
    pub(crate) fn place<T, E>(
        &self,
        quota: &mut Quota,
        (originals, file): (&Originals, NewFile<'_>),
        place: impl FnOnce() -> Result<Result<T, E>, Problem>,
    ) -> Result<Result<T, E>, Problem> {
        let mut moves = self.moves.lock();
        if *moves != quota.moves {
            *quota = self.look_now(originals, quota.limits, *moves);
        }
        let taken = quota.with(file.bytes, originals.get(file.name).map(|former| former.bytes))?;
        let placed = place()?;
        if placed.is_ok() {
            *moves += 1;
            *quota = Quota { moves: *moves, ..taken };
            self.held.store(quota.bytes, Ordering::Release);
        }
        Ok(placed)
    }
}

impl Quota {
    /// With another file, whose former version, if it had one, was of `replaced` bytes.
    fn with(self, bytes: u64, replaced: Option<u64>) -> Result<Self, Problem> {
        let files = self.files + u64::from(replaced.is_none());
        let bytes = self.bytes.saturating_sub(replaced.unwrap_or_default()) + bytes;
        if files > self.limits.files {
            let most = thousands(self.limits.files);
            return Err(full(&format!("{most} files"), "serve.max_workspace_files"));
        }
        self.limits.check_bytes(bytes)?;
        Ok(Self { files, bytes, ..self })
    }

    pub(crate) fn limits(&self) -> QuotaLimits {
        self.limits
    }
}

impl QuotaLimits {
    fn check_bytes(self, bytes: u64) -> Result<(), Problem> {
        if bytes <= self.bytes {
            return Ok(());
        }
        Err(full(&format!("{} bytes of files", thousands(self.bytes)), "serve.max_workspace_bytes"))
    }
}

fn full(what: &str, key: &str) -> Problem {
    let detail = format!("the workspace may hold {what}, and there would be more");
    Problem::new(StatusCode::INSUFFICIENT_STORAGE, detail)
        .hint(format!("delete documents, or raise `{key}`; files sent before this one are kept"))
}

/// The bytes of a file that is being received or checked, counted until it is dropped.
pub(crate) struct Receiving {
    uploading: Arc<Uploading>,
    limits: QuotaLimits,
    /// Bytes of the file that it will replace.
    replaced: u64,
    bytes: u64,
}

impl Receiving {
    pub(crate) fn new(uploading: &Arc<Uploading>, limits: QuotaLimits, replaced: u64) -> Self {
        Self { uploading: Arc::clone(uploading), limits, replaced, bytes: 0 }
    }

    /// Bytes so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Counts bytes, unless with the originals and all other files that are being received there
    /// would be too many.
    pub(crate) fn add(&mut self, bytes: u64) -> Result<(), Problem> {
        self.bytes += bytes;
        let receiving = self.uploading.receiving.fetch_add(bytes, Ordering::AcqRel) + bytes;
        let held = self.uploading.held.load(Ordering::Acquire).saturating_sub(self.replaced);
        self.limits.check_bytes(held + receiving)
    }
}

impl Drop for Receiving {
    fn drop(&mut self) {
        self.uploading.receiving.fetch_sub(self.bytes, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(
        uploading: &Uploading,
        quota: &mut Quota,
        (originals, name, bytes): (&Originals, &str, usize),
    ) -> Result<(), Problem> {
        let file = NewFile { name, bytes: bytes as u64 };
        let write = || {
            std::fs::write(originals.dir().join(name), vec![b'x'; bytes]).unwrap();
            Ok(Ok::<(), ()>(()))
        };
        uploading.place(quota, (originals, file), write).map(Result::unwrap)
    }

    #[test]
    fn requests_at_the_same_time_do_not_fill_the_same_room() {
        let dir = tempfile::tempdir().unwrap();
        let originals = Originals::new(dir.path());
        originals.create().unwrap();
        let uploading = Uploading::default();
        let limits = QuotaLimits { files: 3, bytes: 100 };
        let mut one = uploading.look(&originals, limits);
        let mut other = one;
        place(&uploading, &mut one, (&originals, "a", 60)).unwrap();
        let refused = place(&uploading, &mut other, (&originals, "b", 60)).unwrap_err();
        assert_eq!(refused.status, 507);
        assert!(!originals.dir().join("b").exists());
        place(&uploading, &mut other, (&originals, "b", 40)).unwrap();
        // In place of a file there is room for a smaller one.
        assert!(place(&uploading, &mut one, (&originals, "b", 41)).is_err());
        place(&uploading, &mut one, (&originals, "b", 30)).unwrap();
        place(&uploading, &mut other, (&originals, "c", 1)).unwrap();
        assert!(place(&uploading, &mut one, (&originals, "d", 1)).is_err(), "a fourth file");
    }

    #[test]
    fn what_is_being_received_counts_until_it_is_dropped() {
        let dir = tempfile::tempdir().unwrap();
        let originals = Originals::new(dir.path());
        originals.create().unwrap();
        std::fs::write(originals.dir().join("a"), "0123456789").unwrap();
        let uploading = Arc::new(Uploading::default());
        let limits = QuotaLimits { files: 9, bytes: 100 };
        uploading.look(&originals, limits);
        let mut one = Receiving::new(&uploading, limits, 0);
        one.add(60).unwrap();
        let mut other = Receiving::new(&uploading, limits, 10);
        other.add(40).unwrap();
        assert_eq!(other.add(1).unwrap_err().status, 507);
        drop(one);
        other.add(1).unwrap();
    }
}
