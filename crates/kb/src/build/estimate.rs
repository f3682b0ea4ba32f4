//! What a run of `index` would cost, before anything is spent or written: the sum of the stages'
//! forecasts over the units that the run would do.
use std::path::PathBuf;
use std::sync::Arc;

use halma_core::{Llm, Usage};
use serde::Serialize;

use super::preview::{Preview, Previewer};
use super::profile::RunPlan;
use super::rebuild::{RebuildCost, rebuild_cost};
use crate::error::run_blocking;
use crate::stages::{BuildContext, StageForecast};
use crate::store::{History, Past};
use crate::vectors::BATCH;
use crate::{IndexOptions, KbError, KeptPart, Refused};

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
    /// Sums over the stages; calls are those of language models. Texts are embedded while models are
    /// asked, so the time is the longer of the two.
    pub calls: u64,
    pub prompt_tokens: u64,
    pub completion_tokens: u64,
    /// US dollars, by the prices in the configuration.
    pub usd: f64,
    pub seconds: f64,
    /// Parts that would stay as they were made although the configuration says otherwise, and what
    /// rebuilding each would cost.
    pub kept: Vec<(KeptPart, Option<RebuildCost>)>,
    /// Files and lines that would not be indexed.
    pub refused: Vec<Refused>,
}

/// What one stage would cost.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct StageEstimate {
    /// What is asked for, as in the prompt's file; `embed` for vectors.
    pub task: String,
    pub model: String,
    /// Figures, documents, chunks, pairs of entities, windows of text, communities, or texts to
    /// embed.
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
    context: BuildContext,
    inputs: &[PathBuf],
    options: &IndexOptions,
) -> Result<Estimate, KbError> {
    let (inputs, options) = (inputs.to_owned(), options.clone());
    run_blocking("estimating", move || {
        let plan = RunPlan::new(&context, &options.rebuild)?;
        plan.check()?;
        let cost = |part: &KeptPart| Ok((part.clone(), rebuild_cost(&context, part)?));
        let kept = plan.kept.iter().map(cost).collect::<Result<_, KbError>>()?;
        let mut run_context = context.clone();
        plan.apply_to(&mut run_context);
        run_context.rebuild.clone_from(&options.rebuild);
        let context = Arc::new(run_context);
        let preview = Previewer::new(&context)?.run(&inputs, &options)?;
        let history = context.store().history()?;
        Ok(Estimate { kept, ..price(preview, &history, &context) })
    })
    .await
}

/// The price of forecasts of stages that ask models, outside of a build.
pub(crate) fn price_forecasts(
    forecasts: &[StageForecast],
    context: &BuildContext,
) -> Result<Estimate, KbError> {
    let history = context.store().history()?;
    let preview = Preview { forecasts: forecasts.to_vec(), ..Preview::default() };
    Ok(price(preview, &history, context))
}

/// The forecasts as the past corrects them, with their prices.
fn price(preview: Preview, history: &History, context: &BuildContext) -> Estimate {
    let mut estimate = preview.estimate;
    let (mut texts, mut characters) = (preview.texts, preview.characters);
    for forecast in &preview.forecasts {
        let Some(prompt) = forecast.prompt else {
            texts += forecast.cost.texts;
            characters += forecast.cost.characters;
            estimate.stages.extend(chunked(forecast, context));
            continue;
        };
        let model = context.model_of(prompt);
        let past = history.of_prompt(prompt, model.model());
        let by = past.map_or(1.0, |past| past.units.ratio() * past.texts.ratio());
        texts += scaled(forecast.cost.texts, by);
        characters += scaled(forecast.cost.characters, by);
        let stage = price_stage(forecast, model.as_ref(), past, context.settings.concurrency);
        estimate.calls += stage.calls;
        estimate.prompt_tokens += stage.prompt_tokens;
        estimate.completion_tokens += stage.completion_tokens;
        estimate.usd += stage.usd;
        estimate.seconds += stage.seconds;
        estimate.stages.push(stage);
    }
    if let Some(stage) = embedded(context, history, texts, characters) {
        estimate.seconds = estimate.seconds.max(stage.seconds);
        estimate.stages.push(stage);
    }
    estimate
}

/// A stage that asks a model.
fn price_stage(
    forecast: &StageForecast,
    model: &dyn Llm,
    past: Option<&Past>,
    concurrency: usize,
) -> StageEstimate {
    let StageForecast { stage, cost, .. } = forecast;
    let share = past.map_or(1.0, |past| past.units.ratio());
    let by = |ratio: fn(&Past) -> f64| share * past.map_or(1.0, ratio);
    let calls = scaled(cost.calls, by(|past| past.calls.ratio()));
    let prompt_tokens = scaled(cost.prompt_tokens, by(|past| past.prompt_tokens.ratio()));
    let completion_tokens =
        scaled(cost.completion_tokens, by(|past| past.completion_tokens.ratio()));
    let measured = past.and_then(Past::seconds_a_call);
    let each = measured.unwrap_or_else(|| {
        SECONDS_A_CALL + SECONDS_A_TOKEN * float(completion_tokens) / float(calls.max(1))
    });
    StageEstimate {
        task: (*stage).to_owned(),
        model: model.model().to_owned(),
        units: scaled(forecast.units, share),
        calls,
        prompt_tokens,
        completion_tokens,
        usd: model.price().cost(Usage { prompt_tokens, completion_tokens, ..Usage::default() }),
        seconds: each * float(calls) / float((concurrency as u64).clamp(1, calls.max(1))),
        measured: measured.is_some(),
    }
}

/// Chunking by the embedder. Other stages without a model cost nothing.
fn chunked(forecast: &StageForecast, context: &BuildContext) -> Option<StageEstimate> {
    let embedder = context.embedder.as_ref().filter(|_| forecast.cost.calls > 0)?;
    Some(StageEstimate {
        task: forecast.stage.to_owned(),
        model: embedder.model().to_owned(),
        units: forecast.units,
        calls: forecast.cost.calls,
        ..StageEstimate::default()
    })
}

/// What it takes to embed this many texts of this many characters.
fn embedded(
    context: &BuildContext,
    history: &History,
    texts: u64,
    characters: u64,
) -> Option<StageEstimate> {
    let embedder = context.embedder.as_ref().filter(|_| texts > 0)?;
    let past = history.of_embedder(embedder.model());
    let measured = past.and_then(Past::characters_a_second);
    Some(StageEstimate {
        task: "embed".into(),
        model: embedder.model().to_owned(),
        units: texts,
        calls: texts.div_ceil(BATCH as u64),
        seconds: float(characters) / measured.unwrap_or(CHARACTERS_A_SECOND).max(1.0),
        measured: measured.is_some(),
        ..StageEstimate::default()
    })
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
