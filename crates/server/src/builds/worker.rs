//! The worker of one workspace: runs the builds of the queue, oldest first.
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chrono::Utc;
use halma_engine::{EngineError, IndexOptions, IndexReport, Progress};
use serde_json::Value;

use super::{Build, BuildReport, BuildState, RefusedFile};
use crate::allowance::Allowance;
use crate::problem::Problem;
use crate::usage::{UsageCounts, UsageKey};
use crate::workspace::Workspace;

/// Runs builds until the workspace is closed.
pub(crate) async fn run_worker(workspace: Arc<Workspace>, allowance: Arc<Allowance>) {
    let builds = Arc::clone(&workspace.builds);
    let mut closed = builds.closed.subscribe();
    let mut changes = builds.changes();
    loop {
        let Some(build) = builds.next() else {
            tokio::select! {
                _ = changes.changed() => continue,
                _ = closed.wait_for(|closed| *closed) => return,
            }
        };
        let id = build.id.clone();
        tokio::select! {
            () = run(&workspace, build, &allowance) => {}
            // The work is dropped where it is; the ledger records what is left.
            () = stop_requested(&workspace, &id) => {}
            _ = closed.wait_for(|closed| *closed) => return,
        }
    }
}

/// Returns when the build has been paused or cancelled.
async fn stop_requested(workspace: &Workspace, id: &str) {
    let mut changes = workspace.builds.changes();
    loop {
        let state = workspace.builds.get(id).map(|build| build.state);
        if matches!(state, Ok(BuildState::Paused | BuildState::Cancelled) | Err(_)) {
            return;
        }
        if changes.changed().await.is_err() {
            return;
        }
    }
}

async fn run(workspace: &Workspace, mut build: Build, allowance: &Allowance) {
    let builds = &workspace.builds;
    (build.state, build.progress) = (BuildState::Running, None);
    build.started = Some(Utc::now());
    if let Err(problem) = builds.put(build.clone()) {
        tracing::error!("cannot store a build: {}", problem.detail);
    }
    let engine = workspace.engine();
    let progress: Progress = {
        let (builds, id) = (Arc::clone(builds), build.id.clone());
        Arc::new(move |step| builds.update(&id, step))
    };
    let folder = engine.originals().dir().to_owned();
    let key = build.key.as_deref();
    let parent = key.and_then(|key| allowance.meter_of_id(key, &workspace.usage));
    let done = engine
        .index_within(&inputs(workspace), &options(build.uploads.as_deref()), progress, parent)
        .await;
    if let Ok(report) = &done {
        let usage_key = UsageKey::today(build.key.as_deref().unwrap_or_default(), "index");
        workspace.usage.add(usage_key, UsageCounts::from_total(report.usage, 0));
    }
    build.apply(done, &folder);
    build.finished = Some(Utc::now());
    if let Err(problem) = builds.put(build) {
        tracing::error!("cannot store a build: {}", problem.detail);
    }
}

impl Build {
    /// Records how the run ended.
    fn apply(&mut self, done: Result<IndexReport, EngineError>, folder: &Path) {
        match done {
            Ok(report) => {
                let spent = report.spent.map(|limit| format!("budget exhausted: {limit}"));
                let failed = (report.failed_units > 0).then(|| {
                    let reason = report.failure.clone().unwrap_or_default();
                    let units = report.failed_units;
                    format!("{units} units of work failed ({reason}); build again to retry them")
                });
                self.error = spent.or(failed);
                self.report = Some(BuildReport::new(&report, folder));
            }
            Err(error) => {
                (self.error, self.report) = (Some(Problem::from(error).detail), None);
            }
        }
        let failed = self.error.is_some();
        self.state = if failed { BuildState::Failed } else { BuildState::Done };
    }
}

impl BuildReport {
    /// In `refused` files have the names of their documents instead of paths.
    fn new(report: &IndexReport, folder: &Path) -> Self {
        let refused = |refused: &halma_engine::Refused| {
            let name = refused.file.strip_prefix(folder).unwrap_or(&refused.file);
            let file = RefusedFile::new(&slashed(name), &refused.reason, &refused.hint);
            RefusedFile { line: refused.line, ..file }
        };
        let refused = report.refused.iter().map(refused).collect();
        let figures = match serde_json::to_value(report) {
            Ok(Value::Object(mut figures)) => {
                figures.remove("refused");
                figures
            }
            _ => serde_json::Map::new(),
        };
        Self { refused, figures }
    }
}

fn slashed(name: &Path) -> String {
    let parts: Vec<_> = name.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}

/// Options for everything, or only for the files with these names.
pub(crate) fn options(uploads: Option<&[String]>) -> IndexOptions {
    let include = uploads.unwrap_or_default().iter().map(|name| exact_pattern(name)).collect();
    IndexOptions { include, ..IndexOptions::default() }
}

/// A pattern that matches only this name, at the top of the folder.
fn exact_pattern(name: &str) -> String {
    let mut pattern = String::from("/");
    for c in name.chars() {
        if "*?[]{}".contains(c) {
            pattern.extend(['[', c, ']']);
        } else {
            pattern.push(c);
        }
    }
    pattern
}

/// The folder of a workspace's files, as inputs of a build.
pub(crate) fn inputs(workspace: &Workspace) -> Vec<PathBuf> {
    vec![workspace.engine().originals().dir().to_owned()]
}
