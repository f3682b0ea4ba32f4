//! What a run of `index` would cost, before anything is spent or written: the inputs are read and
//! cut, and every call that a stage would make is counted.
use std::path::PathBuf;
use std::sync::Arc;

use halma_core::{Setup, Usage};
use serde::Serialize;

use super::embed;
use super::forecast::Forecast;
use super::plan::{Plan, Planner};
use crate::error::beside;
use crate::report::Refused;
use crate::store::{History, Past};
use crate::{Base, IndexOptions, KbError, KbSettings};

/// Without a history: time until a model begins to reply, and for each token of the reply.
const SECONDS_A_CALL: f64 = 0.5;
const SECONDS_A_TOKEN: f64 = 0.02;

/// Without a history: characters embedded in a second. The built-in embedder does 37 passages of
/// 500 characters on one core.
const CHARACTERS_A_SECOND: f64 = 18_500.0;

/// What a run of `index` would cost.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Estimate {
    pub documents_new: usize,
    pub documents_replaced: usize,
    pub documents_unchanged: usize,
    /// Chunks of new and changed documents, and those of them that are kept as they are.
    pub chunks: usize,
    pub chunks_kept: usize,
    pub stages: Vec<StageEstimate>,
    /// Sums over the stages. Texts are embedded while models are asked, so the time is that of
    /// whichever takes longer.
    pub calls: u64,
    pub prompt_tokens: u64,
    pub completion_tokens: u64,
    /// US dollars, by the prices in the configuration.
    pub usd: f64,
    pub seconds: f64,
    /// Files and lines that would not be indexed.
    pub refused: Vec<Refused>,
}

/// What one stage would cost.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct StageEstimate {
    /// What is asked for, as in the prompt's file; `embed` for vectors.
    pub task: String,
    pub model: String,
    /// Chunks, or texts to embed.
    pub units: u64,
    pub calls: u64,
    pub prompt_tokens: u64,
    pub completion_tokens: u64,
    pub usd: f64,
    pub seconds: f64,
    /// Whether the figures rest on what this model did for this base before. If not, they are a
    /// rule of thumb, the time above all.
    pub measured: bool,
}

/// Says what [`crate::index`] with the same arguments would cost. Nothing is asked or written.
pub async fn estimate(
    base: &Arc<Base>,
    inputs: &[PathBuf],
    options: &IndexOptions,
    settings: &KbSettings,
    setup: &Arc<Setup>,
) -> Result<Estimate, KbError> {
    let (base, inputs, setup) = (Arc::clone(base), inputs.to_owned(), Arc::clone(setup));
    let (options, settings) = (options.clone(), settings.clone());
    beside("estimating", move || {
        let plan = Planner::new(&base, &settings, &options, &setup).run(&inputs)?;
        let history = base.store.read(|txn| base.store.history(txn))?;
        Ok(priced(plan, &history, (&base, &settings, &setup)))
    })
    .await
}

fn priced(
    plan: Plan,
    history: &History,
    (base, settings, setup): (&Base, &KbSettings, &Setup),
) -> Estimate {
    let mut estimate = plan.estimate;
    let (mut texts, mut characters) = (plan.texts, plan.characters);
    for forecast in plan.forecasts {
        let model = setup.models.for_role(&forecast.role);
        let past = history.of(forecast.prompt, model.model()).filter(|past| past.calls > 0);
        let stage = asked(&forecast, past, settings.concurrency);
        texts += scaled(forecast.texts, past.map_or(1.0, |past| share(past.made, past.foreseen)));
        characters += stage.completion_tokens * 4;
        let (prompt_tokens, completion_tokens) = (stage.prompt_tokens, stage.completion_tokens);
        let usd = model.price().cost(Usage { prompt_tokens, completion_tokens });
        estimate.calls += stage.calls;
        estimate.prompt_tokens += prompt_tokens;
        estimate.completion_tokens += completion_tokens;
        estimate.usd += usd;
        estimate.seconds += stage.seconds;
        estimate.stages.push(StageEstimate { model: model.model().to_owned(), usd, ..stage });
    }
    if let Some(stage) = embedded(base, history, (texts, characters)) {
        estimate.seconds = estimate.seconds.max(stage.seconds);
        estimate.stages.push(stage);
    }
    estimate
}

/// What it takes to embed so many texts of so many characters.
fn embedded(
    base: &Base,
    history: &History,
    (texts, characters): (u64, u64),
) -> Option<StageEstimate> {
    let embedder = base.embedder.as_ref().filter(|_| texts > 0)?;
    let past = history.embedding(embedder.model()).filter(|past| past.seconds > 0.0);
    let speed = past.map_or(CHARACTERS_A_SECOND, |past| float(past.estimated) / past.seconds);
    Some(StageEstimate {
        task: "embed".into(),
        model: embedder.model().to_owned(),
        units: texts,
        calls: texts.div_ceil(embed::BATCH as u64),
        prompt_tokens: 0,
        completion_tokens: 0,
        usd: 0.0,
        seconds: float(characters) / speed.max(1.0),
        measured: past.is_some(),
    })
}

/// A forecast as the past corrects it.
fn asked(forecast: &Forecast, past: Option<&Past>, concurrency: usize) -> StageEstimate {
    let again = past.map_or(1.0, |past| share(past.calls, past.units));
    let counted = past.map_or(1.0, |past| share(past.counted, past.estimated));
    let completed = past.map_or(1.0, |past| share(past.completed, past.expected));
    let calls = scaled(forecast.calls, again);
    let completion_tokens = scaled(forecast.completion_tokens, completed * again);
    let each = match past {
        Some(past) => past.seconds / float(past.calls).max(1.0),
        None => SECONDS_A_CALL + SECONDS_A_TOKEN * share(completion_tokens, calls),
    };
    StageEstimate {
        task: forecast.task.to_owned(),
        model: String::new(),
        units: forecast.units,
        calls,
        prompt_tokens: scaled(forecast.prompt_tokens, counted * again),
        completion_tokens,
        usd: 0.0,
        seconds: each * float(calls) / float((concurrency as u64).clamp(1, calls.max(1))),
        measured: past.is_some(),
    }
}

/// 1 where there is nothing to divide by.
fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 1.0 } else { float(part) / float(whole) }
}

#[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^52")]
fn float(count: u64) -> f64 {
    count as f64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a count times a small positive ratio"
)]
fn scaled(count: u64, by: f64) -> u64 {
    (float(count) * by).round() as u64
}
