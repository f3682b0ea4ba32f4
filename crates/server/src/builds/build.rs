//! One build, as it is kept and as it is shown.
use std::time::Instant;

use chrono::{DateTime, Utc};
use halma_engine::{Phase, Step};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Where a build is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum BuildState {
    /// It waits for the one before it. Shown as running, in the stage `waiting`.
    Queued,
    Running,
    /// It goes on when it is resumed; what is done stays done.
    Paused,
    /// What is done stays done.
    Cancelled,
    Done,
    Failed,
}

impl BuildState {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Queued | Self::Running => "running",
            Self::Paused => "paused",
            Self::Cancelled => "cancelled",
            Self::Done => "done",
            Self::Failed => "failed",
        }
    }

    pub(crate) fn is_waiting(self) -> bool {
        matches!(self, Self::Queued | Self::Running)
    }

    pub(crate) fn is_over(self) -> bool {
        matches!(self, Self::Cancelled | Self::Done | Self::Failed)
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Build {
    pub(crate) id: String,
    pub(crate) state: BuildState,
    /// What was uploaded and is to be built; everything where nothing is named.
    pub(crate) uploads: Option<Vec<String>>,
    /// The key that asked for it, by id.
    pub(crate) key: Option<String>,
    pub(crate) created: DateTime<Utc>,
    pub(crate) started: Option<DateTime<Utc>>,
    pub(crate) finished: Option<DateTime<Utc>>,
    /// What it did.
    pub(crate) report: Option<serde_json::Value>,
    pub(crate) error: Option<String>,
    /// How far it is, while it runs.
    #[serde(skip)]
    pub(crate) at: Option<At>,
}

/// How far a build is in its stage.
#[derive(Debug, Clone, Copy)]
pub(crate) struct At {
    step: Step,
    began: Instant,
    /// What was done when the stage began.
    from: usize,
}

/// A build as it is shown.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct Shown {
    pub(crate) id: String,
    /// `running`, `paused`, `cancelled`, `done` or `failed`.
    pub(crate) state: &'static str,
    /// What is being done, in words; `waiting` behind another build.
    pub(crate) stage: &'static str,
    pub(crate) done: usize,
    pub(crate) total: usize,
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
    /// What it did: new documents, chunks, atoms, what was refused, what it cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) report: Option<serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
}

impl Build {
    pub(crate) fn queued(id: String, uploads: Option<Vec<String>>, key: Option<String>) -> Self {
        let (state, created) = (BuildState::Queued, Utc::now());
        let (started, finished, report, error, at) = (None, None, None, None, None);
        Self { id, state, uploads, key, created, started, finished, report, error, at }
    }

    pub(crate) fn step(&mut self, step: Step) {
        match &mut self.at {
            Some(at) if at.step.stage == step.stage => at.step = step,
            at => *at = Some(At { step, began: Instant::now(), from: step.done }),
        }
    }

    /// Whether it builds an upload of this name.
    pub(crate) fn covers(&self, name: &str) -> bool {
        self.uploads.as_ref().is_none_or(|uploads| uploads.iter().any(|upload| upload == name))
    }

    /// Why it refused an upload of this name.
    pub(crate) fn refused(&self, name: &str) -> Option<String> {
        let refused = self.report.as_ref()?.get("refused")?.as_array()?;
        let of_it = refused.iter().find(|refused| refused["name"] == name)?;
        let said = |key: &str| of_it[key].as_str().unwrap_or_default().to_owned();
        Some(format!("{}: {}", said("reason"), said("hint")))
    }

    #[expect(clippy::cast_precision_loss, reason = "a rate is wanted to a few digits")]
    pub(crate) fn shown(&self) -> Shown {
        let at = self.at.filter(|_| self.state == BuildState::Running);
        let (done, total) = at.map_or((0, 0), |at| (at.step.done, at.step.total));
        let stage = match (self.state, at) {
            (BuildState::Queued, _) => Phase::Wait.name(),
            (BuildState::Running, Some(at)) => at.step.stage.name(),
            (BuildState::Running, None) => "starting",
            (state, _) => state.name(),
        };
        let rate = at.and_then(|at| {
            let (made, took) = (done.saturating_sub(at.from), at.began.elapsed().as_secs_f64());
            (made > 0 && took > 0.2).then(|| made as f64 / took)
        });
        Shown {
            id: self.id.clone(),
            state: self.state.name(),
            stage,
            done,
            total,
            rate_per_s: rate,
            seconds_left: rate.map(|rate| total.saturating_sub(done) as f64 / rate),
            created: self.created,
            started: self.started,
            finished: self.finished,
            report: self.report.clone(),
            error: self.error.clone(),
        }
    }
}
