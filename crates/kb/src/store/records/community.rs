//! A group of entities that belong together.
use halma_core::{Edge, Hit, Layer};

use super::details::Details;
use super::hit::{self, joined};
use super::types::CommunityRecord;
use super::{LayerRecord, NodeRecord, Owner};
use crate::store::{At, Id, Row, StoreReader};

impl LayerRecord for CommunityRecord {
    const LAYER: Layer = Layer::Community;
}

impl NodeRecord for CommunityRecord {
    fn id(&self) -> Id {
        self.id
    }

    fn owner(&self) -> Owner {
        Owner::Itself
    }

    fn hit(&self, _: &StoreReader<'_>, _: Row) -> heed::Result<Hit> {
        Ok(hit::shared(Self::LAYER, self.id, &self.title, self.summary.clone()))
    }

    fn searched_text(&self, _: &StoreReader<'_>, _: Row) -> heed::Result<String> {
        Ok(joined([self.title.clone(), self.summary.clone()]))
    }

    fn details(&self, reader: &StoreReader<'_>, row: Row) -> heed::Result<Details> {
        let members = reader.edges_to((Self::LAYER, row), Some(Edge::MemberOf))?.len() as u64;
        Ok(Details::Community { level: self.level, members })
    }

    /// Where its entities are named.
    fn sources(&self, reader: &StoreReader<'_>, row: Row) -> heed::Result<Vec<At>> {
        let mut sources = vec![];
        for member in reader.edges_to((Self::LAYER, row), Some(Edge::MemberOf))? {
            if member.from.0 == Layer::Entity {
                let links = reader.edges_to(member.from, Some(Edge::Mentions))?;
                sources.extend(links.into_iter().map(|link| link.from));
            }
        }
        Ok(sources)
    }
}
