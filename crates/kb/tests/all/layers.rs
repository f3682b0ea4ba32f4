//! Every layer has vectors, as far as the settings say, and summaries lead to their chunks.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use halma_core::{Edge, Embedder, Knowledge, Layer, MinScore, Mode, Query};
use halma_kb::{
    Atoms, Base, BaseOptions, BasePart, BuildContext, Chunks, GraphSettings, IndexOptions,
    NoVectors, SearchSettings, VectorLayers, estimate,
};

use crate::common::{Bench, Words, search};
use crate::extractor::{Works, others};

/// Facts, a table, a figure, headed sections, summaries, tags and communities.
fn works() -> Works {
    let mut works = Works::new();
    works.bench.settings.atoms = Atoms::Sentences;
    works.bench.settings.tags = true;
    works.bench.settings.summaries = true;
    works.bench.settings.communities = true;
    works.bench.settings.chunk_chars = 120;
    works.bench.write(
        "yards.md",
        "# Yards\n\nAda founded Works. Ada is a builder of boats. Works is a yard by the sea.\n\n\
         Grace founded Docks. Grace is a welder of hulls. Docks is a place in the north.\n\n\
         ![A map of the yards](map.png)\n\n\
         | Yard | Boats |\n|---|---|\n| Works | 12 |\n| Docks | 30 |\n",
    );
    works
}

/// Nothing in the base is broken.
fn verify(base: &Base) {
    let verified = base.inspector().verify().unwrap();
    assert!(verified.is_sound(), "{:?}", verified.problems);
}

fn vectors(base: &Base) -> BTreeMap<Layer, u64> {
    let stats = base.inspector().stats().unwrap();
    let counts = &stats.vectors[0];
    let plain = [(Layer::Chunk, counts.chunks), (Layer::Atom, counts.atoms)];
    counts.others.clone().into_iter().chain(plain).filter(|(_, count)| *count > 0).collect()
}

#[tokio::test]
async fn nodes_of_every_layer_are_found_by_what_they_mean() {
    let works = works();
    let base = works.open_with(Words::new());
    let report = works.index(&base).await;
    assert_eq!((report.failed_units, report.pending_units), (0, 0), "{report:?}");
    let counts = vectors(&base);
    for layer in Layer::ALL {
        assert!(counts.contains_key(&layer), "{layer:?}: {counts:?}");
        let hits = search(&base, "the yard Works by the sea", layer, Mode::Dense).await;
        assert!(hits.iter().any(|hit| hit.cosine.is_some()), "{layer:?}: {hits:?}");
    }
    assert_eq!(report.embedded as u64 + counts[&Layer::Tag], counts.values().sum::<u64>());
    verify(&base);
    // A second run has nothing left to embed.
    assert_eq!(works.index(&base).await.embedded, 0);
}

#[tokio::test]
async fn a_document_of_one_chunk_is_as_near_as_that() {
    let bench = Bench::new();
    bench.write("heron.txt", "The heron wades in the marsh.");
    bench.write("owl.txt", "The owl hunts at night in the barn.");
    let base = bench.open(Some(Words::new()));
    bench.index(&base).await;
    assert_eq!(vectors(&base), [(Layer::Chunk, 2), (Layer::Atom, 2)].into());
    for layer in [Layer::Document, Layer::Section, Layer::Chunk] {
        let hits = search(&base, "owl barn night", layer, Mode::Dense).await;
        assert_eq!(hits[0].title, "owl", "{layer:?}");
        assert!(hits[0].cosine.unwrap() > 0.5 && hits.len() == 2, "{hits:?}");
    }
    let query = Query {
        exclude: search(&base, "owl", Layer::Document, Mode::Bm25)
            .await
            .into_iter()
            .map(|hit| hit.id)
            .collect(),
        ..crate::common::query("owl barn night", Layer::Document, Mode::Dense)
    };
    let hits = base.search(&query).await.unwrap().remove(0);
    assert!(hits.iter().all(|hit| hit.title == "heron"), "{hits:?}");
}

