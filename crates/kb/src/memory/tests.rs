//! What is held and brought up to date must find what a base that was just opened finds.
use std::collections::HashSet;
use std::path::Path;

use halma_core::{
    Edge, FieldValue, Filter, Hit, Knowledge, Llm, Metadata, MetadataFilter, Mode, Models, NodeId,
    Prompts, Query, Setup,
};
use halma_testkit::Toy;

use super::*;
use crate::store::{Damage, DocumentRecord};
use crate::{Atoms, Base, BaseOptions, BuildContext, IndexOptions, KbSettings, PROMPTS, index};

/// A text of a few sentences about names that others have as well.
fn text(seed: u64) -> (String, String) {
    let names = ["Mara Quill", "Orla Finch", "Upper Wold", "Low Tide", "Ines Barrow", "Old Mill"];
    let places = ["Saxby", "Dunmore", "Carrow", "Elstead"];
    let pick = |list: &[&str], by: u64| list[usize::try_from(by).unwrap() % list.len()].to_owned();
    let title = pick(&names, seed);
    let sentence = |by: u64| {
        let (name, place) = (pick(&names, seed * by + by), pick(&places, seed / 3 + by));
        format!("{name} was seen in {place} on day {}.", seed % 17 + by)
    };
    let sentences: Vec<String> = (1..=(seed % 4 + 1)).map(sentence).collect();
    (title, sentences.join(" "))
}

async fn indexed(base: &Arc<Base>, file: &Path) {
    let settings = KbSettings { atoms: Atoms::Sentences, ..KbSettings::default() };
    let llm: Arc<dyn Llm> = Arc::new(crate::search::graph::WhoAsker);
    let prompts = Arc::new(Prompts::shipped(&[PROMPTS]).unwrap());
    let setup = Arc::new(Setup::new(Models::new(llm), Toy::empty(), prompts));
    let context = BuildContext::new(base, &settings, &setup);
    index(context, &[file.to_owned()], &IndexOptions::default()).await.unwrap();
}

/// Everything that a few searches find, in every mode, layer and filter.
async fn everything_found(base: &Base) -> Vec<String> {
    let mut all = vec![];
    let filters = [
        Filter::default(),
        Filter { documents: vec!["*2".into(), "*5".into()], ..Filter::default() },
        Filter { since: Some("2020-01-04".parse().unwrap()), ..Filter::default() },
    ];
    let texts: Vec<String> =
        vec!["Where was Mara Quill seen?".into(), "Who was in Carrow with Ines Barrow?".into()];
    for filter in filters {
        for mode in [Mode::Bm25, Mode::Dense, Mode::Hybrid, Mode::Graph] {
            for layer in [Layer::Chunk, Layer::Atom, Layer::Entity, Layer::Document] {
                let query =
                    Query { filter: filter.clone(), ..Query::new(texts.clone(), layer, mode, 30) };
                let lists = base.search(&query).await.unwrap();
                // Removed texts still count in the statistics of an index in memory.
                let in_memory = matches!(layer, Layer::Entity | Layer::Document);
                let line = |hit: &Hit| {
                    let which = format!("{mode:?} {} {}", hit.id.0, hit.document);
                    if in_memory {
                        return which;
                    }
                    format!("{which} {:.4} {:?} {:?}", hit.score, hit.cosine, hit.parts)
                };
                let mut lines: Vec<String> = lists.iter().flatten().map(line).collect();
                if in_memory {
                    lines.sort();
                }
                all.extend(lines);
            }
        }
    }
    all
}

