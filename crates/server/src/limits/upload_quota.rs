//! How much the uploaded files of a workspace may take, also when several requests upload at once.
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use halma_core::text::thousands;
use halma_engine::Originals;
use parking_lot::Mutex;

use crate::problem::Problem;

/// How long a sum is used before the originals are looked at again: other programs may have changed
/// them.
const LIFETIME: Duration = Duration::from_mins(5);

/// The same where little room is left, so that what another program has deleted can soon be used.
const SHORT_LIFETIME: Duration = Duration::from_secs(10);

/// The same where other servers place files among the same originals.
const SHARED_LIFETIME: Duration = Duration::from_secs(2);

/// The quota of the uploads of one workspace.
#[derive(Default)]
pub(crate) struct UploadQuota {
    /// What the originals hold, as far as it is known; locked while a file is moved to them.
    sum: Mutex<Option<Sum>>,
    /// Bytes of the originals at the last count.
    stored: AtomicU64,
    /// Bytes of files that are being received or checked.
    receiving: AtomicU64,
    /// Whether other servers place files among the same originals.
    is_shared: bool,
}

/// The number of files of a workspace, and of their bytes, at most.
#[derive(Debug, Clone, Copy)]
pub(crate) struct QuotaLimits {
    pub(crate) files: u64,
    pub(crate) bytes: u64,
}

/// Files and bytes of the originals at the last count, and of those that were placed since.
#[derive(Debug, Clone, Copy)]
struct Sum {
    files: u64,
    bytes: u64,
    looked: Instant,
    /// [`Originals::removals`] at that time.
    removals: u64,
}

/// A file that is to be moved to the originals.
pub(crate) struct NewFile<'a> {
    pub(crate) name: &'a str,
    pub(crate) bytes: u64,
}

impl UploadQuota {
    pub(crate) fn new(is_shared: bool) -> Self {
        Self { is_shared, ..Self::default() }
    }

    /// Looks at the originals, also at those that the caller does not see, unless what they hold is
    /// known. May read the disk.
    pub(crate) fn look(&self, originals: &Originals, limits: QuotaLimits) {
        self.current(&mut self.sum.lock(), originals, limits);
    }

    fn current(&self, sum: &mut Option<Sum>, originals: &Originals, limits: QuotaLimits) -> Sum {
        let removals = originals.removals();
        let is_current = |sum: &Sum| {
            let lifetime = match sum.is_tight(limits) {
                _ if self.is_shared => SHARED_LIFETIME,
                true => SHORT_LIFETIME,
                false => LIFETIME,
            };
            sum.removals == removals && sum.looked.elapsed() < lifetime
        };
        match sum.filter(is_current) {
            Some(sum) => sum,
            None => self.look_again(sum, originals),
        }
    }

    fn look_again(&self, sum: &mut Option<Sum>, originals: &Originals) -> Sum {
        // Before the files, so that a removal that happens meanwhile is noticed later.
        let (removals, looked) = (originals.removals(), Instant::now());
        let sizes = originals.sizes();
        let (files, bytes) = (sizes.len() as u64, sizes.iter().sum());
        self.stored.store(bytes, Ordering::Release);
        *sum.insert(Sum { files, bytes, looked, removals })
    }

    /// Moves a file to the originals by `place`, if there is room for it. No other one is moved
    /// meanwhile, and what others have moved before counts.
    pub(crate) fn place<T, E>(
        &self,
        limits: QuotaLimits,
        (originals, file): (&Originals, NewFile<'_>),
        place: impl FnOnce() -> Result<Result<T, E>, Problem>,
    ) -> Result<Result<T, E>, Problem> {
        let mut sum = self.sum.lock();
        let former = originals.get(file.name).map(|former| former.bytes);
        let current = self.current(&mut sum, originals, limits);
        let with_file = match current.with(file.bytes, former, limits) {
            // Another program may have made room.
            Err(_) => self.look_again(&mut sum, originals).with(file.bytes, former, limits)?,
            Ok(with_file) => with_file,
        };
        let before = sum.take();
        // An error leaves open whether the file stands there, so that the sum is not known.
        let placed = place()?;
        *sum = if placed.is_ok() { Some(with_file) } else { before };
        self.stored.store(sum.map_or(0, |sum| sum.bytes), Ordering::Release);
        Ok(placed)
    }
}

impl Sum {
    /// With another file, whose former version, if it had one, was of `replaced` bytes.
    fn with(self, bytes: u64, replaced: Option<u64>, limits: QuotaLimits) -> Result<Self, Problem> {
        let files = self.files + u64::from(replaced.is_none());
        let bytes = self.bytes.saturating_sub(replaced.unwrap_or_default()) + bytes;
        if files > limits.files {
            let limit = thousands(limits.files);
            return Err(full(&format!("{limit} files"), "serve.max_workspace_files"));
        }
        limits.check_bytes(bytes)?;
        Ok(Self { files, bytes, ..self })
    }

