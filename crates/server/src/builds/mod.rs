//! Builds: a queue on disk for each workspace, processed one at a time, resumed after a restart.
mod build;
mod worker;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::http::StatusCode;
use chrono::Utc;
use halma_engine::{PhaseProgress, TagSample, TraceStore};
use tokio::sync::watch;

pub(crate) use build::{Build, BuildReport, BuildState, BuildStatus, RefusedFile};
pub(crate) use worker::{BuildAccounts, inputs, options, run_worker};

use crate::problem::Problem;

const FOLDER: &str = "builds";

/// Builds stored at most; the oldest that have ended are removed.
const MAX_STORED: usize = 100;

pub(crate) struct Builds {
    dir: PathBuf,
    all: Mutex<BTreeMap<String, Build>>,
    /// Held from reading a build's state to storing its next one, so that no change is lost.
    turn: Mutex<()>,
    /// Deletions under way, for which the running build makes room.
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
    read(&dir.join(FOLDER)).values().any(|build| build.state.is_pending())
}

fn read(dir: &Path) -> BTreeMap<String, Build> {
    let files = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let read = |path: PathBuf| {
        let mut build: Build = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
        if build.state == BuildState::Running {
            // The server stopped while it ran.
            build.state = BuildState::Queued;
        }
        Some((build.id.clone(), build))
    };
    files.filter_map(|file| read(file.path())).collect()
}

impl Builds {
    pub(crate) fn open(dir: &Path) -> std::io::Result<Self> {
        let dir = dir.join(FOLDER);
        std::fs::create_dir_all(&dir)?;
        let all = Mutex::new(read(&dir));
        let (changes, closed) = (watch::Sender::new(0), watch::Sender::new(false));
        let (turn, holds) = (Mutex::default(), watch::Sender::new(0));
        Ok(Self { dir, all, turn, holds, changes, closed })
    }

    /// Appends a build to the queue; with `None` it builds everything that was uploaded.
    pub(crate) fn start(
        &self,
        uploads: Option<Vec<String>>,
        key: Option<String>,
    ) -> Result<Build, Problem> {
        let id = TraceStore::next_id().map_err(|e| Problem::internal(&e))?;
        self.append(Build::queued(id, uploads, key))
    }

    /// Appends learning from samples to the queue.
    pub(crate) fn learn(
        &self,
        samples: Vec<TagSample>,
        key: Option<String>,
    ) -> Result<Build, Problem> {
        let id = TraceStore::next_id().map_err(|e| Problem::internal(&e))?;
        self.append(Build { samples: Some(samples), ..Build::queued(id, None, key) })
    }

    fn append(&self, build: Build) -> Result<Build, Problem> {
        let turn = self.turn();
        self.put(build.clone())?;
        drop(turn);
        self.remove_oldest();
        Ok(build)
    }

    /// Newest first.
    pub(crate) fn list(&self) -> Vec<Build> {
        self.all().values().rev().cloned().collect()
    }

    pub(crate) fn get(&self, id: &str) -> Result<Build, Problem> {
        self.all().get(id).cloned().ok_or_else(|| Problem::not_found("such build"))
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
            build.state = to;
            build.error = None;
            build.finished = (to == Cancelled).then(Utc::now);
            Ok(())
        })
    }

    /// Changes a build as it is now, unless `change` refuses; one change happens at a time.
    fn change(
        &self,
        id: &str,
        change: impl FnOnce(&mut Build) -> Result<(), Problem>,
    ) -> Result<Build, Problem> {
        let _turn = self.turn();
        let mut build = self.get(id)?;
        change(&mut build)?;
        self.put(build.clone())?;
        Ok(build)
    }

    /// Marks a build as running, if it still waits.
    fn begin(&self, id: &str) -> Result<Build, Problem> {
        self.move_on(id, BuildState::Queued, |build| {
            (build.state, build.progress) = (BuildState::Running, None);
            build.started = Some(Utc::now());
        })
    }

    /// Changes a build that is in this state, and no other.
    fn move_on(
        &self,
        id: &str,
        from: BuildState,
        change: impl FnOnce(&mut Build),
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

    fn next(&self) -> Option<Build> {
        self.all().values().find(|build| build.state == BuildState::Queued).cloned()
    }

    fn update(&self, id: &str, step: PhaseProgress) {
        if let Some(build) = self.all().get_mut(id) {
            build.update(step);
        }
        self.changes.send_modify(|changes| *changes += 1);
    }

    /// Stores a build on disk, then in memory. The caller has the turn.
    fn put(&self, build: Build) -> Result<(), Problem> {
        if *self.closed.borrow() {
            // The folder may be another workspace's by now.
            return Err(Problem::new(StatusCode::CONFLICT, "the workspace is closed"));
        }
        let write = || {
            let mut file = tempfile::NamedTempFile::new_in(&self.dir)?;
            serde_json::to_writer(&mut file, &build)?;
            file.as_file().sync_all()?;
            file.persist(self.path(&build.id)).map_err(|e| e.error)?;
            Ok::<_, std::io::Error>(())
        };
        write().map_err(|e| Problem::internal(&e))?;
        self.all().insert(build.id.clone(), build);
        self.changes.send_modify(|changes| *changes += 1);
        Ok(())
    }

    fn remove_oldest(&self) {
        let mut all = self.all();
        while all.len() > MAX_STORED {
            let oldest = all.values().find(|build| build.state.has_ended());
            let Some(id) = oldest.map(|build| build.id.clone()) else { break };
            all.remove(&id);
            // A file that cannot be removed is read and removed again after a restart.
            let _ = std::fs::remove_file(self.path(&id));
        }
    }

    fn path(&self, id: &str) -> PathBuf {
        self.dir.join(format!("{id}.json"))
    }

    fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<String, Build>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_decided_meanwhile_is_not_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let builds = Builds::open(dir.path()).unwrap();
        let build = builds.start(None, None).unwrap();
        // The worker has looked it up, and then it is cancelled.
        let next = builds.next().unwrap();
        builds.set_state(&build.id, BuildState::Cancelled).unwrap();
        assert_eq!(builds.begin(&next.id).unwrap_err().status, 409);
        let second = builds.start(None, None).unwrap();
        builds.begin(&second.id).unwrap();
        builds.set_state(&second.id, BuildState::Paused).unwrap();
        // The worker ends the build at the same time.
        let done = |build: &mut Build| build.state = BuildState::Done;
        assert!(builds.move_on(&second.id, BuildState::Running, done).is_err());
        let reopened = Builds::open(dir.path()).unwrap();
        let states: Vec<_> = reopened.list().iter().map(|build| build.state).collect();
        assert_eq!(states, [BuildState::Paused, BuildState::Cancelled]);
    }

    #[test]
    fn of_many_changes_at_once_none_is_lost() {
        let dir = tempfile::tempdir().unwrap();
        let builds = Arc::new(Builds::open(dir.path()).unwrap());
        for _ in 0..20 {
            let build = builds.start(None, None).unwrap();
            let (cancelled, begun) = std::thread::scope(|scope| {
                let cancel = scope.spawn(|| builds.set_state(&build.id, BuildState::Cancelled));
                let begin = scope.spawn(|| builds.begin(&build.id));
                (cancel.join().unwrap(), begin.join().unwrap())
            });
            // Either may come first, and a cancelled build never runs.
            assert!(cancelled.is_ok(), "{begun:?}");
            assert_eq!(builds.get(&build.id).unwrap().state, BuildState::Cancelled);
        }
    }
}
