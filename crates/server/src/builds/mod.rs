//! Builds: a queue for each workspace, processed one at a time, resumed after a restart. The servers of
//! a base that is shared have one queue in its database.
mod build;
mod claim;
mod coverage;
mod failure;
mod remote_builds;
mod retry;
mod spending;
mod storage;
#[cfg(test)]
mod tests;
mod worker;

use std::path::Path;
use std::sync::Arc;

use axum::http::StatusCode;
use chrono::Utc;
use halma_engine::{BasePart, BaseState, PhaseProgress, TagSample, TraceStore};
use parking_lot::Mutex;
use tokio::sync::watch;

pub(crate) use build::{Build, BuildReport, BuildState, BuildStatus, RefusedFile};
pub(crate) use claim::{Claim, ClaimRecord, Claims};
pub(crate) use coverage::Coverage;
pub(crate) use remote_builds::follow;
pub(crate) use storage::{BUILD_ENTRIES, SERVER_TIMEOUT};
pub(crate) use worker::{BuildAccounts, inputs, options, run_worker};

use self::storage::{All, Changed, Storage};
use crate::limits::blocking::busy;
use crate::problem::Problem;

/// Builds of a workspace that may wait, run or be paused; more are refused.
const MAX_UNFINISHED: usize = 20;

/// Builds stored at most; the oldest that have ended are removed.
const MAX_STORED: usize = 100;

pub(crate) struct Builds {
    storage: Storage,
    all: Mutex<All>,
    /// Locked from reading a build's state to storing its next one, so that no change is lost.
    state_lock: Mutex<()>,
    /// Locked while the builds in memory are synchronized with those that are stored. Not locked by
    /// those who only read, as a database may take its time.
    exchange: Mutex<()>,
    /// Deletions under way, for which the running build is suspended.
    holds: watch::Sender<usize>,
    /// Counts changes of any build.
    changes: watch::Sender<u64>,
    closed: watch::Sender<bool>,
}

/// While it exists, no build of the workspace uses the base.
pub(crate) struct Hold(Arc<Builds>);

impl Drop for Hold {
    fn drop(&mut self) {
        self.0.holds.send_modify(|holds| *holds -= 1);
    }
}

/// Whether the workspace in this folder has pending builds.
pub(crate) fn any_pending(dir: &Path) -> bool {
    let entries = BaseState::of_folder(dir).entries(BUILD_ENTRIES).list().unwrap_or_default();
    entries.into_iter().filter_map(storage::read).any(|build| build.state.is_pending())
}

impl Builds {
    /// The queue of a base, which several servers may share; `server` is the name of this one. A
    /// shared workspace besides the default one has a claim.
    pub(crate) fn open(
        state: &BaseState,
        server: String,
        claim: Option<Claim>,
    ) -> Result<Self, Problem> {
        let storage = Storage::open(state, server, claim)?;
        let all = storage.read().map_err(unstored)?;
        Ok(Self::with(storage, all))
    }

    /// No queue, in a process that builds nothing.
    pub(crate) fn unserved() -> Self {
        Self::with(Storage::default(), All::new())
    }

    fn with(storage: Storage, all: All) -> Self {
        let (changes, closed) = (watch::Sender::new(0), watch::Sender::new(false));
        let (state_lock, exchange, holds) =
            (Mutex::default(), Mutex::default(), watch::Sender::new(0));
        let all = Mutex::new(all);
        Self { storage, all, state_lock, exchange, holds, changes, closed }
    }

    /// Appends a build to the queue; with `None` it builds everything that was uploaded. Where an equal
    /// one waits, that is the result: it will read what is there when it begins.
    pub(crate) fn start(
        &self,
        uploads: Option<Vec<String>>,
        rebuild: Vec<BasePart>,
        key: Option<String>,
    ) -> Result<Build, Problem> {
        let id = TraceStore::next_id().map_err(|e| Problem::internal(&e))?;
        self.append(Build { rebuild, ..Build::queued(id, uploads, key) })
    }

    /// Appends learning from samples to the queue; with `replace` what was learned from others is
    /// forgotten.
    pub(crate) fn learn(
        &self,
        samples: Vec<TagSample>,
        replace: bool,
        key: Option<String>,
    ) -> Result<Build, Problem> {
        let id = TraceStore::next_id().map_err(|e| Problem::internal(&e))?;
        let samples = Some(samples.into());
        self.append(Build { samples, replace, ..Build::queued(id, None, key) })
    }

