//! One build: its record on disk and its status for clients.
use std::sync::Arc;
use std::time::Instant;

use chrono::{DateTime, Utc};
use halma_engine::{BasePart, Phase, PhaseProgress, TagSample};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// Refused files of each build in a list at most: a folder of pictures is thousands in each build.
const MAX_LISTED_REFUSALS: usize = 20;

/// The state of a build.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum BuildState {
    /// It waits for an earlier build. Clients see `running`, in the stage `waiting`.
    Queued,
    Running,
    /// It continues when it is resumed; finished work is kept.
    Paused,
    /// Finished work is kept.
    Cancelled,
    Done,
    Failed,
}

impl BuildState {
    pub(crate) fn phase(self) -> BuildPhase {
        match self {
            Self::Queued | Self::Running => BuildPhase::Running,
            Self::Paused => BuildPhase::Paused,
            Self::Cancelled => BuildPhase::Cancelled,
            Self::Done => BuildPhase::Done,
            Self::Failed => BuildPhase::Failed,
        }
    }

    pub(crate) fn is_pending(self) -> bool {
        matches!(self, Self::Queued | Self::Running)
    }

    pub(crate) fn has_ended(self) -> bool {
        matches!(self, Self::Cancelled | Self::Done | Self::Failed)
    }
}

/// The state of a build for clients, to whom a queued build is running.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum BuildPhase {
    Running,
    Paused,
    Cancelled,
    Done,
    Failed,
}

impl BuildPhase {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Cancelled => "cancelled",
            Self::Done => "done",
            Self::Failed => "failed",
        }
    }
}

/// A build as stored on disk. A copy is small: it shares what may be long.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Build {
    pub(crate) id: String,
    pub(crate) state: BuildState,
    /// The uploads to build; everything that was uploaded when `None`.
    pub(crate) uploads: Option<Arc<[String]>>,
    /// Parts of the base that are made again as the configuration says.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) rebuild: Vec<BasePart>,
    /// Samples to learn from; then nothing is indexed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) samples: Option<Arc<[TagSample]>>,
    /// Whether what was learned from other samples is forgotten.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) replace: bool,
    /// The id of the key that started it.
    pub(crate) key: Option<String>,
    pub(crate) created: DateTime<Utc>,
    pub(crate) started: Option<DateTime<Utc>>,
    pub(crate) finished: Option<DateTime<Utc>>,
    pub(crate) report: Option<Arc<BuildReport>>,
    pub(crate) error: Option<String>,
    /// The server that runs it, of those that share a base.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) server: Option<String>,
    /// How far that server was when it last said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reported: Option<ReportedProgress>,
    /// Of each stage that has begun, the one that made the last step first; set while it runs.
    #[serde(skip)]
    pub(crate) progress: Vec<StageProgress>,
}

/// The progress of a build as other servers show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ReportedProgress {
    stage: String,
    done: usize,
    total: usize,
}

/// The progress of a build in a stage. Several stages run at a time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StageProgress {
    step: PhaseProgress,
    started: Instant,
    /// Units that were already done when the stage began.
    done_before: usize,
}

impl StageProgress {
    fn is_complete(&self) -> bool {
        self.step.done >= self.step.total
    }
}

/// What a build did.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub(crate) struct BuildReport {
    /// In a list of builds the first ones of each.
    pub(crate) refused: Vec<RefusedFile>,
    /// How many were refused. Reports on disk may be without it.
    #[serde(default)]
    #[schema(required = true)]
    pub(crate) refused_files: usize,
    /// Counts, usage and time, as in the report of `halma index --json`.
    #[serde(flatten)]
    #[schema(value_type = std::collections::HashMap<String, Value>)]
    pub(crate) figures: serde_json::Map<String, Value>,
}

impl BuildReport {
    pub(crate) fn new(refused: Vec<RefusedFile>, figures: serde_json::Map<String, Value>) -> Self {
        Self { refused_files: refused.len(), refused, figures }
    }

    /// A copy that names this many refused files at most.
    fn shortened(&self, limit: usize) -> Self {
        let refused = self.refused.iter().take(limit).cloned().collect();
        Self { refused, refused_files: self.refused.len(), figures: self.figures.clone() }
    }
}

/// A file that was not accepted.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub(crate) struct RefusedFile {
    pub(crate) name: String,
    /// Counted from 1, for files with one record per line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) line: Option<usize>,
    pub(crate) reason: String,
    /// What to do about it.
    pub(crate) hint: String,
    /// It would be accepted in place of the file that has its name.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) replaceable: bool,
}

impl RefusedFile {
    pub(crate) fn new(name: &str, reason: impl Into<String>, hint: &str) -> Self {
        let (name, reason, hint) = (name.to_owned(), reason.into(), hint.to_owned());
        Self { name, line: None, reason, hint, replaceable: false }
    }
}

