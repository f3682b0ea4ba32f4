//! Entities by how often documents name them.
use halma_core::text::normalise_name;
use halma_core::{Edge, Layer, NodeId};
use serde::Serialize;

use super::Inspector;
use crate::KbError;
use crate::store::{EntityRecord, node_id};

/// Which entities to list.
#[derive(Debug, Clone, Default)]
pub struct EntityQuery {
    /// Only those of this kind, such as `person`.
    pub kind: Option<String>,
    /// Only those with this text in a name; case and punctuation are ignored.
    pub name: Option<String>,
}

/// An entity in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ListedEntity {
    pub id: NodeId,
    pub name: String,
    /// `person`, `place` …; empty where it is not known.
    pub kind: String,
    /// How many chunks and documents name it.
    pub mentions: usize,
}

impl Inspector<'_> {
    /// The entities by mentions, the most frequent first, then by name.
    pub fn entities(&self, query: &EntityQuery) -> Result<Vec<ListedEntity>, KbError> {
        let part = query.name.as_deref().map(normalise_name);
        let mut entities = self.base.store.read(|reader| {
            let mut entities = vec![];
            for node in reader.nodes::<EntityRecord>()? {
                let (row, entity) = node?;
                let is_of_kind = query.kind.as_ref().is_none_or(|kind| *kind == entity.kind);
                let is_named = |part: &String| {
                    normalise_name(&entity.name).contains(part)
                        || entity.aliases.iter().any(|name| name.contains(part))
                };
                if !is_of_kind || !part.as_ref().is_none_or(is_named) {
                    continue;
                }
                let at = (Layer::Entity, row);
                let mentions = reader.first_edges_to(at, Edge::Mentions, usize::MAX)?.len();
                let (id, name) = (node_id(Layer::Entity, entity.id), entity.name);
                entities.push(ListedEntity { id, name, kind: entity.kind, mentions });
            }
            Ok(entities)
        })?;
        entities
            .sort_by(|a, b| (b.mentions, &a.name, &a.id.0).cmp(&(a.mentions, &b.name, &b.id.0)));
        Ok(entities)
    }
}
