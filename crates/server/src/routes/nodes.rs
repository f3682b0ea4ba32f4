//! Nodes of the base, and what is around one.
use axum::Json;
use halma_core::{Edge, Hit, NodeId};
use halma_engine::EdgeEnd;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::access::MayAsk;
use crate::beside::beside;
use crate::json::{Params, Part};
use crate::listing::limit;
use crate::problem::Problem;
use crate::schema;

/// One node.
#[utoipa::path(get, path = "/api/v1/nodes/{id}", tag = "knowledge", params(("id" = String, Path)),
    responses((status = 200, body = schema::Hit), (status = 404, body = Problem)))]
pub(crate) async fn get(
    MayAsk(caller): MayAsk,
    Part(id): Part<String>,
) -> Result<Json<Hit>, Problem> {
    beside(move || {
        let engine = caller.workspace.engine();
        Ok(Json(engine.base().inspector().show(&NodeId(id))?.node))
    })
    .await
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Around {
    /// Only edges of one kind: `contains`, `next`, `refers_to`, `links_to`, `derived_from`,
    /// `mentions`, `relates`, `tagged`, `member_of` or `maps_to`.
    #[param(value_type = Option<String>)]
    edge: Option<Edge>,
    /// At most so many nodes; 50 by default, 500 at most.
    limit: Option<usize>,
}

/// A node with those that edges lead to.
#[derive(Serialize, ToSchema)]
pub(crate) struct Neighbourhood {
    #[schema(value_type = schema::Hit)]
    center: Hit,
    #[schema(value_type = Vec<schema::Hit>)]
    nodes: Vec<Hit>,
    edges: Vec<EdgeLine>,
    /// Whether there are more.
    cut: bool,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct EdgeLine {
    from: String,
    to: String,
    edge: &'static str,
    weight: f32,
}

/// Characters of a neighbour's text at most: a graph shows no more of it.
const LONGEST: usize = 600;

/// A node's neighbourhood.
#[utoipa::path(get, path = "/api/v1/nodes/{id}/neighbours", tag = "knowledge",
    params(("id" = String, Path), Around),
    responses((status = 200, body = Neighbourhood), (status = 404, body = Problem)))]
pub(crate) async fn neighbours(
    MayAsk(caller): MayAsk,
    Part(id): Part<String>,
    Params(around): Params<Around>,
) -> Result<Json<Neighbourhood>, Problem> {
    beside(move || {
        let engine = caller.workspace.engine();
        let center = engine.base().inspector().show(&NodeId(id))?.node;
        let mut seen = engine.base().inspector().edges_of(&center.id, around.edge)?;
        let limit = limit(around.limit);
        let cut = seen.len() > limit;
        seen.truncate(limit);
        let edges = seen.iter().map(|seen| line(&center.id, seen)).collect();
        let mut nodes: Vec<Hit> = seen.into_iter().map(|seen| shortened(seen.node)).collect();
        nodes.sort_by(|a, b| a.id.cmp(&b.id));
        nodes.dedup_by(|a, b| a.id == b.id);
        nodes.retain(|node| node.id != center.id);
        Ok(Json(Neighbourhood { center, nodes, edges, cut }))
    })
    .await
}

fn line(center: &NodeId, end: &EdgeEnd) -> EdgeLine {
    let (from, to) = if end.outgoing { (center, &end.node.id) } else { (&end.node.id, center) };
    let (from, to) = (from.0.clone(), to.0.clone());
    EdgeLine { from, to, edge: end.edge.name(), weight: end.weight }
}

fn shortened(mut node: Hit) -> Hit {
    node.text.truncate(node.text.floor_char_boundary(LONGEST));
    node
}
