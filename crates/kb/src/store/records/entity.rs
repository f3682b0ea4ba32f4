//! Something with a name.
use halma_core::{Edge, Hit, Layer};

use super::details::Details;
use super::hit::{self, joined};
use super::types::EntityRecord;
use super::{LayerRecord, NodeRecord, Owner};
use crate::store::{At, Id, Row, StoreReader};

impl LayerRecord for EntityRecord {
    const LAYER: Layer = Layer::Entity;
}

impl NodeRecord for EntityRecord {
    fn id(&self) -> Id {
        self.id
    }

    fn owner(&self) -> Owner {
        Owner::Itself
    }

    fn hit(&self, _: &StoreReader<'_>, _: Row) -> heed::Result<Hit> {
        Ok(hit::shared(Self::LAYER, self.id, &self.name, self.description.clone()))
    }

    fn searched_text(&self, _: &StoreReader<'_>, _: Row) -> heed::Result<String> {
        let (name, kind, description) = (&self.name, &self.kind, &self.description);
        Ok(joined([name.clone(), self.aliases.join("; "), kind.clone(), description.clone()]))
    }

    /// A bare name is found by its spelling, which says as much as a vector of it.
    fn has_vector(&self) -> bool {
        !self.description.is_empty()
    }

    fn details(&self, reader: &StoreReader<'_>, row: Row) -> heed::Result<Details> {
        Ok(Details::Entity {
            of_kind: self.kind.clone(),
            key: self.key.clone(),
            aliases: self.aliases.clone(),
            mentions: reader.edges_to((Self::LAYER, row), Some(Edge::Mentions))?.len() as u64,
        })
    }

    fn sources(&self, reader: &StoreReader<'_>, row: Row) -> heed::Result<Vec<At>> {
        let links = reader.edges_to((Self::LAYER, row), Some(Edge::Mentions))?;
        Ok(links.into_iter().map(|link| link.from).collect())
    }
}
