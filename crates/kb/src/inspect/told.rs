//! What a base has been told: its facts with the entities between which they hold, to be asked as
//! a graph.
use std::collections::BTreeSet;

use halma_core::{Layer, NodeId};
use serde::Serialize;

use crate::store::{EntityRecord, FactRecord, Row, node_id};
use crate::{Base, KbError};

/// An entity of which some fact is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EntityLine {
    pub id: NodeId,
    pub name: String,
    /// Other names, normalised.
    pub aliases: Vec<String>,
    /// `person`, `place` …; empty where nobody said.
    pub kind: String,
    pub description: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FactLine {
    pub id: NodeId,
    pub head: NodeId,
    pub relation: String,
    pub tail: NodeId,
}

/// All facts of a base.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToldFacts {
    /// Changes whenever the base does.
    pub generation: u64,
    pub entities: Vec<EntityLine>,
    pub facts: Vec<FactLine>,
}

impl Base {
    /// How many facts were read out of the documents.
    pub fn count_facts(&self) -> Result<u64, KbError> {
        self.store.read(|txn| self.store.count(txn, Layer::Fact))
    }

    /// All facts and their entities, each by id; `None` when the base still is what it was at the
    /// generation `known`.
    pub fn told(&self, known: Option<u64>) -> Result<Option<ToldFacts>, KbError> {
        let store = &self.store;
        store.read(|txn| {
            let generation = store.generation(txn)?;
            if known == Some(generation) {
                return Ok(None);
            }
            let records = crate::extract::all_facts(store, txn)?;
            let rows: BTreeSet<Row> =
                records.iter().flat_map(|(_, fact)| [fact.head, fact.tail]).collect();
            let mut entities = vec![];
            for row in rows {
                let record: EntityRecord = store.linked(txn, row)?;
                let EntityRecord { id, name, aliases, kind, description, .. } = record;
                let id = node_id(Layer::Entity, id);
                entities.push((row, EntityLine { id, name, aliases, kind, description }));
            }
            let named = |row: Row| {
                let at = entities.binary_search_by_key(&row, |(row, _)| *row);
                at.map(|at| entities[at].1.id.clone()).expect("its row was read above")
            };
            let line = |(_, fact): (Row, FactRecord)| {
                let (head, tail) = (named(fact.head), named(fact.tail));
                FactLine { id: node_id(Layer::Fact, fact.id), head, relation: fact.relation, tail }
            };
            let facts = records.into_iter().map(line).collect();
            let entities = entities.into_iter().map(|(_, line)| line).collect();
            Ok(Some(ToldFacts { generation, entities, facts }))
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::sample;

    #[test]
    fn facts_are_told_with_their_ends_until_nothing_has_changed() {
        let dir = tempfile::tempdir().unwrap();
        let base = sample::base(dir.path(), "mark");
        let told = base.told(None).unwrap().unwrap();
        assert_eq!((told.facts.len(), told.entities.len()), (3, 3));
        let known = |id| told.entities.iter().any(|entity| entity.id == id);
        assert!(told.facts.iter().all(|fact| known(fact.head.clone()) && known(fact.tail.clone())));
        assert!(told.facts.windows(2).all(|pair| pair[0].id < pair[1].id));
        assert_eq!(base.told(Some(told.generation)).unwrap(), None);
        base.delete(&["one*".to_owned()]).unwrap();
        let left = base.told(Some(told.generation)).unwrap().unwrap();
        assert_eq!(left.facts.len(), 1);
    }
}