#[tokio::test]
async fn a_layer_that_is_off_has_no_vectors_and_is_searched_by_its_words() {
    let mut works = works();
    let off = VectorLayers { entity: false, atom: false, tag: false, ..VectorLayers::default() };
    works.bench.settings.vectors = off;
    let embedder = Words::new();
    let base = works.open_with(Arc::clone(&embedder) as Arc<dyn Embedder>);
    works.index(&base).await;
    let counts = vectors(&base);
    for layer in [Layer::Entity, Layer::Atom, Layer::Tag] {
        assert!(!counts.contains_key(&layer), "{counts:?}");
    }
    let hits = search(&base, "Ada", Layer::Entity, Mode::Hybrid).await;
    assert_eq!((hits[0].title.as_str(), hits[0].cosine), ("Ada", None));
    // A small base is completed without being asked.
    works.bench.settings.vectors = VectorLayers::default();
    let report = works.index(&base).await;
    assert!(report.embedded > 0 && report.kept.is_empty(), "{report:?}");
    let full = vectors(&base);
    assert!(full.contains_key(&Layer::Entity) && full.contains_key(&Layer::Atom), "{full:?}");
    // And what is switched off goes.
    works.bench.settings.vectors = off;
    let calls = embedder.calls.load(Ordering::Relaxed);
    works.index(&base).await;
    assert_eq!((vectors(&base), embedder.calls.load(Ordering::Relaxed)), (counts, calls));
    verify(&base);
}

#[tokio::test]
async fn a_large_base_keeps_its_layers_until_a_rebuild_is_asked_for() {
    let mut works = Works::new();
    works.bench.settings.vectors = VectorLayers { fact: false, ..VectorLayers::default() };
    for i in 0..210 {
        works.bench.write(&format!("a{i:03}.txt"), format!("Ada{i} founded Works{i}."));
    }
    let base = works.open_with(Words::new());
    works.index(&base).await;
    works.bench.settings.vectors = VectorLayers::default();
    let context = || BuildContext::new(&base, &works.bench.settings, &works.setup());
    let inputs = [works.bench.input()];
    let expected = estimate(context(), &inputs, &IndexOptions::default()).await.unwrap();
    assert_eq!(expected.kept[0].1.as_ref().unwrap().texts, 210);
    assert!(expected.stages.iter().all(|stage| stage.task != "embed"), "{expected:?}");
    let report = works.index(&base).await;
    assert_eq!((report.embedded, report.kept[0].part), (0, BasePart::Vectors));
    works.bench.options.rebuild = vec![BasePart::Vectors];
    let options = works.bench.options.clone();
    let context = BuildContext::new(&base, &works.bench.settings, &works.setup());
    let expected = estimate(context, &inputs, &options).await.unwrap();
    let embed = expected.stages.iter().find(|stage| stage.task == "embed").unwrap();
    assert_eq!(embed.units, 210);
    assert_eq!(works.index(&base).await.embedded, 210);
    // From then on it is how the base is made.
    works.bench.options.rebuild.clear();
    works.bench.settings.vectors = VectorLayers { fact: false, ..VectorLayers::default() };
    works.bench.write("new.txt", "Grace founded Docks.");
    let report = works.index(&base).await;
    assert_eq!((report.embedded, report.kept[0].part), (2, BasePart::Vectors));
}

#[tokio::test]
async fn thresholds_of_layers_are_measured() {
    let works = Works::new();
    for i in 0..80 {
        works.bench.write(
            &format!("a{i:03}.txt"),
            format!("Ada{i} founded Works{i}. Ada{i} is a builder of boat{i} and of hull{i}."),
        );
    }
    let base = works.open_with(Words::new());
    assert!(base.layer_thresholds().unwrap().is_empty());
    works.index(&base).await;
    let measured = base.layer_thresholds().unwrap();
    for layer in [Layer::Fact, Layer::Entity] {
        assert!((0.05..0.95).contains(&measured[&layer]), "{measured:?}");
        assert_eq!(base.usual_cosine(layer).unwrap(), Some(measured[&layer]));
    }
    // What has nothing to do with the question is held back.
    let query = |min_score| Query {
        min_score,
        limit: 80,
        ..crate::common::query("Who founded Works7?", Layer::Fact, Mode::Dense)
    };
    let all = base.search(&query(MinScore::Any)).await.unwrap().remove(0);
    let near = base.search(&query(MinScore::Usual)).await.unwrap().remove(0);
    assert!(near.len() < all.len() / 2, "{} of {}", near.len(), all.len());
    assert!(near.iter().any(|hit| hit.text == "Ada7 founded Works7."), "{near:?}");
}

