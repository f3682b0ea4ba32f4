//! The knowledge graph of an engine: loaded, asked, and part of what an answer depends on.
#![expect(clippy::unwrap_used, reason = "tests may stop")]
use std::collections::BTreeSet;
use std::path::Path;

use halma_engine::{
    Config, ContextOptions, EmbedderConfig, EmbedderKind, Engine, EngineError, KgKind, KgLoad,
};

const REEF: &str = r#"
<http://a.example/far> <http://www.w3.org/2000/01/rdf-schema#label> "Far Light" ;
  <http://a.example/p/keeper> <http://a.example/anna> .
<http://a.example/anna> <http://www.w3.org/2000/01/rdf-schema#label> "Anna Roe" .
"#;

fn engine(dir: &Path, kind: KgKind) -> Engine {
    let embedder = EmbedderConfig { kind: EmbedderKind::None, ..EmbedderConfig::default() };
    let mut config = Config { embedder, ..Config::default() };
    config.kg.kind = kind;
    Engine::create_or_open(config, dir).unwrap()
}

#[tokio::test]
async fn a_loaded_graph_is_used_from_the_next_opening_on() {
    let dir = tempfile::tempdir().unwrap();
    let (base, file) = (dir.path().join("base"), dir.path().join("reef.ttl"));
    std::fs::write(&file, REEF).unwrap();
    let first = engine(&base, KgKind::Auto);
    let none = EngineError::from(first.knowledge_graph().err().unwrap());
    assert!(none.is_wrong_use() && none.to_string().contains("no knowledge graph"), "{none}");
    let strategy = first.strategy("naive").unwrap();
    let before = first.fingerprint(strategy.as_ref()).unwrap();
    assert_eq!(first.load_kg(&file, &KgLoad::default()).unwrap().added, 3);
    drop(first);
    let second = engine(&base, KgKind::Auto);
    let graph = second.knowledge_graph().unwrap();
    let entities = graph.find("far light", None, 5).await.unwrap();
    let facts = graph.relate(&entities[0].id, "keeper").await.unwrap();
    assert_eq!(facts[0].tail.shown(), "Anna Roe");
    assert_eq!(facts[0].evidence.document, "kg:reef.ttl");
    assert_ne!(second.fingerprint(strategy.as_ref()).unwrap(), before);
    let shown = second.show_kg().unwrap();
    assert_eq!((shown.graphs.len(), shown.loaded.unwrap().facts), (1, 3));
    // A loaded graph is visible to a question that is restricted to some documents.
    assert!(second.context(restricted()).facts().is_some());
    drop(second);
    assert!(engine(&base, KgKind::None).facts().is_none());
}

#[test]
fn facts_of_other_documents_are_not_visible_through_the_graph() {
    let dir = tempfile::tempdir().unwrap();
    let engine = engine(dir.path(), KgKind::Base);
    assert!(engine.context(ContextOptions::default()).facts().is_some());
    assert!(engine.context(restricted()).facts().is_none());
}

fn restricted() -> ContextOptions {
    ContextOptions { documents: Some(BTreeSet::new()), ..ContextOptions::default() }
}