/// The status of a build.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct BuildStatus {
    pub(crate) id: String,
    pub(crate) state: BuildPhase,
    /// What is being done; `waiting` while an earlier build runs.
    pub(crate) stage: String,
    pub(crate) done: usize,
    pub(crate) total: usize,
    /// Parts of the base that it makes again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub(crate) rebuild: Vec<BasePart>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rate_per_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) seconds_left: Option<f64>,
    #[schema(value_type = String, format = DateTime)]
    pub(crate) created: DateTime<Utc>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub(crate) started: Option<DateTime<Utc>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub(crate) finished: Option<DateTime<Utc>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) report: Option<BuildReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
}

impl BuildStatus {
    /// The status with its numbers, and of the texts only why files of this build were refused.
    pub(crate) fn without_texts(mut self) -> Self {
        if self.error.is_some() {
            self.error =
                Some("some work failed; a key that sees all documents can read what".into());
        }
        if let Some(report) = &mut self.report {
            report.figures.retain(|_, figure| figure.is_number());
        }
        self
    }
}

impl Build {
    pub(crate) fn queued(id: String, uploads: Option<Vec<String>>, key: Option<String>) -> Self {
        Self {
            id,
            state: BuildState::Queued,
            uploads: uploads.map(Arc::from),
            rebuild: vec![],
            samples: None,
            replace: false,
            key,
            created: Utc::now(),
            started: None,
            finished: None,
            report: None,
            error: None,
            server: None,
            reported: None,
            progress: vec![],
        }
    }

    /// Whether it does the work of another one, on behalf of the same key.
    pub(crate) fn does_same(&self, other: &Self) -> bool {
        let work = |build: &Self| (build.uploads.clone(), build.samples.clone(), build.key.clone());
        (&self.rebuild, self.replace) == (&other.rebuild, other.replace)
            && work(self) == work(other)
    }

    /// Puts it back into the queue.
    pub(crate) fn wait(&mut self) {
        self.state = BuildState::Queued;
        (self.server, self.reported, self.progress) = (None, None, vec![]);
    }

    /// Notes how far it is, for other servers and while it is paused.
    pub(crate) fn report_progress(&mut self) {
        self.reported = self.current().map(|now| ReportedProgress {
            stage: now.step.phase.name().to_owned(),
            done: now.step.done,
            total: now.step.total,
        });
    }

    pub(crate) fn update(&mut self, step: PhaseProgress) {
        let position = self.progress.iter().position(|stage| stage.step.phase == step.phase);
        let (started, done_before) = match position.map(|at| self.progress.remove(at)) {
            Some(former) => (former.started, former.done_before),
            None => (Instant::now(), step.done),
        };
        self.progress.insert(0, StageProgress { step, started, done_before });
    }

    /// The stage that is shown: of those that are not complete the one that made the last step.
    fn current(&self) -> Option<StageProgress> {
        let running = self.progress.iter().find(|stage| !stage.is_complete());
        running.or(self.progress.first()).copied()
    }

    pub(crate) fn status(&self) -> BuildStatus {
        self.status_with(usize::MAX)
    }

    /// The status for a list of builds.
    pub(crate) fn list_status(&self) -> BuildStatus {
        self.status_with(MAX_LISTED_REFUSALS)
    }

    /// The status, with this many refused files at most.
    #[expect(clippy::cast_precision_loss, reason = "a rate needs only a few digits")]
    fn status_with(&self, max_refused: usize) -> BuildStatus {
        let is_begun = matches!(self.state, BuildState::Running | BuildState::Paused);
        let progress = self.current().filter(|_| self.state == BuildState::Running);
        let reported = self.reported.as_ref().filter(|_| is_begun);
        let (done, total) = match (progress, reported) {
            (Some(now), _) => (now.step.done, now.step.total),
            (None, Some(reported)) => (reported.done, reported.total),
            (None, None) => (0, 0),
        };
        let stage = match (self.state, progress, reported) {
            (BuildState::Queued, _, _) => Phase::WAIT.name(),
            (BuildState::Running, Some(progress), _) => progress.step.phase.name(),
            (BuildState::Running, None, Some(reported)) => reported.stage.as_str(),
            (BuildState::Running, None, None) => "starting",
            (state, _, _) => state.phase().name(),
        };
        let rate = progress.and_then(|now| {
            let (units, time) = (done.saturating_sub(now.done_before), now.started.elapsed());
            let seconds = time.as_secs_f64();
            (units > 0 && seconds > 0.2).then(|| units as f64 / seconds)
        });
        BuildStatus {
            id: self.id.clone(),
            state: self.state.phase(),
            stage: stage.to_owned(),
            done,
            total,
            rebuild: self.rebuild.clone(),
            rate_per_s: rate,
            seconds_left: rate.map(|rate| total.saturating_sub(done) as f64 / rate),
            created: self.created,
            started: self.started,
            finished: self.finished,
            report: self.report.as_ref().map(|report| report.shortened(max_refused)),
            error: self.error.clone(),
        }
    }
}