/// A rule of which the second part does not say what it is about; its summary does.
fn enhanced() -> Works {
    let mut works = Works::new();
    works.bench.settings.atoms = Atoms::Questions;
    works.bench.settings.chunks = Chunks::Model;
    works.bench.settings.chunk_chars = 80;
    works.bench.settings.entities = halma_kb::Entities::None;
    works.bench.write(
        "rules.md",
        "# Company\n\n## Rules\n\nLeave is granted to every employee of the company.\n\n\
         On Sundays it is granted for half a day only.\n",
    );
    works
}

#[tokio::test]
async fn a_chunk_is_found_by_its_summary() {
    let works = enhanced();
    let weighed = |summaries: f32| {
        let embedder: Option<Arc<dyn Embedder>> = Some(Words::new());
        let search = SearchSettings { summaries, ..SearchSettings::default() };
        let graph = GraphSettings { summaries, ..GraphSettings::default() };
        let options = BaseOptions { embedder, search, graph, ..BaseOptions::default() };
        Base::create_or_open(&works.bench.base_dir(), options).unwrap()
    };
    let base = weighed(1.0);
    let report = works.index(&base).await;
    assert_eq!((report.chunks, report.failed_units), (2, 0), "{report:?}");
    for mode in [Mode::Hybrid, Mode::Graph] {
        let hits = search(&base, "short vacation on weekends", Layer::Chunk, mode).await;
        assert!(hits[0].text.contains("Sundays"), "{mode:?}: {hits:?}");
        let part = hits[0].parts.iter().find(|part| part.name == "summaries").unwrap();
        assert_eq!(part.through, "Vacation on weekends is short.", "{mode:?}");
        assert_eq!((part.layer(), part.edge()), (Some(Layer::Summary), Some(Edge::DerivedFrom)));
    }
    let hits = search(&base, "vacation", Layer::Summary, Mode::Hybrid).await;
    assert!(hits.iter().flat_map(|hit| &hit.parts).all(|part| part.name != "summaries"));
    // Its own summary, and what stands before it.
    let chunk = search(&base, "Sundays", Layer::Chunk, Mode::Bm25).await.remove(0);
    let summaries = others(&base, &chunk.id, Edge::DerivedFrom, Layer::Summary);
    let texts: Vec<&str> = summaries.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(texts, ["Rules about vacation of staff.", "Vacation on weekends is short."]);
    verify(&base);
    drop(base);
    let base = weighed(0.0);
    let hits = search(&base, "short vacation on weekends", Layer::Chunk, Mode::Hybrid).await;
    assert!(hits.iter().flat_map(|hit| &hit.parts).all(|part| part.name != "summaries"));
    // Summaries go with their document.
    let summaries = base.inspector().stats().unwrap().figures.layers[&Layer::Summary];
    assert_eq!(summaries, 3);
    base.delete(&["rules.md".to_owned()]).unwrap();
    assert!(search(&base, "vacation", Layer::Summary, Mode::Bm25).await.is_empty());
    verify(&base);
}

#[tokio::test]
async fn the_atomizer_is_shown_what_stands_around_a_chunk() {
    let works = enhanced();
    let base = works.open();
    works.index(&base).await;
    let requests = works.rules.requests.lock();
    let shown: Vec<&str> = requests
        .iter()
        .filter(|(task, _)| task == "questions")
        .map(|(_, said)| said.as_str())
        .filter(|said| said.contains("On Sundays"))
        .collect();
    for expected in [
        "Heading: Rules",
        "The document before the passage: Rules about vacation of staff.",
        "About the passage: Vacation on weekends is short.",
    ] {
        assert!(shown[0].contains(expected), "{expected}: {}", shown[0]);
    }
}

