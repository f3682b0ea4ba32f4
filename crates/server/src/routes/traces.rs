//! Traces: what happened while earlier questions were answered.
use axum::Json;
use axum::http::StatusCode;
use halma_core::{Answer, Trace, UsageTotal};
use halma_engine::{StoredTrace, TraceBody, TraceHead};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::access::{MayAskDocuments, MayWriteDocuments, run_queued};
use crate::json::{Params, Part};
use crate::limits::bounds;
use crate::pagination::{Items, limit};
use crate::problem::Problem;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct TraceQuery {
    /// Only questions answered by this strategy.
    strategy: Option<String>,
    /// Only questions that contain this text; case is ignored.
    query: Option<String>,
    /// Maximum number of items: 50 by default, at most 500.
    limit: Option<usize>,
    /// `next` of the previous page.
    after: Option<String>,
}

/// List earlier questions, newest first.
#[utoipa::path(get, path = "/api/v1/traces", tag = "traces", params(TraceQuery),
    responses((status = 200, body = Items<TraceHead>), (status = 401, body = Problem)))]
pub(crate) async fn list(
    MayAskDocuments(caller): MayAskDocuments,
    Params(query): Params<TraceQuery>,
) -> Result<Json<Items<TraceHead>>, Problem> {
    let limit = limit(query.limit)?;
    bounds::name("query", query.query.as_deref())?;
    bounds::name("after", query.after.as_deref())?;
    let text = query.query.map(|text| text.to_lowercase());
    run_queued(caller, move |caller| {
        let matches = |head: &TraceHead| {
            caller.sees_trace(head)
                && query.strategy.as_ref().is_none_or(|name| *name == head.strategy)
                && text.as_ref().is_none_or(|text| head.question.to_lowercase().contains(text))
        };
        let engine = caller.workspace.engine();
        let heads = engine.traces().list(query.after.as_deref(), limit + 1, matches);
        let heads = heads.into_iter().map(|head| caller.head(head)).collect();
        Ok(Json(Items::cut(heads, limit, |head| head.id.clone())))
    })
    .await
}

/// A question with everything that happened while it was answered.
#[derive(Serialize, ToSchema)]
pub(crate) struct TraceDetail {
    id: String,
    question: String,
    strategy: String,
    #[schema(value_type = String, format = DateTime)]
    at: chrono::DateTime<chrono::Utc>,
    /// `null` where the run failed; see `error`.
    answer: Option<Answer>,
    abstained: bool,
    error: Option<String>,
    usage: UsageTotal,
    hops: usize,
    elapsed_ms: f64,
    /// The id of the key that asked.
    key: Option<String>,
    trace: Trace,
}

impl From<StoredTrace> for TraceDetail {
    fn from(stored: StoredTrace) -> Self {
        let StoredTrace { head, body: TraceBody { answer, trace } } = stored;
        Self {
            id: head.id,
            question: head.question,
            strategy: head.strategy,
            at: head.at,
            answer,
            abstained: head.abstained,
            error: head.error,
            usage: head.usage,
            hops: head.hops,
            elapsed_ms: head.elapsed_ms,
            key: head.key,
            trace,
        }
    }
}

/// Read a question with everything that happened.
#[utoipa::path(get, path = "/api/v1/traces/{id}", tag = "traces", params(("id" = String, Path)),
    responses((status = 200, body = TraceDetail), (status = 404, body = Problem)))]
pub(crate) async fn get(
    MayAskDocuments(caller): MayAskDocuments,
    Part(id): Part<String>,
) -> Result<Json<TraceDetail>, Problem> {
    run_queued(caller, move |caller| {
        caller
            .trace(&id)
            .map(|trace| Json(trace.into()))
            .ok_or_else(|| Problem::not_found("such trace"))
    })
    .await
}

/// Delete a trace.
#[utoipa::path(delete, path = "/api/v1/traces/{id}", tag = "traces", params(("id" = String, Path)),
    responses((status = 204), (status = 404, body = Problem)))]
pub(crate) async fn delete(
    MayWriteDocuments(caller): MayWriteDocuments,
    Part(id): Part<String>,
) -> Result<StatusCode, Problem> {
    run_queued(caller, move |caller| {
        let engine = caller.workspace.engine();
        let seen = engine.traces().get(&id).is_none_or(|trace| caller.sees_trace(&trace.head));
        if !seen {
            return Err(Problem::not_found("such trace"));
        }
        let removed = engine.traces().remove(&id);
        if removed.map_err(|e| Problem::internal(&e))? {
            Ok(StatusCode::NO_CONTENT)
        } else {
            Err(Problem::not_found("such trace"))
        }
    })
    .await
}
