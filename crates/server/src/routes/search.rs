//! Search over one layer.
use axum::response::Response;
use halma_core::Hit;
use halma_engine::SearchRequest;
use serde::Serialize;
use utoipa::ToSchema;

use crate::access::MayAskDocuments;
use crate::json::{JsonBody, answer};
use crate::limits::bounds;
use crate::pagination;
use crate::problem::Problem;

#[derive(Serialize, ToSchema)]
pub(crate) struct SearchResponse {
    hits: Vec<Hit>,
}

/// Search one layer.
#[utoipa::path(post, path = "/api/v1/search", tag = "ask", request_body = SearchRequest,
    responses((status = 200, body = SearchResponse), (status = 422, body = Problem)))]
pub(crate) async fn search(
    MayAskDocuments(caller): MayAskDocuments,
    JsonBody(mut request): JsonBody<SearchRequest>,
) -> Result<Response, Problem> {
    let engine = caller.workspace.engine();
    engine.check_text("text", &request.text)?;
    request.limit = Some(pagination::limit(request.limit)?);
    if let Some(filter) = &request.filter {
        bounds::check_filter(filter)?;
    }
    let respond = async {
        let hits = engine.search(request).await?;
        let items = hits.len();
        answer(SearchResponse { hits }, items).await
    };
    caller.workspace.searches.pass(respond).await?
}
