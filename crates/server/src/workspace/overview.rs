//! What a list says of workspaces. It is cached while their stores do not change, so that a list neither
//! opens those that are closed nor counts everything again.
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use chrono::{DateTime, Utc};
use halma_engine::Base;
use parking_lot::Mutex;

use super::Workspace;
use crate::problem::Problem;

/// Times of files are not finer than some milliseconds: of two changes within this time one could be
/// missed.
const SETTLED: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Overview {
    pub(crate) documents: u64,
    pub(crate) created: Option<DateTime<Utc>>,
}

impl Overview {
    /// May walk the whole base.
    pub(crate) fn read(workspace: &Workspace) -> Result<Self, Problem> {
        let stats = workspace.engine().base().inspector().stats()?;
        let created = i64::try_from(stats.created).ok();
        let created = created.and_then(|seconds| DateTime::from_timestamp(seconds, 0));
        Ok(Self { documents: stats.documents, created })
    }
}

/// Overviews by the folder of the workspace, each with the time of the last change before it was made.
#[derive(Default)]
pub(super) struct Overviews(Mutex<HashMap<PathBuf, (SystemTime, Overview)>>);

impl Overviews {
    pub(super) fn get(&self, dir: &Path) -> Option<Overview> {
        let changed = Base::changed(dir)?;
        let all = self.0.lock();
        all.get(dir).filter(|(made, _)| *made == changed).map(|(_, overview)| *overview)
    }

    /// Keeps what was made of a base that had changed at this time, and before that.
    pub(super) fn keep(&self, dir: &Path, changed: SystemTime, overview: Overview) {
        if changed.elapsed().is_ok_and(|elapsed| elapsed > SETTLED) {
            let mut all = self.0.lock();
            all.insert(dir.to_owned(), (changed, overview));
        }
    }

    pub(super) fn forget(&self, dir: &Path) {
        self.0.lock().remove(dir);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_overview_holds_until_the_store_changes() {
        let dir = tempfile::tempdir().unwrap();
        let (all, store) = (Overviews::default(), dir.path().join("store/data.mdb"));
        let overview = Overview { documents: 3, created: None };
        let keep = |at: SystemTime| all.keep(dir.path(), at, overview);
        assert_eq!(all.get(dir.path()), None);
        std::fs::create_dir_all(store.parent().unwrap()).unwrap();
        let file = std::fs::File::create(&store).unwrap();
        keep(Base::changed(dir.path()).unwrap());
        assert_eq!(all.get(dir.path()), None, "another change may follow at the same time");
        let earlier = SystemTime::now() - Duration::from_mins(1);
        file.set_modified(earlier).unwrap();
        keep(Base::changed(dir.path()).unwrap());
        assert_eq!(all.get(dir.path()), Some(overview));
        file.set_modified(earlier + Duration::from_secs(1)).unwrap();
        assert_eq!(all.get(dir.path()), None);
        file.set_modified(earlier).unwrap();
        all.forget(dir.path());
        assert_eq!(all.get(dir.path()), None);
    }
}
