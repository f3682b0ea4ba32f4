//! The facts of a base with the entities between which they hold, to be queried as a graph.
use std::collections::BTreeSet;

use halma_core::{ExtractedEntity, ExtractedFact, ExtractedGraph, Layer};

use super::Inspector;
use crate::KbError;
use crate::store::{EntityRecord, FactRecord, Row, node_id};

impl Inspector<'_> {
    /// How many facts were extracted from the documents.
    pub fn count_facts(&self) -> Result<u64, KbError> {
        self.base.store.read(|reader| reader.count(Layer::Fact))
    }

    /// All facts and their entities, each by id; `None` when the base still is what it was at the
    /// generation `known`.
    pub fn facts(&self, known: Option<u64>) -> Result<Option<ExtractedGraph>, KbError> {
        self.base.store.read(|reader| {
            let generation = reader.generation()?;
            if known == Some(generation) {
                return Ok(None);
            }
            let records = reader.all_facts()?;
            let rows: BTreeSet<Row> =
                records.iter().flat_map(|(_, fact)| [fact.head, fact.tail]).collect();
            let mut entities = vec![];
            for row in rows {
                let record: EntityRecord = reader.linked(row)?;
                let EntityRecord { id, name, aliases, kind, description, .. } = record;
                let id = node_id(Layer::Entity, id);
                entities.push((row, ExtractedEntity { id, name, aliases, kind, description }));
            }
            let named = |row: Row| {
                let at = entities.binary_search_by_key(&row, |(row, _)| *row);
                at.map(|at| entities[at].1.id.clone()).expect("its row was read above")
            };
            let fact = |(_, fact): (Row, FactRecord)| {
                let (head, tail) = (named(fact.head), named(fact.tail));
                ExtractedFact {
                    id: node_id(Layer::Fact, fact.id),
                    head,
                    relation: fact.relation,
                    tail,
                }
            };
            let facts = records.into_iter().map(fact).collect();
            let entities = entities.into_iter().map(|(_, entity)| entity).collect();
            Ok(Some(ExtractedGraph { generation, entities, facts }))
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::base::sample_base;

    #[test]
    fn facts_come_with_their_ends_unless_nothing_has_changed() {
        let dir = tempfile::tempdir().unwrap();
        let base = sample_base::create(dir.path(), "mark");
        let graph = base.inspector().facts(None).unwrap().unwrap();
        assert_eq!((graph.facts.len(), graph.entities.len()), (3, 3));
        let known = |id| graph.entities.iter().any(|entity| entity.id == id);
        assert!(
            graph.facts.iter().all(|fact| known(fact.head.clone()) && known(fact.tail.clone()))
        );
        assert!(graph.facts.windows(2).all(|pair| pair[0].id < pair[1].id));
        assert_eq!(base.inspector().facts(Some(graph.generation)).unwrap(), None);
        base.delete(&["one*".to_owned()]).unwrap();
        let left = base.inspector().facts(Some(graph.generation)).unwrap().unwrap();
        assert_eq!(left.facts.len(), 1);
    }
}
