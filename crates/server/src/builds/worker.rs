//! The worker of one workspace: takes builds from the queue, oldest first.
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chrono::Utc;
use halma_engine::{EngineError, IndexOptions, IndexReport, Progress};
use serde_json::{Value, json};

use super::{Build, BuildState};
use crate::allowance::Allowance;
use crate::usage::{Group, Used};
use crate::workspace::Workspace;

/// Works until the workspace is closed.
pub(crate) async fn work(workspace: Arc<Workspace>, allowance: Arc<Allowance>) {
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
            // The work is dropped where it is; the ledger knows what is left.
            () = stopped(&workspace, &id) => {}
            _ = closed.wait_for(|closed| *closed) => return,
        }
    }
}

/// Returns when somebody has paused or cancelled the build.
async fn stopped(workspace: &Workspace, id: &str) {
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
    (build.state, build.at) = (BuildState::Running, None);
    build.started = Some(Utc::now());
    if let Err(problem) = builds.put(build.clone()) {
        tracing::error!("a build cannot be written down: {}", problem.detail);
    }
    let engine = workspace.engine();
    let progress: Progress = {
        let (builds, id) = (Arc::clone(builds), build.id.clone());
        Arc::new(move |step| builds.step(&id, step))
    };
    let folder = engine.originals().dir().to_owned();
    let key = build.key.as_deref();
    let parent = key.and_then(|key| allowance.of_id(key, &workspace.usage));
    let inputs = [folder.clone()];
    let done =
        engine.index_within(&inputs, &options(build.uploads.as_deref()), progress, parent).await;
    if let Ok(report) = &done {
        let group = Group::today(build.key.as_deref().unwrap_or_default(), "index");
        workspace.usage.add(group, Used::of(report.usage, 0));
    }
    (build.state, build.report, build.error) = outcome(done, &folder);
    build.finished = Some(Utc::now());
    if let Err(problem) = builds.put(build) {
        tracing::error!("a build cannot be written down: {}", problem.detail);
    }
}

fn outcome(
    done: Result<IndexReport, EngineError>,
    folder: &Path,
) -> (BuildState, Option<Value>, Option<String>) {
    match done {
        Ok(report) => {
            let spent = report.spent.map(|limit| format!("stopped: out of {limit}"));
            let failed = (report.failed_units > 0).then(|| {
                let why = report.failure.clone().unwrap_or_default();
                format!(
                    "{} units of work failed ({why}); build again to retry them",
                    report.failed_units
                )
            });
            let error = spent.or(failed);
            let state = if error.is_some() { BuildState::Failed } else { BuildState::Done };
            (state, Some(told(&report, folder)), error)
        }
        Err(error) => {
            let problem = crate::problem::Problem::from(error);
            (BuildState::Failed, None, Some(problem.detail))
        }
    }
}

/// The report, in which files have the names of their documents instead of paths.
fn told(report: &IndexReport, folder: &Path) -> Value {
    let refused: Vec<Value> = report
        .refused
        .iter()
        .map(|refused| {
            let name = refused.file.strip_prefix(folder).unwrap_or(&refused.file);
            let (line, reason, hint) = (refused.line, &refused.reason, &refused.hint);
            json!({"name": slashed(name), "line": line, "reason": reason, "hint": hint})
        })
        .collect();
    let mut told = serde_json::to_value(report).unwrap_or_default();
    told["refused"] = Value::Array(refused);
    told
}

fn slashed(name: &Path) -> String {
    let parts: Vec<_> = name.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}

/// Everything, or just the files of these names.
pub(crate) fn options(uploads: Option<&[String]>) -> IndexOptions {
    let include = uploads.unwrap_or_default().iter().map(|name| exactly(name)).collect();
    IndexOptions { include, ..IndexOptions::default() }
}

/// A pattern that only this name fits, at the top of the folder.
fn exactly(name: &str) -> String {
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

/// Where the files of a workspace lie, as inputs of a build.
pub(crate) fn inputs(workspace: &Workspace) -> Vec<PathBuf> {
    vec![workspace.engine().originals().dir().to_owned()]
}
