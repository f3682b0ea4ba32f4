//! Nodes of the base and their neighbours.
use axum::Json;
use halma_core::{Edge, Hit, NodeId};
use halma_engine::EdgeEnd;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::access::{MayAskDocuments, run_queued};
use crate::json::{Params, Part};
use crate::pagination::limit;
use crate::problem::Problem;

/// Read one node.
#[utoipa::path(get, path = "/api/v1/nodes/{id}", tag = "knowledge", params(("id" = String, Path)),
    responses((status = 200, body = Hit), (status = 404, body = Problem)))]
pub(crate) async fn get(
    MayAskDocuments(caller): MayAskDocuments,
    Part(id): Part<String>,
) -> Result<Json<Hit>, Problem> {
    run_queued(caller, move |caller| {
        let engine = caller.workspace.engine();
        Ok(Json(engine.base().inspector().show(&NodeId(id))?.node))
    })
    .await
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct NeighbourFilter {
    /// Only edges of this kind.
    edge: Option<Edge>,
    /// Maximum number of edges: 50 by default, at most 500.
    limit: Option<usize>,
}

/// A node and the nodes that share an edge with it.
#[derive(Serialize, ToSchema)]
pub(crate) struct Neighbourhood {
    center: Hit,
    nodes: Vec<Hit>,
    edges: Vec<EdgeLine>,
    /// Whether there are more.
    cut: bool,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct EdgeLine {
    from: NodeId,
    to: NodeId,
    edge: Edge,
    weight: f32,
}

/// Bytes of a neighbour's text at most: a graph shows no more of it.
const MAX_TEXT: usize = 600;

/// Read the neighbourhood of a node.
#[utoipa::path(get, path = "/api/v1/nodes/{id}/neighbours", tag = "knowledge",
    params(("id" = String, Path), NeighbourFilter),
    responses((status = 200, body = Neighbourhood), (status = 404, body = Problem)))]
pub(crate) async fn neighbours(
    MayAskDocuments(caller): MayAskDocuments,
    Part(id): Part<String>,
    Params(filter): Params<NeighbourFilter>,
) -> Result<Json<Neighbourhood>, Problem> {
    run_queued(caller, move |caller| {
        let engine = caller.workspace.engine();
        let center = engine.base().inspector().show(&NodeId(id))?.node;
        let mut links = engine.base().inspector().edges_of(&center.id, filter.edge)?;
        let limit = limit(filter.limit)?;
        let cut = links.len() > limit;
        links.truncate(limit);
        let edges = links.iter().map(|link| edge_line(&center.id, link)).collect();
        let mut nodes: Vec<Hit> = links.into_iter().map(|link| shorten(link.node)).collect();
        nodes.sort_by(|a, b| a.id.cmp(&b.id));
        nodes.dedup_by(|a, b| a.id == b.id);
        nodes.retain(|node| node.id != center.id);
        Ok(Json(Neighbourhood { center, nodes, edges, cut }))
    })
    .await
}

fn edge_line(center: &NodeId, link: &EdgeEnd) -> EdgeLine {
    let (center, other) = (center.clone(), link.node.id.clone());
    let (from, to) = if link.outgoing { (center, other) } else { (other, center) };
    EdgeLine { from, to, edge: link.edge, weight: link.weight }
}

fn shorten(mut node: Hit) -> Hit {
    node.text.truncate(node.text.floor_char_boundary(MAX_TEXT));
    node
}
