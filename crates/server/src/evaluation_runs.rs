//! Evaluations that were started over HTTP and how far each is: an entry among the state of the base, so
//! that all servers of one that is shared show and cancel them.
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use chrono::{DateTime, Utc};
use halma_engine::{BaseState, Entries};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;
use utoipa::ToSchema;

use crate::builds::{SERVER_TIMEOUT, unstored};
use crate::limits::blocking::run_blocking;
use crate::problem::Problem;
use crate::workspace::Purpose;

/// The kind of the entry, which is also the folder of its key, and its id.
const KIND: &str = "evaluation";
const ID: &str = "all";

/// What a run waits for to store how it ended.
const TRANSIENT: [StatusCode; 2] =
    [StatusCode::SERVICE_UNAVAILABLE, StatusCode::INSUFFICIENT_STORAGE];

/// Stored at most; the oldest go.
const MAX_RUNS: usize = 50;

/// How often a server reports what it runs.
const INTERVAL: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RunState {
    Running,
    Done,
    Failed,
    Cancelled,
}

/// Whether an evaluation can have this name, which is that of its folder.
pub(crate) fn is_evaluation_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    !name.is_empty() && name.len() <= 64 && name.chars().all(is_plain)
}

/// The id of the evaluation in a folder.
pub(crate) fn evaluation_id(folder: &Path) -> String {
    blake3::hash(folder.as_os_str().as_encoded_bytes()).to_hex()[..16].to_owned()
}

/// How far an evaluation is.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub(crate) struct EvaluationRun {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) state: RunState,
    /// The strategy that is being asked, or `retrieval`.
    pub(crate) label: String,
    pub(crate) done: usize,
    pub(crate) total: usize,
    /// Questions that failed so far.
    pub(crate) failed: usize,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    pub(crate) started: DateTime<Utc>,
}

/// The evaluations of one workspace that were started over HTTP.
pub(crate) struct EvaluationRuns {
    entries: Entries,
    /// Those that this server runs, with their latest progress.
    local: Mutex<HashMap<String, LocalRun>>,
    /// When the last report of each one of others was read first.
    last_reports: Mutex<HashMap<String, (u64, Instant)>>,
}

/// The oldest first.
#[derive(Clone, Serialize, Deserialize)]
struct StoredRun {
    run: EvaluationRun,
    /// Counts the reports of the server that runs it.
    reports: u64,
}

struct LocalRun {
    run: EvaluationRun,
    stop: Arc<Notify>,
}

impl EvaluationRuns {
    /// Those of a workspace. What the only server of a base was running when it stopped does not run
    /// any more when it starts again.
    pub(crate) fn open(state: &BaseState, purpose: Purpose) -> Result<Self, Problem> {
        let entries = state.entries_with_words(KIND, KIND)?;
        let runs = Self { entries, local: Mutex::default(), last_reports: Mutex::default() };
        let is_running = |stored: &StoredRun| stored.run.state == RunState::Running;
        if runs.are_local() && purpose == Purpose::Serve && runs.read()?.1.iter().any(is_running) {
            runs.change(|stored| {
                for one in stored.iter_mut() {
                    one.run.interrupt("the server was stopped");
                }
                Ok(())
            })?;
        }
        Ok(runs)
    }

    /// Whether they are those of this server alone.
    pub(crate) fn are_local(&self) -> bool {
        self.entries.are_local()
    }

    /// Newest first. May wait for the database, as all of the following.
    pub(crate) fn list(&self) -> Result<Vec<EvaluationRun>, Problem> {
        let mut stored = self.read()?.1;
        let gone = self.gone(&stored);
        if !gone.is_empty() {
            stored = self.change(|stored| {
                for StoredRun { run, .. } in stored.iter_mut() {
                    if gone.contains(&run.id) {
                        run.interrupt("its server is gone");
                    }
                }
                Ok(stored.clone())
            })?;
        }
        let local = self.local.lock();
        let latest = |StoredRun { run, .. }: StoredRun| match local.get(&run.id) {
            Some(local) if run.state == RunState::Running => local.run.clone(),
            _ => run,
        };
        Ok(stored.into_iter().rev().map(latest).collect())
    }

    /// Adds a run, unless another one is not finished. The result tells it to stop.
    pub(crate) fn add(&self, run: &EvaluationRun) -> Result<Arc<Notify>, Problem> {
        let stop = Arc::new(Notify::new());
        let local = LocalRun { run: run.clone(), stop: Arc::clone(&stop) };
        self.local.lock().insert(run.id.clone(), local);
        let added = self.change(|stored| {
            if stored.iter().any(|stored| stored.run.state == RunState::Running) {
                let detail = "an evaluation is already running";
                return Err(Problem::new(StatusCode::CONFLICT, detail)
                    .hint("wait for its end, or cancel it"));
            }
            stored.push(StoredRun { run: run.clone(), reports: 0 });
            let more = stored.len().saturating_sub(MAX_RUNS);
            stored.drain(..more);
            Ok(())
        });
        if added.is_err() {
            self.local.lock().remove(&run.id);
        }
        added.map(|()| stop)
    }

    /// Notes how far a run of this server is. Does not wait.
    pub(crate) fn update(&self, id: &str, update: impl FnOnce(&mut EvaluationRun)) {
        if let Some(local) = self.local.lock().get_mut(id) {
            update(&mut local.run);
        }
    }

