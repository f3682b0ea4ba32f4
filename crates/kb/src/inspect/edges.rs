//! A node's edges, those that are stored and those that its record says.
use halma_core::{Edge, Hit, NodeId};

use super::Inspector;
use crate::KbError;
use crate::store::parse_id;

/// An edge as seen from one of its ends.
#[derive(Debug, Clone, serde::Serialize)]
pub struct EdgeEnd {
    pub edge: Edge,
    /// Whether it begins at the node that was asked for.
    pub outgoing: bool,
    pub weight: f32,
    /// The other end.
    pub node: Hit,
}

impl Inspector<'_> {
    /// The edges of a node, outgoing first.
    pub fn edges_of(&self, id: &NodeId, edge: Option<Edge>) -> Result<Vec<EdgeEnd>, KbError> {
        let missing = || KbError::NoNode { id: id.0.clone() };
        let (layer, key) = parse_id(id).ok_or_else(missing)?;
        self.base
            .store
            .read(|reader| {
                let Some(row) = reader.find(layer, key)? else { return Ok(None) };
                let mut links = reader.implied_edges((layer, row))?;
                links.extend(reader.edges_from((layer, row), None)?);
                links.extend(reader.edges_to((layer, row), None)?);
                links.retain(|link| edge.is_none_or(|edge| link.edge == edge));
                links.sort_by_key(|link| link.from != (layer, row));
                let mut ends = vec![];
                for link in links {
                    let outgoing = link.from == (layer, row);
                    let (layer, row) = if outgoing { link.to } else { link.from };
                    if let Some(node) = reader.hit((layer, row))? {
                        ends.push(EdgeEnd { edge: link.edge, outgoing, weight: link.weight, node });
                    }
                }
                Ok(Some(ends))
            })?
            .ok_or_else(missing)
    }
}