    fn append(&self, build: Build) -> Result<Build, Problem> {
        let guard = self.state_lock.lock();
        let equal = |other: &&Build| other.state == BuildState::Queued && other.does_same(&build);
        if let Some(waiting) = self.all.lock().values().find(equal) {
            return Ok(waiting.clone());
        }
        self.check_room()?;
        self.put(build.clone())?;
        drop(guard);
        self.remove_oldest();
        Ok(build)
    }

    /// Refuses a build when there are too many that have not ended.
    fn check_room(&self) -> Result<(), Problem> {
        let waiting = self.all.lock().values().filter(|build| !build.state.has_ended()).count();
        if waiting < MAX_UNFINISHED {
            return Ok(());
        }
        Err(busy(&format!("{waiting} builds wait or are paused, and no more may")))
    }

    /// Newest first.
    pub(crate) fn list(&self) -> Vec<Build> {
        self.all.lock().values().rev().cloned().collect()
    }

    pub(crate) fn get(&self, id: &str) -> Result<Build, Problem> {
        self.all.lock().get(id).cloned().ok_or_else(|| Problem::not_found("such build"))
    }

    /// [`Builds::get`] that asks the other servers, too. May wait for the database.
    pub(crate) fn look_up(&self, id: &str) -> Result<Build, Problem> {
        self.get(id).or_else(|_| {
            self.refresh()?;
            self.get(id)
        })
    }

    /// Changes the state of a build, if its present state allows that.
    pub(crate) fn set_state(&self, id: &str, to: BuildState) -> Result<Build, Problem> {
        use BuildState::{Cancelled, Failed, Paused, Queued, Running};
        self.change(id, |build| {
            let allowed = match to {
                Paused => matches!(build.state, Queued | Running),
                Queued => matches!(build.state, Paused | Failed),
                Cancelled => matches!(build.state, Queued | Running | Paused),
                _ => false,
            };
            if !allowed {
                let detail = format!("the build is {}", build.state.phase().name());
                return Err(Problem::new(StatusCode::CONFLICT, detail)
                    .hint("a running build can be paused or cancelled, a paused one resumed"));
            }
            if build.state == Failed {
                self.check_room()?;
            }
            if build.state == Running && to == Paused {
                build.report_progress();
            }
            build.state = to;
            build.error = None;
            build.finished = (to == Cancelled).then(Utc::now);
            Ok(())
        })
    }

    /// Changes a build as it is now, unless `change` refuses; one change happens at a time. It may be
    /// called again where other servers change it as well.
    fn change(
        &self,
        id: &str,
        mut change: impl FnMut(&mut Build) -> Result<(), Problem>,
    ) -> Result<Build, Problem> {
        let _guard = self.state_lock.lock();
        loop {
            self.refresh()?;
            let mut build = self.get(id)?;
            change(&mut build)?;
            if self.put(build.clone())? {
                return Ok(build);
            }
        }
    }

    /// Notes a build as running, if it still waits.
    fn begin(&self, id: &str) -> Result<Build, Problem> {
        self.change_if(id, BuildState::Queued, |build| {
            (build.state, build.progress) = (BuildState::Running, vec![]);
            build.reported = None;
            build.started = Some(Utc::now());
            build.server = self.storage.server().map(str::to_owned);
        })
    }

    /// Changes a build that is in this state, and no other.
    fn change_if(
        &self,
        id: &str,
        from: BuildState,
        mut change: impl FnMut(&mut Build),
    ) -> Result<Build, Problem> {
        self.change(id, |build| {
            if build.state != from {
                let detail = format!("the build is {}", build.state.phase().name());
                return Err(Problem::new(StatusCode::CONFLICT, detail));
            }
            change(build);
            Ok(())
        })
    }

    /// Makes the running build release the base until the result is dropped. What it has finished
    /// is kept, and it continues afterwards.
    pub(crate) fn hold(self: &Arc<Self>) -> Hold {
        self.holds.send_modify(|holds| *holds += 1);
        Hold(Arc::clone(self))
    }

