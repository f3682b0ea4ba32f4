//! A document that changes costs what has changed of it, and the base becomes the one that a
//! fresh build makes.
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use halma_core::{Edge, Layer};

use super::common::{Bench, Words};
use super::dump;
use crate::store::{EntityRecord, Link, Row, hash};
use crate::{Base, BasePart};

/// Ten paragraphs under headings of their own.
fn ten(changed: &[usize]) -> String {
    let mut text = String::from("# The zoo\n\n");
    for i in 0..10 {
        let what = if changed.contains(&i) { "moved away, said Åsa" } else { "lives here" };
        // Long enough that no two sections share a chunk.
        let much = " of the best hay there is".repeat(8);
        let _ = write!(text, "## House {i}\n\nAnimal number{i} {what}. It eats food{i}{much}.\n\n");
    }
    text
}

/// Names an entity in every chunk and atom, as the linking of names does.
fn mention(base: &Base) -> Row {
    let store = &base.store;
    store
        .write(|writer| {
            let entity = writer.take_rows(Layer::Entity, 1)?;
            let record = EntityRecord {
                id: hash(&[b"zoo"]),
                key: "zoo".into(),
                name: "Zoo".into(),
                kind: String::new(),
                description: String::new(),
                aliases: vec![],
            };
            writer.put_node(entity, &record)?;
            for layer in [Layer::Chunk, Layer::Atom] {
                for row in writer.all_rows(layer)? {
                    let (from, to) = ((layer, row), (Layer::Entity, entity));
                    writer.put_edge(Link { from, edge: Edge::Mentions, to, weight: 2.0 })?;
                }
            }
            Ok(entity)
        })
        .unwrap()
}

fn mentions(base: &Base, entity: Row) -> (usize, usize) {
    let store = &base.store;
    let links = store.read(|reader| reader.edges_to((Layer::Entity, entity), None)).unwrap();
    let of = |layer| links.iter().filter(|link| link.from.0 == layer).count();
    (of(Layer::Chunk), of(Layer::Atom))
}

async fn fresh(changed: &[usize]) -> String {
    let bench = Bench::asking();
    bench.write("zoo.md", ten(changed));
    let base = bench.open(Some(Words::new()));
    bench.index(&base).await;
    dump(&base)
}

#[tokio::test]
async fn one_paragraph_of_ten_costs_one_call() {
    let bench = Bench::asking();
    bench.write("zoo.md", ten(&[]));
    let words = Words::new();
    let base = bench.open(Some(Arc::clone(&words) as _));
    assert_eq!(bench.index(&base).await.usage.llm_calls, 10);
    let entity = mention(&base);
    assert_eq!(mentions(&base, entity), (10, 31));

    bench.write("zoo.md", ten(&[3]));
    let report = bench.index(&base).await;
    assert_eq!((report.documents_replaced, report.chunks, report.chunks_kept), (1, 10, 9));
    // The chunk, its three atoms, and the document as a whole.
    assert_eq!((report.usage.llm_calls, report.atoms, report.embedded), (1, 3, 5), "{report:?}");
    assert_eq!(mentions(&base, entity), (9, 28), "what hangs on a chunk moves with it");
    let without_edges =
        |dump: &str| dump.lines().filter(|l| !l.starts_with("edge")).collect::<Vec<_>>().join("\n");
    assert_eq!(without_edges(&dump(&base)), without_edges(&fresh(&[3]).await));

    bench.write("zoo.md", ten(&[]));
    bench.write("other.txt", "Something else.");
    bench.index(&base).await;
    bench.remove("other.txt").write("zoo.md", ten(&[3]));
    bench.index(&base).await;
    assert_eq!(bench.model.calls.load(Ordering::Relaxed), 10 + 1 + 2 + 1);
}

#[tokio::test]
async fn a_chunk_that_failed_or_waits_still_does_when_its_document_changes() {
    let mut bench = Bench::asking();
    bench.settings.concurrency = 1;
    bench.write("zoo.md", ten(&[]));
    *bench.model.fails_on.lock() = Some("number7");
    let base = bench.open(Some(Words::new()));
    let report = bench.index(&base).await;
    assert_eq!((report.failed_units, report.atoms), (1, 28));
    bench.write("zoo.md", ten(&[3]));
    let report = bench.index(&base).await;
    assert_eq!((report.failed_units, report.usage.llm_calls), (1, 1), "{report:?}");
    *bench.model.fails_on.lock() = None;
    assert_eq!(bench.index(&base).await.usage.llm_calls, 1);
    assert_eq!(dump(&base), fresh(&[3]).await);
}

#[tokio::test]
async fn a_document_that_is_cut_anew_keeps_the_chunks_that_come_out_the_same() {
    let mut bench = Bench::asking().rebuilding(&[BasePart::Chunks]);
    let long = "A lorry drives by the house. ".repeat(20);
    bench.write("zoo.md", format!("{}## Long\n\n{long}", ten(&[])));
    let base = bench.open(Some(Words::new()));
    bench.index(&base).await;
    bench.settings.chunk_chars = 300;
    let report = bench.index(&base).await;
    assert_eq!((report.documents_replaced, report.chunks_kept), (1, 10));
    assert_eq!(report.usage.llm_calls, report.chunks as u64 - 10);
    let other = Bench { settings: bench.settings.clone(), ..Bench::asking() };
    other.write("zoo.md", format!("{}## Long\n\n{long}", ten(&[])));
    let twin = other.open(Some(Words::new()));
    other.index(&twin).await;
    assert_eq!(dump(&base), dump(&twin));
}

#[tokio::test]
async fn an_unchanged_file_is_known_by_its_bytes_whatever_its_name() {
    let bench = Bench::asking();
    let (one, two) = ("# One\n\nThe first.", "# Two\n\nThe second.");
    bench.write("a.md", one).write("b.md", two);
    let base = bench.open(None);
    bench.index(&base).await;
    let files = |base: &Base| base.store.read(|reader| reader.file_count()).unwrap();
    assert_eq!(files(&base), 2);
    let before = dump(&base);
    bench.write("a.md", one);
    assert!(bench.index(&base).await.nothing_new());
    assert_eq!(dump(&base), before);
    std::fs::rename(bench.input().join("b.md"), bench.input().join("c.md")).unwrap();
    let report = bench.index(&base).await;
    assert_eq!((report.documents_unchanged, report.documents_new), (2, 0));
    assert_eq!(dump(&base), before.replace("[\"b.md\"]", "[\"c.md\", \"b.md\"]"));
    bench.write("a.md", two).write("c.md", one);
    let report = bench.index(&base).await;
    assert_eq!(report.documents_unchanged, 2, "they have changed places: {report:?}");
    bench.write("c.md", "# Three\n\nThe third.");
    let report = bench.index(&base).await;
    assert_eq!((report.documents_unchanged, report.documents_replaced), (1, 1), "{report:?}");
    assert_eq!(files(&base), 3, "the one that is gone is known until it is pruned");
}
