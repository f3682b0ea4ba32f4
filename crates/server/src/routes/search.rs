//! Searching one layer.
use axum::Json;
use halma_core::{Filter, Hit, Layer, Mode};
use halma_engine::SearchQuery;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::access::MayAsk;
use crate::json::Body;
use crate::listing;
use crate::problem::Problem;
use crate::schema;

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Search {
    text: String,
    /// `chunk` where none is named.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    layer: Option<Layer>,
    /// `bm25`, `dense`, `hybrid` or `graph` (default).
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    mode: Option<Mode>,
    /// At most so many hits; 50 by default, 500 at most.
    #[serde(default)]
    limit: Option<usize>,
    /// What a hit must belong to: `documents`, `sections`, `formats`, `tags` (lists, in which `*`
    /// stands for any characters), `since` and `until` (days).
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    filter: Option<Filter>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct Found {
    #[schema(value_type = Vec<schema::Hit>)]
    hits: Vec<Hit>,
}

/// Searches one layer.
#[utoipa::path(post, path = "/api/v1/search", tag = "ask", request_body = Search,
    responses((status = 200, body = Found), (status = 422, body = Problem)))]
pub(crate) async fn search(
    MayAsk(caller): MayAsk,
    Body(search): Body<Search>,
) -> Result<Json<Found>, Problem> {
    let engine = caller.workspace.engine();
    engine.check_question(&search.text)?;
    let query = SearchQuery {
        text: search.text,
        layer: search.layer.unwrap_or(Layer::Chunk),
        mode: search.mode.unwrap_or_default(),
        limit: listing::limit(search.limit),
        filter: search.filter.unwrap_or_default(),
    };
    Ok(Json(Found { hits: engine.search(query).await? }))
}
