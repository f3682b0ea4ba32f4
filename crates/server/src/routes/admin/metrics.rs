//! Metrics for Prometheus, and usage statistics of questions and builds.
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::access::{MayAskDocuments, MayReadMetrics};
use crate::app::Shared;
use crate::json::Params;
use crate::limits::blocking::run_blocking;
use crate::metrics::Snapshot;
use crate::problem::Problem;
use crate::usage::{GroupBy, UsageLine};

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Read the metrics of the server that answers, of which a base in a database may have several, in the format of Prometheus: requests, questions, model calls,
/// tokens, costs, latencies, queues, sizes of bases.
#[utoipa::path(get, path = "/metrics", tag = "server",
    responses(
        (status = 200, description = "Metrics as OpenMetrics text", body = String,
            content_type = "application/openmetrics-text"),
        (status = 401, body = Problem), (status = 403, body = Problem),
    ))]
pub(crate) async fn metrics(
    State(app): State<Shared>,
    MayReadMetrics(_caller): MayReadMetrics,
) -> Result<Response, Problem> {
    let state = Arc::clone(&app);
    // Short, and must not wait for others: an overload is what metrics are for.
    let snapshot = run_blocking(move || Ok(Snapshot::read(&state))).await?;
    let text = app.metrics.render(&snapshot).map_err(|e| Problem::internal(&e))?;
    Ok(([(CONTENT_TYPE, OPEN_METRICS)], text).into_response())
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct UsageQuery {
    /// `day` (default), `key` or `strategy`.
    #[serde(default)]
    #[param(inline)]
    by: GroupBy,
}

/// Read the usage statistics of this workspace; a key without the scope `admin` reads its own.
#[utoipa::path(get, path = "/api/v1/usage", tag = "server", params(UsageQuery),
    responses((status = 200, body = Vec<UsageLine>), (status = 401, body = Problem)))]
pub(crate) async fn usage(
    MayAskDocuments(caller): MayAskDocuments,
    Params(query): Params<UsageQuery>,
) -> Result<Json<Vec<UsageLine>>, Problem> {
    run_blocking(move || {
        let key = caller.key_id().filter(|_| !caller.is_admin());
        Ok(Json(caller.workspace.usage.grouped(query.by, key)?))
    })
    .await
}
