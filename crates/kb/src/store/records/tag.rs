//! A tag of chunks.
use halma_core::{Edge, Hit, Layer};

use super::details::Details;
use super::hit::{self, joined};
use super::types::TagRecord;
use super::{LayerRecord, NodeRecord, Owner};
use crate::store::{At, Id, Row, StoreReader};

impl LayerRecord for TagRecord {
    const LAYER: Layer = Layer::Tag;
}

impl NodeRecord for TagRecord {
    fn id(&self) -> Id {
        self.id
    }

    fn owner(&self) -> Owner {
        Owner::Itself
    }

    fn hit(&self, _: &StoreReader<'_>, _: Row) -> heed::Result<Hit> {
        Ok(hit::shared(Self::LAYER, self.id, &self.class, self.name.clone()))
    }

    fn searched_text(&self, _: &StoreReader<'_>, _: Row) -> heed::Result<String> {
        let names = [self.class.clone(), self.name.clone()];
        Ok(joined(names.into_iter().chain(self.also.iter().cloned())))
    }

    fn details(&self, _: &StoreReader<'_>, _: Row) -> heed::Result<Details> {
        Ok(Details::Tag { class: self.class.clone(), also: self.also.clone() })
    }

    fn sources(&self, reader: &StoreReader<'_>, row: Row) -> heed::Result<Vec<At>> {
        let links = reader.edges_to((Self::LAYER, row), Some(Edge::Tagged))?;
        Ok(links.into_iter().map(|link| link.from).collect())
    }
}
