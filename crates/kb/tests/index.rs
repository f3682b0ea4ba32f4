//! Building a base from real files: what is stored, found, replaced and left alone.
mod common;

use std::sync::Arc;

use common::{Bench, Words, ids, query, search};
use halma_core::{Budget, Embedder, Knowledge, Layer, MinScore, Mode, NodeId};
use halma_kb::{Atoms, Base, BaseOptions, InputFormat, KbError};

const JAWS: &str = "---\ndate: 1975-06-20\n---\n# Jaws\n\nJaws is a film by Steven Spielberg. It \
                    was shot at sea.\n\n## Music\n\nJohn Williams wrote the score.\n";

fn filled() -> Bench {
    let bench = Bench::new();
    bench
        .write("film/jaws.md", JAWS)
        .write("alien.txt", "Alien was made by Ridley Scott. Åse liked it. The ship is large.")
        .write("table.csv", "Name;Maker\nZarxio;Sandoz\nAmjevita;Amgen\n")
        .write(
            "records.jsonl",
            "{\"id\": \"r1\", \"title\": \"Duel\", \"text\": \"Duel is about a lorry.\"}\n\
             {\"text\": \"Nobody knows the title of this one about penguins.\"}\n",
        );
    bench
}

#[tokio::test]
async fn every_kind_of_file_is_found_with_its_place() {
    let bench = filled();
    let base = bench.open(Some(Words::new()));
    let report = bench.index(&base).await;
    assert_eq!(report.documents_new, 5, "{report:?}");
    assert_eq!((report.refused.len(), report.failed_units, report.pending_units), (0, 0, 0));

    let hits = search(&base, "who wrote the score", Layer::Chunk, Mode::Hybrid).await;
    let hit = &hits[0];
    assert_eq!((hit.document.as_str(), hit.title.as_str()), ("film/jaws.md", "Jaws"));
    assert_eq!(hit.section.as_deref(), Some("Music"));
    let span: String =
        JAWS.chars().skip(hit.span.start).take(hit.span.end - hit.span.start).collect();
    assert_eq!(span, hit.text);
    assert!(hit.cosine.is_some() && hit.score > 0.0 && hit.score <= 1.0);
    let section = base.get(hit.parent.as_ref().unwrap()).await.unwrap();
    assert_eq!(section.layer, Layer::Section);
    let document = base.get(section.parent.as_ref().unwrap()).await.unwrap();
    assert_eq!(document.text, JAWS);

    let hits = search(&base, "film shot at sea", Layer::Atom, Mode::Bm25).await;
    assert_eq!(hits[0].text, "Jaws was shot at sea.");
    let chunk = base.get(hits[0].parent.as_ref().unwrap()).await.unwrap();
    assert_eq!(chunk.layer, Layer::Chunk);

    let hits = search(&base, "Sandoz", Layer::Chunk, Mode::Bm25).await;
    assert_eq!(hits[0].text, "Name: Zarxio; Maker: Sandoz");
    assert_eq!((hits[0].span.start, hits[0].span.end), (11, 24));
    assert_eq!(hits[0].section.as_deref(), Some("rows"));

    assert_eq!(search(&base, "lorry", Layer::Chunk, Mode::Dense).await[0].document, "r1");
    let penguin = &search(&base, "penguins", Layer::Chunk, Mode::Bm25).await[0];
    assert_eq!(penguin.document, "records.jsonl#2");
    assert_eq!(search(&base, "Ase", Layer::Chunk, Mode::Bm25).await[0].title, "alien");
}

#[tokio::test]
async fn the_same_input_again_does_nothing_and_makes_the_same_ids_elsewhere() {
    let bench = filled();
    let base = bench.open(Some(Words::new()));
    bench.index(&base).await;
    let before = base.stats().unwrap();
    let again = bench.index(&base).await;
    assert!(again.nothing_new(), "{again:?}");
    assert_eq!((again.documents_unchanged, again.chunks, again.embedded), (5, 0, 0));
    assert_eq!(base.stats().unwrap().fingerprint, before.fingerprint);
    let other = filled();
    let twin = other.open(None);
    other.index(&twin).await;
    let words = "jaws alien ship Zarxio Amjevita lorry penguins score";
    assert_eq!(ids(&base, words, Layer::Chunk).await, ids(&twin, words, Layer::Chunk).await);
    assert_eq!(ids(&base, words, Layer::Atom).await, ids(&twin, words, Layer::Atom).await);
    assert_eq!(twin.stats().unwrap().fingerprint, before.fingerprint);
}

#[tokio::test]
async fn a_changed_document_is_replaced_in_every_index() {
    let bench = filled();
    let base = bench.open(Some(Words::new()));
    bench.index(&base).await;
    let before = base.stats().unwrap();
    bench.write("alien.txt", "Alien was made in Shepperton. Ripley survives it.");
    let report = bench.index(&base).await;
    assert_eq!((report.documents_replaced, report.documents_unchanged), (1, 4));
    for layer in [Layer::Chunk, Layer::Atom] {
        let all = search(&base, "Ridley Scott", layer, Mode::Bm25).await;
        assert!(all.is_empty(), "{all:?}");
        let near = search(&base, "Ridley Scott", layer, Mode::Dense).await;
        assert!(near.iter().all(|hit| !hit.text.contains("Ridley")), "{near:?}");
        assert_eq!(search(&base, "Shepperton", layer, Mode::Hybrid).await[0].title, "alien");
    }
    let after = base.stats().unwrap();
    assert_eq!((after.documents, after.chunks), (before.documents, before.chunks));
    assert_eq!(after.vectors[0].atoms, after.atoms);
    assert_ne!(after.fingerprint, before.fingerprint);
}
