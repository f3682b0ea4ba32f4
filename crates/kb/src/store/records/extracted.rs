//! Nodes that models extract: entities, facts, tags and communities.
use halma_core::{Edge, Hit, Layer, NodeId};

use super::details::Details;
use super::hit::{self, joined};
use super::types::{CommunityRecord, EntityRecord, FactRecord, TagRecord};
use super::{LayerRecord, NodeRecord, Owner};
use crate::store::{At, Id, Link, Row, StoreReader, node_id};

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

impl LayerRecord for FactRecord {
    const LAYER: Layer = Layer::Fact;
}

impl NodeRecord for FactRecord {
    fn id(&self) -> Id {
        self.id
    }

    fn owner(&self) -> Owner {
        Owner::Chunk(self.chunk)
    }

    fn depends_on(&self) -> Vec<At> {
        vec![(Layer::Entity, self.head), (Layer::Entity, self.tail)]
    }

    fn hit(&self, reader: &StoreReader<'_>, _: Row) -> heed::Result<Hit> {
        Ok(Hit { text: self.text.clone(), ..hit::in_chunk(self, reader, self.chunk)? })
    }

    fn searched_text(&self, _: &StoreReader<'_>, _: Row) -> heed::Result<String> {
        Ok(self.text.clone())
    }

    fn edges(&self, _: &StoreReader<'_>, row: Row) -> heed::Result<Vec<Link>> {
        let chunk = (Layer::Chunk, self.chunk);
        Ok(vec![Link::new((Self::LAYER, row), Edge::DerivedFrom, chunk)])
    }

    fn details(&self, reader: &StoreReader<'_>, _: Row) -> heed::Result<Details> {
        let entity = |row: Row| -> heed::Result<Option<NodeId>> {
            Ok(reader.id_of((Layer::Entity, row))?.map(|id| node_id(Layer::Entity, id)))
        };
        let (head, tail) = (entity(self.head)?, entity(self.tail)?);
        Ok(Details::Fact { head, relation: self.relation.clone(), tail })
    }
}

impl FactRecord {
    /// The edge between its entities, with what this fact adds to the weight.
    pub(crate) fn relates(&self, weight: f32) -> Link {
        let (from, to) = ((Layer::Entity, self.head), (Layer::Entity, self.tail));
        Link { from, edge: Edge::Relates, to, weight }
    }
}

impl StoreReader<'_> {
    /// All facts with their rows, in the order of their ids.
    pub(crate) fn all_facts(&self) -> heed::Result<Vec<(Row, FactRecord)>> {
        let mut facts: Vec<_> = self.nodes::<FactRecord>()?.collect::<heed::Result<_>>()?;
        facts.sort_by_key(|(_, fact)| fact.id);
        Ok(facts)
    }
}

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
