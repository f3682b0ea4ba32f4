//! Entity – relation – entity, stated by one chunk.
use halma_core::{Edge, Hit, Layer, NodeId};

use super::details::Details;
use super::types::FactRecord;
use super::{LayerRecord, NodeRecord, Owner, hit};
use crate::store::{At, Id, Link, Row, StoreReader, node_id};

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
