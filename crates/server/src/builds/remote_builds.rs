//! Following what other servers do with the builds of a base that is shared, and telling them what this
//! one does.
use std::sync::Weak;
use std::time::Duration;

use super::{Build, BuildState, Builds, log_conflict};
use crate::limits::blocking::run_blocking;
use crate::problem::Problem;

/// How often it is looked what other servers did, and how many looks there are to a report of what
/// this one does.
const INTERVAL: Duration = Duration::from_millis(500);
const LOOKS: u32 = 4;

/// Follows what other servers do until the workspace is closed, and tells them what this one does.
pub(crate) async fn follow(followed: Weak<Builds>) {
    if followed.upgrade().is_none_or(|builds| builds.storage.server().is_none()) {
        return;
    }
    for look in 0_u32.. {
        tokio::time::sleep(INTERVAL).await;
        let Some(builds) = followed.upgrade().filter(|builds| !*builds.closed.borrow()) else {
            return;
        };
        let looked = run_blocking(move || builds.look(look % LOOKS == 0)).await;
        if let Err(problem) = looked {
            tracing::warn!("the builds of other servers cannot be read: {}", problem.detail);
        }
    }
}

impl Builds {
    fn look(&self, is_report: bool) -> Result<(), Problem> {
        self.refresh()?;
        let running = |build: &&Build| build.state == BuildState::Running;
        let running: Vec<Build> = self.all.lock().values().filter(running).cloned().collect();
        for build in running {
            if !self.runs_elsewhere(&build) {
                if is_report {
                    log_conflict(self.change_if(&build.id, build.state, Build::report_progress));
                }
            } else if self.storage.is_orphan(&build.id) {
                let id = build.id;
                tracing::warn!(id, "the server that ran a build is gone; it waits for another one");
                log_conflict(self.change_if(&id, BuildState::Running, Build::wait));
            }
        }
        Ok(())
    }
}
