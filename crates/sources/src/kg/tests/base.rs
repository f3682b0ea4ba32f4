//! The base's own facts.
use std::sync::Arc;

use halma_core::{EntityId, ExtractedEntity, ExtractedFact, ExtractedGraph, Facts, Layer, NodeId};
use halma_testkit::Toy;
use parking_lot::Mutex;

use super::samples::reef;
use crate::kg::combined::Combined;
use crate::kg::sources::{GraphLoader, kb_facts};

fn node(id: &str) -> NodeId {
    NodeId(id.to_owned())
}

fn entity(id: &str, name: &str, kind: &str, description: &str) -> ExtractedEntity {
    let (name, kind, description) = (name.to_owned(), kind.to_owned(), description.to_owned());
    ExtractedEntity { id: node(id), name, aliases: vec![], kind, description }
}

fn fact(id: &str, head: &str, relation: &str, tail: &str) -> ExtractedFact {
    ExtractedFact {
        id: node(id),
        head: node(head),
        relation: relation.to_owned(),
        tail: node(tail),
    }
}

fn graph(generation: u64) -> ExtractedGraph {
    ExtractedGraph {
        generation,
        entities: vec![
            entity("e1", "Far Light", "lighthouse", "tower on a reef"),
            entity("e2", "Anna Roe", "person", ""),
            entity("e3", "Anna Roe", "ship", "barque"),
            entity("e4", "Ben Roe", "person", ""),
        ],
        // The toy base has its chunks and atoms for nodes: an atom stands for the fact here.
        facts: vec![
            fact("reef#1", "e1", "kept by", "e2"),
            fact("reef#1", "e4", "brother of", "e2"),
            fact("reef#1", "e1", "located in", "e4"),
        ],
    }
}

fn base() -> Arc<dyn Facts> {
    let toy = Toy::new(&[("reef", "Reefs", "The Far Light is kept by Anna.", &["Who keeps it?"])]);
    let load: GraphLoader = Arc::new(|generation| Ok((generation != Some(1)).then(|| graph(1))));
    kb_facts(toy, load)
}

#[tokio::test]
async fn what_documents_say_is_asked_as_a_graph_and_cited_by_their_chunks() {
    let base = base();
    let entities = base.find("Anna Roe", Some("person"), 5).await.unwrap();
    assert_eq!((entities[0].id.0.as_str(), entities.len()), ("e2", 2));
    let facts = base.relate(&"e1".into(), "keeper").await.unwrap();
    assert!(facts.is_empty(), "a keeper is not known to be who keeps");
    let facts = base.relate(&"e1".into(), "is kept by").await.unwrap();
    assert_eq!((facts.len(), facts[0].tail.shown()), (1, "Anna Roe".to_owned()));
    assert_eq!(facts[0].evidence.layer, Layer::Chunk);
    assert_eq!(facts[0].evidence.document, "reef.md");
    // A relation that holds both ways is told from the entity that was asked for.
    let facts = base.relate(&"e2".into(), "sibling").await.unwrap();
    assert_eq!((facts[0].head.id.0.as_str(), facts[0].tail.shown()), ("e2", "Ben Roe".to_owned()));
    let kept = base.filter(&["e2".into(), "e3".into()], "is a person").await.unwrap().unwrap();
    assert_eq!((kept.len(), kept[0].head.id.0.as_str()), (1, "e2"));
    assert!(base.filter(&["e2".into()], "is a windmill").await.unwrap().is_none());
}

#[tokio::test]
async fn facts_are_read_again_only_when_it_has_changed() {
    let generation = Arc::new(Mutex::new(1));
    let (now, read) = (Arc::clone(&generation), Arc::new(Mutex::new(0)));
    let counted = Arc::clone(&read);
    let load: GraphLoader = Arc::new(move |version| {
        let now = *now.lock();
        let new = version != Some(now);
        *counted.lock() += usize::from(new);
        Ok(new.then(|| graph(now)))
    });
    let base = kb_facts(Toy::empty(), load);
    for _ in 0..3 {
        base.find("Far Light", None, 5).await.unwrap();
    }
    assert_eq!(*read.lock(), 1);
    *generation.lock() = 2;
    assert_eq!(base.find("Far Light", None, 5).await.unwrap().len(), 1);
    assert_eq!(*read.lock(), 2);
}

#[tokio::test]
async fn several_graphs_are_asked_as_one() {
    let reef = Arc::new(reef());
    let both = Combined::new(vec![reef, base()]);
    let entities = both.find("Far Light", None, 9).await.unwrap();
    assert_eq!(entities.len(), 2);
    let facts = both.relate(&entities[0].id, "height").await.unwrap();
    assert_eq!(facts.len(), 1);
    let ids: Vec<EntityId> = entities.iter().map(|entity| entity.id.clone()).collect();
    let kept = both.filter(&ids, "is a lighthouse").await.unwrap().unwrap();
    let kept: Vec<&EntityId> = kept.iter().map(|fact| &fact.head.id).collect();
    assert_eq!(kept, ids.iter().collect::<Vec<_>>());
    assert!(both.filter(&ids, "beautiful").await.unwrap().is_none());
}
