//! The worker of one workspace: runs the builds of the queue, oldest first.
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::http::StatusCode;
use chrono::Utc;
use halma_core::UsageTotal;
use halma_engine::{BasePart, EngineError, IndexOptions, IndexReport, IndexRun, TagLearning};
use serde::Serialize;
use serde_json::Value;
use tokio::sync::watch;

use super::failure::describe_failure;
use super::retry::{Backoff, change_with_retry, pause};
use super::spending::Spending;
use super::{Build, BuildReport, BuildState, RefusedFile};
use crate::limits::allowance::Allowance;
use crate::limits::blocking::run_blocking;
use crate::metrics::Metrics;
use crate::workspace::Workspace;

/// Where it is counted what builds may use and have used.
#[derive(Clone)]
pub(crate) struct BuildAccounts {
    pub(crate) allowance: Arc<Allowance>,
    pub(crate) metrics: Arc<Metrics>,
}

/// Runs builds until the workspace is closed.
pub(crate) async fn run_worker(workspace: Arc<Workspace>, accounts: BuildAccounts) {
    let builds = &workspace.builds;
    let mut closed = builds.closed.subscribe();
    let mut holds = builds.holds.subscribe();
    let mut changes = builds.changes();
    let mut backoff = Backoff::default();
    let mut suspended = None;
    loop {
        tokio::select! {
            () = wait(&mut holds, |holds| *holds == 0) => {}
            () = wait(&mut closed, |closed| *closed) => return,
        }
        let Some(build) = builds.next() else {
            suspended = None;
            tokio::select! {
                _ = changes.changed() => continue,
                () = wait(&mut closed, |closed| *closed) => return,
            }
        };
        let mut spending = Spending::start(&build, (&workspace, &accounts), suspended.take());
        let running = (build.id.as_str(), BuildState::Running);
        let outcome = tokio::select! {
            outcome = run(&workspace, &build, &accounts.metrics, &mut spending) => outcome,
            // The work is dropped where it is; the ledger records what is left.
            () = stop_requested(&workspace, &build.id) => RunOutcome::Ended,
            () = key_revoked(&accounts.allowance, build.key.as_deref()) => {
                spending.count(None);
                change_with_retry(builds, running, cancel).await;
                RunOutcome::Ended
            }
            () = wait(&mut holds, |holds| *holds > 0) => RunOutcome::Suspended,
            () = wait(&mut closed, |closed| *closed) => {
                spending.counter.finish_at_exit();
                return;
            }
        };
        match outcome {
            RunOutcome::Ended => backoff = Backoff::default(),
            RunOutcome::Suspended => {
                suspended = Some(spending);
                change_with_retry(builds, running, Build::wait).await;
            }
            // It is the next one again.
            RunOutcome::NotStarted => {
                if pause(&mut closed, backoff.next()).await {
                    return;
                }
            }
        }
    }
}

/// How a run of a build came to its end.
enum RunOutcome {
    Ended,
    /// It could not be stored that it runs.
    NotStarted,
    /// It was suspended for a deletion.
    Suspended,
}

/// Ends a build whose key is gone.
fn cancel(build: &mut Build) {
    build.state = BuildState::Cancelled;
    build.error = Some("the API key that started it was revoked".to_owned());
    build.finished = Some(Utc::now());
}

/// Returns when the value meets the condition, or nothing can change it any more.
async fn wait<T>(value: &mut watch::Receiver<T>, condition: impl FnMut(&T) -> bool) {
    // The guard that this returns must not be held across another wait.
    let _ = value.wait_for(condition).await;
}

/// Returns when the key that started a build is revoked or has expired.
async fn key_revoked(allowance: &Allowance, key: Option<&str>) {
    match key {
        Some(key) => allowance.keys.revoked(key).await,
        None => std::future::pending().await,
    }
}

/// Returns when the build has been paused or cancelled, or another server runs it.
async fn stop_requested(workspace: &Workspace, id: &str) {
    let mut changes = workspace.builds.changes();
    loop {
        let Ok(build) = workspace.builds.get(id) else { return };
        let is_stopped = matches!(build.state, BuildState::Paused | BuildState::Cancelled);
        if is_stopped || workspace.builds.runs_elsewhere(&build) {
            return;
        }
        if changes.changed().await.is_err() {
            return;
        }
    }
}

