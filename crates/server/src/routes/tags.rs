//! Learning from sample questions which everyday words stand for which tags.
use axum::Json;
use axum::http::StatusCode;
use halma_engine::TagSample;
use serde::Deserialize;
use utoipa::ToSchema;

use super::builds::BuildEstimate;
use crate::access::MayWrite;
use crate::builds::BuildStatus;
use crate::json::JsonBody;
use crate::limits::blocking::run_blocking;
use crate::problem::Problem;

/// Samples of one request at most.
const MAX_SAMPLES: usize = 5_000;

/// Questions with what is known of their answers.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LearnRequest {
    /// Each with a `question` and an `answer` (or `answers`), or `documents` that answer it.
    samples: Vec<TagSample>,
    /// Forget what was learned from samples that are not in this request.
    #[serde(default)]
    replace: bool,
}

impl LearnRequest {
    fn checked(self) -> Result<Vec<TagSample>, Problem> {
        if self.samples.is_empty() {
            return Err(Problem::unfit("`samples` is empty").hint("send at least one sample"));
        }
        if self.samples.len() > MAX_SAMPLES {
            let detail = format!("`samples` has more than {MAX_SAMPLES} entries");
            return Err(Problem::unfit(detail).hint("send them in several requests"));
        }
        for (number, sample) in (1..).zip(&self.samples) {
            sample.check().map_err(|reason| {
                Problem::unfit(format!("sample {number}: {reason}"))
                    .hint("a sample has a question and an answer, or documents that answer it")
            })?;
        }
        Ok(self.samples)
    }
}

/// Estimate the cost of learning from samples. No model is called.
#[utoipa::path(post, path = "/api/v1/tags/learn/estimate", tag = "builds",
    request_body = LearnRequest,
    responses((status = 200, body = BuildEstimate), (status = 422, body = Problem)))]
pub(crate) async fn estimate(
    MayWrite(caller): MayWrite,
    JsonBody(request): JsonBody<LearnRequest>,
) -> Result<Json<BuildEstimate>, Problem> {
    let samples = request.checked()?;
    let engine = caller.workspace.engine();
    let estimate =
        caller.workspace.estimates.run_async(engine.estimate_learning(&samples)).await??;
    Ok(Json(estimate.into()))
}

/// Learn from samples which words of questions stand for which tags. It waits for builds that are
/// already queued, and is followed, paused and cancelled as a build.
#[utoipa::path(post, path = "/api/v1/tags/learn", tag = "builds", request_body = LearnRequest,
    responses((status = 202, body = BuildStatus), (status = 422, body = Problem),
        (status = 503, body = Problem)))]
pub(crate) async fn learn(
    MayWrite(caller): MayWrite,
    JsonBody(request): JsonBody<LearnRequest>,
) -> Result<(StatusCode, Json<BuildStatus>), Problem> {
    let replace = request.replace;
    let samples = request.checked()?;
    let key = caller.key_id().map(str::to_owned);
    let build = run_blocking(move || caller.workspace.builds.learn(samples, replace, key)).await?;
    Ok((StatusCode::ACCEPTED, Json(build.status())))
}