    /// Cancels a run, whichever server runs it, if it is not finished.
    pub(crate) fn cancel(&self, id: &str) -> Result<EvaluationRun, Problem> {
        let cancelled = self.change(|stored| {
            let run = stored.iter_mut().map(|stored| &mut stored.run).find(|run| run.id == id);
            let run = run.ok_or_else(|| Problem::not_found("such evaluation"))?;
            if run.state == RunState::Running {
                run.state = RunState::Cancelled;
            }
            Ok(run.clone())
        })?;
        if let Some(local) = self.local.lock().get(id) {
            local.stop.notify_one();
        }
        Ok(cancelled)
    }

    /// Stops what this server runs.
    pub(crate) fn stop(&self) {
        for local in self.local.lock().values() {
            local.stop.notify_one();
        }
    }

    /// Reports a run of this server to the others until it has ended, and stops it when one of them
    /// has cancelled it.
    pub(crate) async fn follow(self: Arc<Self>, id: String) {
        if self.are_local() {
            return;
        }
        loop {
            tokio::time::sleep(INTERVAL).await;
            let (runs, id) = (Arc::clone(&self), id.clone());
            match run_blocking(move || runs.report(&id)).await {
                Ok(true) => {}
                Ok(false) => return,
                Err(problem) => {
                    tracing::debug!("an evaluation cannot be reported: {}", problem.detail);
                }
            }
        }
    }

    /// Whether it still runs here.
    fn report(&self, id: &str) -> Result<bool, Problem> {
        let Some(latest) = self.local.lock().get(id).map(|local| local.run.clone()) else {
            return Ok(false);
        };
        let state = self.change(|stored| {
            let entry = stored.iter_mut().find(|stored| stored.run.id == id);
            let Some(stored) = entry else { return Ok(RunState::Cancelled) };
            if stored.run.state == RunState::Running {
                stored.run = latest.clone();
                stored.reports += 1;
            }
            Ok(stored.run.state)
        })?;
        if state != RunState::Running
            && let Some(local) = self.local.lock().get(id)
        {
            local.stop.notify_one();
        }
        Ok(true)
    }

    /// Stores how a run of this server ended, unless it was cancelled. Tries again while the database
    /// is not reached or the disk is full.
    pub(crate) async fn end(self: Arc<Self>, id: &str, outcome: Result<(), String>) {
        self.update(id, |run| match outcome {
            Ok(()) => run.state = RunState::Done,
            Err(reason) => (run.state, run.error) = (RunState::Failed, Some(reason)),
        });
        loop {
            let (runs, id) = (Arc::clone(&self), id.to_owned());
            match run_blocking(move || runs.store_end(&id)).await {
                Err(problem) if TRANSIENT.contains(&problem.status()) => {
                    tokio::time::sleep(INTERVAL).await;
                }
                Err(problem) => return tracing::warn!("{}", problem.detail),
                Ok(()) => return,
            }
        }
    }

    fn store_end(&self, id: &str) -> Result<(), Problem> {
        let Some(ended) = self.local.lock().get(id).map(|local| local.run.clone()) else {
            return Ok(());
        };
        self.change(|stored| {
            let current = stored.iter_mut().map(|stored| &mut stored.run).find(|run| run.id == id);
            if let Some(run) = current
                && run.state == RunState::Running
            {
                *run = ended.clone();
            }
            Ok(())
        })?;
        self.local.lock().remove(id);
        Ok(())
    }

    /// The runs, and the version of the entry. What cannot be read is replaced.
    fn read(&self) -> Result<(u64, Vec<StoredRun>), Problem> {
        let Some(entry) = self.entries.get(ID).map_err(unstored)? else { return Ok((0, vec![])) };
        let runs = serde_json::from_slice(&entry.bytes.unwrap_or_default());
        let runs = runs.unwrap_or_else(|e| {
            tracing::warn!("the list of evaluations is not valid and is replaced: {e}");
            vec![]
        });
        Ok((entry.version, runs))
    }

    /// Changes the runs as they are now, unless `change` refuses. It is called again where another
    /// server was faster.
    fn change<T>(
        &self,
        mut change: impl FnMut(&mut Vec<StoredRun>) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        loop {
            let (version, mut runs) = self.read()?;
            let changed = change(&mut runs)?;
            let bytes = serde_json::to_vec(&runs).map_err(|e| Problem::internal(&e))?;
            if self.entries.put(ID, version, &bytes).map_err(unstored)?.is_some() {
                return Ok(changed);
            }
        }
    }

    /// Those of other servers that have not reported for [`SERVER_TIMEOUT`].
    fn gone(&self, stored: &[StoredRun]) -> Vec<String> {
        let local = self.local.lock();
        let mut last_reports = self.last_reports.lock();
        let running = |stored: &&StoredRun| stored.run.state == RunState::Running;
        let mut gone = vec![];
        for StoredRun { run, reports } in stored.iter().filter(running) {
            if local.contains_key(&run.id) {
                continue;
            }
            let (last, at) =
                *last_reports.entry(run.id.clone()).or_insert((*reports, Instant::now()));
            if last != *reports {
                last_reports.insert(run.id.clone(), (*reports, Instant::now()));
            } else if at.elapsed() > SERVER_TIMEOUT {
                gone.push(run.id.clone());
            }
        }
        last_reports.retain(|id, _| stored.iter().any(|stored| stored.run.id == *id));
        gone
    }
}

impl EvaluationRun {
    /// Notes why it does not run any more, if it has not ended.
    fn interrupt(&mut self, why: &str) {
        if self.state == RunState::Running {
            self.state = RunState::Failed;
            self.error = Some(format!("{why}; start it again to continue"));
        }
    }
}