    /// Notifies of every change from now on.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Stops the worker; the next process resumes the build that was running.
    pub(crate) async fn close(&self) {
        self.closed.send_replace(true);
        // The worker holds a receiver until it has stopped.
        self.closed.closed().await;
    }

    /// Leaves what this server was running to other servers. It has stopped, and its worker too.
    pub(crate) fn hand_over(&self) {
        if self.storage.server().is_none() || !self.is_pending() {
            return;
        }
        let _exchange = self.exchange.lock();
        let running = |build: &&mut Build| build.state == BuildState::Running;
        let mut all = self.all.lock();
        for build in all.values_mut().filter(running) {
            if !self.runs_elsewhere(build) {
                build.wait();
                // One that another server has changed is left to that; one that cannot be written is
                // taken over when this server no longer reports.
                if let Err(e) = self.storage.put(build) {
                    tracing::warn!("a build is continued later by another server: {e}");
                }
            }
        }
        drop(all);
        if let Err(e) = self.storage.release_claim() {
            tracing::warn!("builds are continued later by another server: {e}");
        }
    }

    /// Whether any build waits or runs.
    pub(crate) fn is_pending(&self) -> bool {
        self.all.lock().values().any(|build| build.state.is_pending())
    }

    /// The oldest one that waits, unless another server runs one.
    fn next(&self) -> Option<Build> {
        let all = self.all.lock();
        if all.values().any(|build| self.runs_elsewhere(build)) {
            return None;
        }
        all.values().find(|build| build.state == BuildState::Queued).cloned()
    }

    fn runs_elsewhere(&self, build: &Build) -> bool {
        build.state == BuildState::Running && build.server.as_deref() != self.storage.server()
    }

    /// Takes in what other servers did. May wait for the database.
    pub(crate) fn refresh(&self) -> Result<(), Problem> {
        let _exchange = self.exchange.lock();
        let changed = self.storage.changes().map_err(unstored)?;
        if changed.is_empty() {
            return Ok(());
        }
        let mut all = self.all.lock();
        for Changed { id, build } in changed {
            let former = all.remove(&id);
            if let Some(mut build) = build {
                // Of its own build a server knows more than it has written.
                build.progress = former.map(|former| former.progress).unwrap_or_default();
                all.insert(id, build);
            }
        }
        drop(all);
        self.changes.send_modify(|changes| *changes += 1);
        Ok(())
    }

    fn update(&self, id: &str, step: PhaseProgress) {
        if let Some(build) = self.all.lock().get_mut(id) {
            build.update(step);
        }
        self.changes.send_modify(|changes| *changes += 1);
    }

    /// Stores a build on disk or in the database, then in memory; `false` if another server has
    /// changed it meanwhile. The caller holds `state_lock`.
    fn put(&self, build: Build) -> Result<bool, Problem> {
        if *self.closed.borrow() {
            // The folder may be another workspace's by now.
            return Err(Problem::new(StatusCode::CONFLICT, "the workspace is closed"));
        }
        let _exchange = self.exchange.lock();
        if !self.storage.put(&build).map_err(unstored)? {
            return Ok(false);
        }
        self.all.lock().insert(build.id.clone(), build);
        self.changes.send_modify(|changes| *changes += 1);
        if !self.is_pending() {
            self.storage.remove_claim();
        }
        Ok(true)
    }

    fn remove_oldest(&self) {
        let mut removed = vec![];
        let mut all = self.all.lock();
        while all.len() > MAX_STORED {
            let oldest = all.values().find(|build| build.state.has_ended());
            let Some(id) = oldest.map(|build| build.id.clone()) else { break };
            all.remove(&id);
            removed.push(id);
        }
        drop(all);
        for id in &removed {
            self.storage.remove(id);
        }
    }
}

/// The database is not reached, or something is wrong here.
pub(crate) fn unstored(error: std::io::Error) -> Problem {
    match error.downcast::<halma_store::pg::PgError>() {
        Ok(error) => error.into(),
        Err(error) => Problem::io(&error),
    }
}

/// A conflict means that another server has decided about the build.
fn log_conflict(changed: Result<Build, Problem>) {
    if let Err(problem) = changed
        && problem.status != StatusCode::CONFLICT.as_u16()
    {
        tracing::warn!("a build cannot be stored: {}", problem.detail);
    }
}