#[tokio::test]
async fn what_is_held_finds_what_a_base_that_was_just_opened_finds() {
    let dir = tempfile::tempdir().unwrap();
    let embedder: Option<Arc<dyn halma_core::Embedder>> =
        Some(Arc::new(crate::search::graph::Hashed));
    let options = BaseOptions { embedder, ..BaseOptions::default() };
    let base = Base::create_or_open(&dir.path().join("base"), options).unwrap();
    let view = base.restricted(vec![odd()]);
    let (mut seed, mut in_view) = (7_u64, 0);
    let mut named: Vec<u64> = vec![];
    for step in 0..20 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let number = seed >> 60;
        if step > 3 && (seed >> 40).is_multiple_of(4) && !named.is_empty() {
            let gone = named.remove(usize::try_from(seed >> 33).unwrap() % named.len());
            base.delete(&[format!("n{gone}")]).unwrap();
        } else if step > 3 && (seed >> 44).is_multiple_of(4) && !named.is_empty() {
            let moved = named[usize::try_from(seed >> 33).unwrap() % named.len()];
            let team = if seed >> 50 & 1 == 1 { "odd" } else { "even" };
            let fields = [("team".to_owned(), FieldValue::Text(team.to_owned()))];
            base.set_metadata(&format!("n{moved}"), &Metadata(fields.into())).unwrap();
        } else {
            let (title, text) = text(seed >> 35);
            let day = number % 9 + 1;
            let line = serde_json::json!({
                "id": format!("n{number}"), "title": title, "text": text,
                "date": format!("2020-01-0{day}"),
                "metadata": { "team": if number % 2 == 1 { "odd" } else { "even" } },
            });
            std::fs::write(dir.path().join("one.jsonl"), format!("{line}\n")).unwrap();
            indexed(&base, &dir.path().join("one.jsonl")).await;
            named.retain(|other| *other != number);
            named.push(number);
        }
        let cached = everything_found(&base).await;
        let of_view = everything_found(&view).await;
        base.caches.forget();
        view.caches.forget();
        let opened = everything_found(&base).await;
        assert_eq!(cached, opened, "after step {step}");
        assert!(!cached.is_empty());
        assert_eq!(of_view, everything_found(&view).await, "in the view after step {step}");
        assert_eq!(of_view, everything_found(&base.restricted(vec![odd()])).await, "in a new view");
        // What the build made for the whole base says the same as what a view makes for itself.
        base.store.damage(Damage::NoChunkNames);
        assert_eq!(
            of_view,
            everything_found(&base.restricted(vec![odd()])).await,
            "without records of names"
        );
        assert_only(&base, &odd_names(&base), &of_view);
        in_view += of_view.len();
    }
    assert!(in_view > 0);
}

#[tokio::test]
async fn what_is_preloaded_is_what_searches_use() {
    let dir = tempfile::tempdir().unwrap();
    let embedder: Option<Arc<dyn halma_core::Embedder>> =
        Some(Arc::new(crate::search::graph::Hashed));
    let options = BaseOptions { embedder, ..BaseOptions::default() };
    let base = Base::create_or_open(&dir.path().join("base"), options).unwrap();
    base.preload().unwrap();
    let lines = (0..20).map(|n| {
        let (title, text) = text(n * 31);
        format!("{}\n", serde_json::json!({ "id": format!("n{n}"), "title": title, "text": text }))
    });
    std::fs::write(dir.path().join("all.jsonl"), lines.collect::<String>()).unwrap();
    indexed(&base, &dir.path().join("all.jsonl")).await;
    let plain = everything_found(&base).await;
    base.caches.forget();
    base.preload().unwrap();
    let walk = || base.caches.graph.lock().as_ref().map(|(_, cache)| Arc::as_ptr(cache));
    let (loaded, mut layers) = (walk(), HashSet::new());
    layers.extend(base.caches.matrices.lock().keys().map(|(_, layer)| *layer));
    assert!(loaded.is_some() && layers == HashSet::from([Layer::Chunk, Layer::Atom]), "{layers:?}");
    assert_eq!(everything_found(&base).await, plain);
    assert_eq!(walk(), loaded, "it is not loaded a second time");
}

/// The documents of odd numbers.
fn odd() -> Filter {
    let mut metadata = MetadataFilter::default();
    metadata.add("team=odd").unwrap();
    Filter { metadata, ..Filter::default() }
}

/// The names of the documents of team odd, by the records of the whole base.
fn odd_names(base: &Base) -> HashSet<String> {
    let read = base.store.read(|reader| {
        let documents = reader.nodes::<DocumentRecord>()?;
        documents.map(|node| node.map(|(_, record)| record)).collect::<heed::Result<Vec<_>>>()
    });
    let mut names = HashSet::new();
    for record in read.unwrap() {
        for (at, name) in record.names.iter().enumerate() {
            if odd().metadata.admits(&record.metadata_of(at)) {
                names.insert(name.clone());
            }
        }
    }
    names
}

/// Lines of [`everything_found`] show these documents, and entities that no other names.
fn assert_only(base: &Base, names: &HashSet<String>, lines: &[String]) {
    for line in lines {
        let mut words = line.split(' ').skip(1);
        let (id, document) = (words.next().unwrap(), words.next().unwrap());
        if !document.is_empty() {
            assert!(names.contains(document), "{line}: {names:?}");
            continue;
        }
        let ends = base.inspector().edges_of(&NodeId(id.to_owned()), Some(Edge::Mentions));
        for end in ends.unwrap() {
            assert!(names.contains(&end.node.document), "{line}: {}", end.node.document);
        }
    }
}
