//! What happened in questions asked before.
use axum::Json;
use axum::http::StatusCode;
use halma_engine::TraceHead;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::access::{MayAsk, MayWrite};
use crate::beside::beside;
use crate::json::{Params, Part};
use crate::listing::{Items, limit};
use crate::problem::Problem;
use crate::schema;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Wanted {
    /// Only those of one strategy.
    strategy: Option<String>,
    /// Only questions that hold these words.
    query: Option<String>,
    /// At most so many; 50 by default, 500 at most.
    limit: Option<usize>,
    /// `next` of the page before.
    after: Option<String>,
}

/// A question in a list.
#[derive(Serialize, ToSchema)]
pub(crate) struct TraceLine {
    id: String,
    question: String,
    strategy: String,
    #[schema(value_type = String, format = DateTime)]
    at: chrono::DateTime<chrono::Utc>,
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<String>,
    abstained: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[schema(value_type = schema::UsageTotal)]
    usage: halma_core::UsageTotal,
    hops: usize,
    elapsed_ms: f64,
    /// The id of the key that asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
}

impl From<TraceHead> for TraceLine {
    fn from(head: TraceHead) -> Self {
        let TraceHead { id, question, strategy, at, answer, abstained, error, .. } = head;
        let TraceHead { usage, hops, elapsed_ms, key, .. } = head;
        Self { id, question, strategy, at, answer, abstained, error, usage, hops, elapsed_ms, key }
    }
}

/// Questions asked before, newest first.
#[utoipa::path(get, path = "/api/v1/traces", tag = "traces", params(Wanted),
    responses((status = 200, body = Items<TraceLine>), (status = 401, body = Problem)))]
pub(crate) async fn list(
    MayAsk(caller): MayAsk,
    Params(wanted): Params<Wanted>,
) -> Result<Json<Items<TraceLine>>, Problem> {
    let limit = limit(wanted.limit);
    let words = wanted.query.map(|query| query.to_lowercase());
    beside(move || {
        let fits = |head: &TraceHead| {
            let asked = || head.question.to_lowercase();
            wanted.strategy.as_ref().is_none_or(|name| *name == head.strategy)
                && words.as_ref().is_none_or(|words| asked().contains(words.as_str()))
        };
        let engine = caller.workspace.engine();
        let heads = engine.traces().list(wanted.after.as_deref(), limit + 1, fits);
        let lines = heads.into_iter().map(TraceLine::from).collect();
        Ok(Json(Items::cut(lines, limit, |line| line.id.clone())))
    })
    .await
}

/// A question with everything that happened.
#[derive(ToSchema)]
#[expect(dead_code, reason = "a description; the object is put together from what is kept")]
pub(crate) struct WholeTrace {
    id: String,
    question: String,
    strategy: String,
    #[schema(format = DateTime)]
    at: String,
    answer: Option<schema::Answer>,
    error: Option<String>,
    usage: schema::UsageTotal,
    hops: usize,
    elapsed_ms: f64,
    trace: Vec<schema::Event>,
}

/// A question with everything that happened.
#[utoipa::path(get, path = "/api/v1/traces/{id}", tag = "traces", params(("id" = String, Path)),
    responses((status = 200, body = WholeTrace), (status = 404, body = Problem)))]
pub(crate) async fn get(
    MayAsk(caller): MayAsk,
    Part(id): Part<String>,
) -> Result<Json<serde_json::Value>, Problem> {
    beside(move || {
        let kept = caller.workspace.engine().traces().get(&id);
        let kept = kept.ok_or_else(|| Problem::not_found("such trace"))?;
        let line = TraceLine::from(kept.head);
        let mut whole = serde_json::to_value(line).map_err(|e| Problem::internal(&e))?;
        // The whole answer, with its citations, in the place of its text.
        whole["answer"] = serde_json::to_value(kept.body.answer).unwrap_or_default();
        whole["trace"] = serde_json::to_value(kept.body.trace).unwrap_or_default();
        Ok(Json(whole))
    })
    .await
}

/// Forgets a question.
#[utoipa::path(delete, path = "/api/v1/traces/{id}", tag = "traces", params(("id" = String, Path)),
    responses((status = 204), (status = 404, body = Problem)))]
pub(crate) async fn delete(
    MayWrite(caller): MayWrite,
    Part(id): Part<String>,
) -> Result<StatusCode, Problem> {
    beside(move || {
        let removed = caller.workspace.engine().traces().remove(&id);
        if removed.map_err(|e| Problem::internal(&e))? {
            Ok(StatusCode::NO_CONTENT)
        } else {
            Err(Problem::not_found("such trace"))
        }
    })
    .await
}
