//! A sound base has no problems, and every kind of damage is found.
use std::path::Path;
use std::sync::Arc;

use tempfile::tempdir;

use super::*;

use crate::base::sample_base;
use crate::store::{
    ChunkRecord, Damage, DocumentRecord, EmbedderRecord, FactRecord, Link, RowRecord,
};
use crate::{Base, BaseOptions};
use halma_core::Edge;

/// The problems of a sample that was damaged and opened again.
fn problems_after(damage: impl FnOnce(&Arc<Base>)) -> Vec<Problem> {
    let dir = tempdir().unwrap();
    let base = sample_base::create(dir.path(), "mark");
    damage(&base);
    drop(base);
    open(dir.path()).inspector().verify().unwrap().problems
}

fn open(dir: &Path) -> Arc<Base> {
    Base::open(dir, BaseOptions::default()).unwrap()
}

fn count(problems: &[Problem], what: &str) -> usize {
    problems.iter().filter(|problem| problem.what.contains(what)).count()
}

#[test]
fn a_whole_base_has_no_problems() {
    let dir = tempdir().unwrap();
    let base = sample_base::create(dir.path(), "mark");
    let verified = base.inspector().verify().unwrap();
    assert!(verified.is_sound(), "{:?}", verified.problems);
    let stats = base.inspector().stats().unwrap();
    assert_eq!(verified.nodes, stats.figures.layers.values().sum::<u64>());
    assert_eq!((verified.vectors, verified.index_entries), (2, 8));
}

#[test]
fn damaged_bytes_are_found_wherever_they_are() {
    for layer in Layer::ALL {
        let problems = problems_after(|base| base.store.damage(Damage::Record(layer, 0)));
        assert!(count(&problems, "its record cannot be read") == 1, "{layer:?}: {problems:?}");
    }
    let problems = problems_after(|base| base.store.damage(Damage::Text(0)));
    assert_eq!(count(&problems, "its text cannot be read"), 1, "{problems:?}");
    assert_eq!(problems[0].document.as_deref(), Some("one"));
    assert!(problems[0].hint.contains("halma kb delete"));
}

#[test]
fn a_missing_node_is_found_from_what_leads_to_it() {
    for (layer, what) in [
        (Layer::Section, "the section it belongs to is missing"),
        (Layer::Chunk, "the chunk it belongs to is missing"),
        (Layer::Atom, "atom 0 of it is missing"),
        (Layer::Table, "the table it belongs to is missing"),
        (Layer::Figure, "figure 0 of it is missing"),
        (Layer::Entity, "an edge `mentions` leads to a entity that is missing"),
        (Layer::Tag, "it has a key, and the node is missing"),
        (Layer::Community, "an edge `member_of`"),
        (Layer::Fact, "its id is listed and the node is missing"),
        (Layer::Summary, "its id is listed and the node is missing"),
        (Layer::Row, "its id is listed and the node is missing"),
    ] {
        let problems = problems_after(|base| base.store.damage(Damage::NoNode(layer, 0)));
        assert!(count(&problems, what) > 0, "{layer:?}: {problems:?}");
    }
    let problems = problems_after(|base| base.store.damage(Damage::NoNode(Layer::Chunk, 0)));
    assert!(count(&problems, "there is a vector of it, and the node is missing") == 1);
    assert!(count(&problems, "the lexical index holds it, and the node is missing") == 1);
}

#[test]
fn lists_that_were_lost_are_found() {
    for (damage, what) in [
        (Damage::NoBacklinks, "is not listed at its end"),
        (Damage::NoNames, "does not lead to it"),
        (Damage::NoUnits, "the ledger does not know it"),
        (Damage::NoIds, "its id does not lead to it"),
        (Damage::Key(Layer::Document, 0), "its key is gone"),
        (Damage::Key(Layer::Entity, 0), "its key is gone"),
    ] {
        let problems = problems_after(|base| base.store.damage(damage));
        assert!(count(&problems, what) > 0, "{damage:?}: {problems:?}");
    }
}

#[test]
fn records_that_do_not_fit_each_other_are_found() {
    let problems = problems_after(|base| {
        let store = &base.store;
        store
            .write(|writer| {
                let mut chunk: ChunkRecord = writer.linked(0)?;
                chunk.place.chars.1 += 1;
                writer.put_node(0, &chunk)?;
                let mut row: RowRecord = writer.linked(0)?;
                row.cells.push("more".into());
                writer.put_node(0, &row)?;
                let mut fact: FactRecord = writer.linked(0)?;
                fact.tail = 77;
                writer.put_node(0, &fact)?;
                let mut document: DocumentRecord = writer.linked(1)?;
                document.sections = (0, 2);
                writer.put_node(1, &document)?;
                let number = writer.register_embedder("other", 3)?;
                assert_eq!(writer.embedders()?.len(), 2);
                let record =
                    EmbedderRecord { model: "other".into(), dimensions: 3, origin: String::new() };
                assert_eq!(writer.embedder("other")?, Some((number, record)));
                writer.put_vector(number, (Layer::Atom, 1), &[1.0, 0.0])
            })
            .unwrap();
    });
    for (what, times) in [
        ("its span (0, 19) does not fit its document", 1),
        ("it has 2 cells and its table 1 columns", 1),
        ("the entity it belongs to is missing", 1),
        ("it belongs to another document than the one that holds it", 1),
        ("its vector by `other` of 3 dimensions is missing or damaged in its file", 1),
    ] {
        assert_eq!(count(&problems, what), times, "{what}: {problems:#?}");
    }
}

#[test]
fn an_edge_to_nowhere_is_found() {
    let problems = problems_after(|base| {
        let (from, to) = ((Layer::Chunk, 0), (Layer::Entity, 99));
        let link = Link::new(from, Edge::Mentions, to);
        base.store.write(|writer| writer.put_edge(link)).unwrap();
    });
    assert!(count(&problems, "an edge `mentions` leads to a entity that is missing") > 0);
}

#[test]
fn a_word_index_that_lost_a_node_is_found_and_built_again() {
    let dir = tempdir().unwrap();
    let base = sample_base::create(dir.path(), "mark");
    base.lexical_on_disk(Layer::Atom).unwrap().lose(0).unwrap();
    let problems = base.inspector().verify().unwrap().problems;
    assert_eq!(count(&problems, "the lexical index does not hold it"), 1, "{problems:?}");
    assert!(problems[0].hint.contains("bm25"));
    drop(base);
    std::fs::remove_dir_all(dir.path().join("bm25")).unwrap();
    assert!(open(dir.path()).inspector().verify().unwrap().is_sound());
}

#[test]
fn more_problems_than_can_be_read_are_counted() {
    let mut verified = Verified::default();
    for at in 0..LISTED + 5 {
        let what = at.to_string();
        verified.add(Problem { id: String::new(), document: None, what, hint: REINDEX });
    }
    assert_eq!((verified.problems.len(), verified.more), (LISTED, 5));
}
