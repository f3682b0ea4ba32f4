//! Search over one layer.
use axum::response::Response;
use halma_core::{Filter, Hit, Layer, Mode};
use halma_engine::SearchQuery;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::access::MayAskDocuments;
use crate::json::{JsonBody, answer};
use crate::limits::bounds;
use crate::pagination;
use crate::problem::Problem;

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SearchRequest {
    text: String,
    /// `chunk` by default.
    #[serde(default)]
    layer: Option<Layer>,
    /// The default is `graph`.
    #[serde(default)]
    mode: Option<Mode>,
    /// Maximum number of hits: 50 by default, at most 500.
    #[serde(default)]
    limit: Option<usize>,
    #[serde(default)]
    filter: Option<Filter>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct SearchResponse {
    hits: Vec<Hit>,
}

/// Search one layer.
#[utoipa::path(post, path = "/api/v1/search", tag = "ask", request_body = SearchRequest,
    responses((status = 200, body = SearchResponse), (status = 422, body = Problem)))]
pub(crate) async fn search(
    MayAskDocuments(caller): MayAskDocuments,
    JsonBody(request): JsonBody<SearchRequest>,
) -> Result<Response, Problem> {
    let engine = caller.workspace.engine();
    engine.check_text("text", &request.text)?;
    let mode = request.mode.unwrap_or_default();
    let limit = pagination::limit(request.limit)?;
    if let Some(filter) = &request.filter {
        bounds::check_filter(filter)?;
    }
    let query = SearchQuery {
        text: request.text,
        layer: request.layer.unwrap_or(Layer::Chunk),
        mode,
        limit,
        filter: request.filter.unwrap_or_default(),
    };
    let respond = async {
        let hits = engine.search(query).await?;
        let items = hits.len();
        answer(SearchResponse { hits }, items).await
    };
    caller.workspace.searches.pass(respond).await?
}