const TABLE: &str = "| Product | Maker |\n|---|---|\n| Zarxio | Sandoz |\n| Amjevita | Amgen |\n";

#[tokio::test]
async fn a_table_has_a_summary_and_atoms_that_say_what_it_is_about() {
    let mut works = Works::new();
    works.bench.settings.atoms = Atoms::Sentences;
    works.bench.write("list.md", format!("# Biosimilars\n\nWhat was approved.\n\n{TABLE}"));
    let base = works.open_with(Words::new());
    works.index(&base).await;
    let hits = search(&base, "Zarxio maker", Layer::Summary, Mode::Hybrid).await;
    let about = "Product: Zarxio, Amjevita\nMaker: Sandoz, Amgen";
    assert!(hits[0].text.ends_with(about), "{hits:?}");
    let table = others(&base, &hits[0].id, Edge::DerivedFrom, Layer::Table);
    assert_eq!(table.len(), 1);
    let atoms = search(&base, "Maker: Sandoz, Amgen", Layer::Atom, Mode::Bm25).await;
    assert!(atoms[0].text.contains("Product: Zarxio, Amjevita; Maker: Sandoz, Amgen"));
    // Where a model sums up, it sums up tables as well, in place of that.
    works.bench.settings.summaries = true;
    works.bench.options.rebuild = vec![BasePart::Summaries];
    works.rules.script("summarise", "Amjevita", "Approved products with their makers.");
    works.index(&base).await;
    let hits = search(&base, "approved products makers", Layer::Summary, Mode::Hybrid).await;
    assert_eq!(hits[0].text, "Approved products with their makers.");
    assert!(hits[0].cosine.unwrap() > 0.5, "it is embedded again");
    assert_eq!(hits.iter().filter(|hit| hit.text.contains("Zarxio")).count(), 0);
    assert_eq!(works.index(&base).await.usage.llm_calls, 0);
}

#[tokio::test]
async fn what_did_not_change_in_a_document_is_not_embedded_again() {
    let works = Works::new();
    works.bench.write("list.md", format!("# Biosimilars\n\nApproved.\n\n{TABLE}"));
    let base = works.open_with(Words::new());
    works.index(&base).await;
    works
        .bench
        .write("list.md", format!("# Biosimilars\n\nApproved.\n\n{TABLE}| Hyrimoz | Sandoz |\n"));
    let report = works.index(&base).await;
    // The chunk, the row that came, and the table's summary, whose examples are others now.
    assert_eq!((report.documents_replaced, report.embedded), (1, 3), "{report:?}");
    assert_eq!(search(&base, "Hyrimoz", Layer::Row, Mode::Dense).await.len(), 3);
    verify(&base);
}

#[tokio::test]
async fn it_is_said_why_a_layer_has_no_vectors_to_compare() {
    let mut bench = Bench::new();
    bench.settings.atoms = Atoms::None;
    bench.write("a.txt", "Otters swim.");
    let why = |base: &Base, layer| base.why_no_vectors(layer).unwrap();
    let base = bench.open(None);
    assert_eq!(why(&base, Layer::Chunk), None, "there is nothing to search");
    bench.index(&base).await;
    assert_eq!(why(&base, Layer::Chunk), Some(NoVectors::NoEmbedder));
    drop(base);

    let base = bench.open(Some(Words::new()));
    let missing = why(&base, Layer::Chunk).unwrap();
    assert_eq!(missing.to_string(), "the base has no chunk vectors of `toy-words`");
    assert!(missing.hint().contains("`halma index`"));
    bench.index(&base).await;
    assert_eq!((why(&base, Layer::Chunk), why(&base, Layer::Atom)), (None, None));
    drop(base);

    let base = bench.open(Some(Words::named("another")));
    let other = NoVectors::OtherEmbedder { model: "toy-words".into() };
    assert_eq!(why(&base, Layer::Chunk), Some(other));
}