async fn run(
    workspace: &Workspace,
    build: &Build,
    metrics: &Metrics,
    spending: &mut Spending,
) -> RunOutcome {
    let builds = &workspace.builds;
    let begun = {
        let (builds, id) = (Arc::clone(builds), build.id.clone());
        run_blocking(move || builds.begin(&id)).await
    };
    let build = match begun {
        Ok(build) => build,
        // It has been paused or cancelled since it was looked up.
        Err(problem) if problem.status() == StatusCode::CONFLICT => return RunOutcome::Ended,
        Err(problem) => {
            tracing::warn!("a build is delayed, as its state cannot be stored: {}", problem.detail);
            return RunOutcome::NotStarted;
        }
    };
    let engine = workspace.engine();
    let progress = {
        let (builds, id) = (Arc::clone(builds), build.id.clone());
        Arc::new(move |step| builds.update(&id, step))
    };
    let folder = engine.originals().dir().to_owned();
    let meter = Arc::clone(&spending.meter);
    let work = async {
        if let Some(samples) = &build.samples {
            let learned = engine.learn_tags(samples, build.replace, progress, Some(meter));
            return learned.await.map(Report::Learned);
        }
        let options = options(build.uploads.as_deref(), build.rebuild.clone());
        let run = IndexRun { parent: Some(meter), ..IndexRun::new(progress) };
        let done = Box::pin(engine.index_by(&inputs(workspace), &options, run)).await;
        done.map(|report| Report::Indexed(Box::new(report)))
    };
    let done = spending.counter.during(work).await;
    spending.count(done.as_ref().ok().map(Report::usage));
    let (error, report) = outcome(done, &folder);
    let state = if error.is_some() { BuildState::Failed } else { BuildState::Done };
    metrics.build(state.phase().name());
    // What was done is not to be done again because that cannot be stored at this moment.
    let store = move |build: &mut Build| {
        (build.state, build.error, build.report) = (state, error.clone(), report.clone());
        (build.server, build.reported, build.finished) = (None, None, Some(Utc::now()));
    };
    change_with_retry(builds, (&build.id, BuildState::Running), store).await;
    RunOutcome::Ended
}

/// What a run in the queue did.
enum Report {
    Indexed(Box<IndexReport>),
    Learned(TagLearning),
}

impl Report {
    fn usage(&self) -> UsageTotal {
        match self {
            Self::Indexed(report) => report.usage,
            Self::Learned(report) => report.usage,
        }
    }

    /// Why not everything was done.
    fn error(&self) -> Option<String> {
        let (spent, units, reason) = match self {
            Self::Indexed(report) => (report.spent, report.failed_units, &report.failure),
            Self::Learned(report) => {
                (report.spent, report.failed + report.pending, &report.failure)
            }
        };
        let spent = spent.map(|limit| format!("budget exhausted: {limit}"));
        let failed = || {
            let reason = reason.clone().unwrap_or_default();
            format!("{units} units of work failed ({reason}); build again to retry them")
        };
        spent.or_else(|| (units > 0).then(failed))
    }
}

/// What went wrong in a run, and its report.
fn outcome(
    done: Result<Report, EngineError>,
    folder: &Path,
) -> (Option<String>, Option<Arc<BuildReport>>) {
    let report = match done {
        Ok(report) => report,
        Err(error) => {
            let base = folder.parent().unwrap_or(folder);
            return (Some(describe_failure(error, base)), None);
        }
    };
    let build_report = match &report {
        Report::Indexed(report) => BuildReport::of_index(report, folder),
        Report::Learned(report) => BuildReport::new(vec![], figures(report)),
    };
    (report.error(), Some(Arc::new(build_report)))
}

impl BuildReport {
    /// In `refused` files have the names of their documents instead of paths. The warnings of files are
    /// those of their documents.
    fn of_index(report: &IndexReport, folder: &Path) -> Self {
        let refused = |refused: &halma_engine::Refused| {
            let name = refused.file.strip_prefix(folder).unwrap_or(&refused.file);
            let file = RefusedFile::new(&slashed(name), &refused.reason, &refused.hint);
            RefusedFile { line: refused.line, ..file }
        };
        let refused = report.refused.iter().map(refused).collect();
        let mut figures = figures(report);
        figures.remove("refused");
        figures.remove("warnings");
        Self::new(refused, figures)
    }
}

fn figures(report: &impl Serialize) -> serde_json::Map<String, Value> {
    match serde_json::to_value(report) {
        Ok(Value::Object(figures)) => figures,
        _ => serde_json::Map::new(),
    }
}

pub(super) fn slashed(name: &Path) -> String {
    let parts: Vec<_> = name.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}

/// Options for everything, or only for the files with these names, and for what is made again.
pub(crate) fn options(uploads: Option<&[String]>, rebuild: Vec<BasePart>) -> IndexOptions {
    let include = uploads.unwrap_or_default().iter().map(|name| exact_pattern(name)).collect();
    IndexOptions { include, rebuild, ..IndexOptions::default() }
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

/// The folder of a workspace's files, as inputs of a build; none where nothing was uploaded.
pub(crate) fn inputs(workspace: &Workspace) -> Vec<PathBuf> {
    let folder = workspace.engine().originals().dir().to_owned();
    Some(folder).filter(|folder| folder.is_dir()).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use halma_engine::ReadWarning;

    use super::*;

    #[test]
    fn a_report_has_no_paths_of_the_server() {
        let folder = Path::new("/srv/uploads");
        let (file, warning) = (folder.join("scan.pdf"), "page 2 is not read".to_owned());
        let refused = halma_engine::Refused {
            file: folder.join("a/empty.md"),
            line: None,
            reason: "it is empty".into(),
            hint: "fill it".into(),
        };
        let report = IndexReport {
            refused: vec![refused],
            warnings: vec![ReadWarning { file, warning }],
            ..IndexReport::default()
        };
        let report = BuildReport::of_index(&report, folder);
        let json = serde_json::to_string(&report).unwrap();
        assert!(json.contains("a/empty.md") && !json.contains("/srv"), "{json}");
    }
}