    /// Whether at most a tenth of the quota is left.
    fn is_tight(&self, limits: QuotaLimits) -> bool {
        let tight = |used: u64, limit: u64| used >= limit - limit / 10;
        tight(self.files, limits.files) || tight(self.bytes, limits.bytes)
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
pub(crate) struct ReceivedBytes {
    upload_quota: Arc<UploadQuota>,
    limits: QuotaLimits,
    /// Bytes of the file that it will replace.
    replaced: u64,
    bytes: u64,
}

impl ReceivedBytes {
    pub(crate) fn new(upload_quota: &Arc<UploadQuota>, limits: QuotaLimits, replaced: u64) -> Self {
        Self { upload_quota: Arc::clone(upload_quota), limits, replaced, bytes: 0 }
    }

    /// Bytes so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Counts bytes, unless with the originals and all other files that are being received there
    /// would be too many.
    pub(crate) fn add(&mut self, bytes: u64) -> Result<(), Problem> {
        self.bytes += bytes;
        let receiving = self.upload_quota.receiving.fetch_add(bytes, Ordering::AcqRel) + bytes;
        let stored = self.upload_quota.stored.load(Ordering::Acquire).saturating_sub(self.replaced);
        self.limits.check_bytes(stored + receiving)
    }
}

impl Drop for ReceivedBytes {
    fn drop(&mut self) {
        self.upload_quota.receiving.fetch_sub(self.bytes, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: QuotaLimits = QuotaLimits { files: 3, bytes: 100 };

    fn originals(dir: &tempfile::TempDir) -> Originals {
        let originals = Originals::new(dir.path());
        originals.create().unwrap();
        originals
    }

    fn write(originals: &Originals, name: &str, bytes: usize) {
        std::fs::write(originals.dir().join(name), vec![b'x'; bytes]).unwrap();
    }

    fn place(
        upload_quota: &UploadQuota,
        (originals, name, bytes): (&Originals, &str, usize),
    ) -> Result<(), Problem> {
        let file = NewFile { name, bytes: bytes as u64 };
        let place = || {
            write(originals, name, bytes);
            Ok(Ok::<(), ()>(()))
        };
        upload_quota.place(LIMITS, (originals, file), place).map(Result::unwrap)
    }

    #[test]
    fn requests_at_the_same_time_do_not_fill_the_same_room() {
        let dir = tempfile::tempdir().unwrap();
        let originals = originals(&dir);
        let upload_quota = UploadQuota::default();
        upload_quota.look(&originals, LIMITS);
        place(&upload_quota, (&originals, "a", 60)).unwrap();
        let refused = place(&upload_quota, (&originals, "b", 60)).unwrap_err();
        assert_eq!(refused.status, 507);
        assert!(!originals.dir().join("b").exists());
        place(&upload_quota, (&originals, "b", 40)).unwrap();
        // In place of a file there is room for a smaller one.
        assert!(place(&upload_quota, (&originals, "b", 41)).is_err());
        place(&upload_quota, (&originals, "b", 30)).unwrap();
        place(&upload_quota, (&originals, "c", 1)).unwrap();
        assert!(place(&upload_quota, (&originals, "d", 1)).is_err(), "a fourth file");
    }

    #[test]
    fn the_folder_is_not_looked_at_for_each_upload() {
        let dir = tempfile::tempdir().unwrap();
        let originals = originals(&dir);
        let upload_quota = UploadQuota::default();
        let sums = |upload_quota: &UploadQuota| {
            upload_quota.look(&originals, LIMITS);
            let sum = upload_quota.sum.lock().unwrap();
            (sum.files, sum.bytes)
        };
        place(&upload_quota, (&originals, "a", 30)).unwrap();
        // By another program.
        write(&originals, "b", 20);
        assert_eq!(sums(&upload_quota), (1, 30));
        // A removal may be of what was not counted.
        originals.remove(&["a".into()]).unwrap();
        assert_eq!(sums(&upload_quota), (1, 20));
        write(&originals, "c", 5);
        upload_quota.sum.lock().as_mut().unwrap().looked -= LIFETIME;
        assert_eq!(sums(&upload_quota), (2, 25));
        let shared = UploadQuota::new(true);
        assert_eq!(sums(&shared), (2, 25));
        write(&originals, "d", 5);
        shared.sum.lock().as_mut().unwrap().looked -= SHARED_LIFETIME;
        assert_eq!(sums(&shared), (3, 30), "another server may have placed it");
    }

    #[test]
    fn room_that_another_program_has_made_is_used_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let originals = originals(&dir);
        let upload_quota = UploadQuota::default();
        place(&upload_quota, (&originals, "a", 80)).unwrap();
        std::fs::remove_file(originals.dir().join("a")).unwrap();
        place(&upload_quota, (&originals, "b", 90)).unwrap();
    }

    #[test]
    fn a_file_that_may_have_been_placed_is_looked_for() {
        let dir = tempfile::tempdir().unwrap();
        let originals = originals(&dir);
        let upload_quota = UploadQuota::default();
        let file = NewFile { name: "a", bytes: 60 };
        let unsynced = || {
            write(&originals, "a", 60);
            Err::<Result<(), ()>, _>(Problem::unfit("its folder is not on the disk"))
        };
        upload_quota.place(LIMITS, (&originals, file), unsynced).unwrap_err();
        assert_eq!(place(&upload_quota, (&originals, "b", 60)).unwrap_err().status, 507);
    }

    #[test]
    fn what_is_being_received_counts_until_it_is_dropped() {
        let dir = tempfile::tempdir().unwrap();
        let originals = originals(&dir);
        write(&originals, "a", 10);
        let upload_quota = Arc::new(UploadQuota::default());
        upload_quota.look(&originals, LIMITS);
        let mut one = ReceivedBytes::new(&upload_quota, LIMITS, 0);
        one.add(60).unwrap();
        let mut other = ReceivedBytes::new(&upload_quota, LIMITS, 10);
        other.add(40).unwrap();
        assert_eq!(other.add(1).unwrap_err().status, 507);
        drop(one);
        other.add(1).unwrap();
    }
}
