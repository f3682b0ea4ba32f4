//! Synchronization with the other servers of a shared base: reads what they do with its builds, and
//! reports what this one does.
use std::sync::Weak;
use std::time::Duration;

use super::{Build, BuildState, Builds, log_conflict};
use crate::limits::blocking::run_blocking;
use crate::problem::Problem;

/// How often the builds are read, and how many reads there are to a report of this server.
const INTERVAL: Duration = Duration::from_millis(500);
const LOOKS: u32 = 4;

/// Synchronizes the builds until the workspace is closed.
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
