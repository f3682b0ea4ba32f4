//! Showing, listing, exporting.
use std::collections::BTreeSet;

use halma_core::{Layer, NodeId};
use serde_json::Value;
use tempfile::tempdir;

use crate::base::sample_base;
use crate::{Base, Details, EntityQuery, KbError, ListQuery};

fn exported(base: &Base) -> String {
    let mut out = vec![];
    base.inspector().export(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn all(layer: Layer) -> ListQuery {
    ListQuery { layer, document: None, after: None, limit: usize::MAX }
}

#[test]
fn every_node_is_listed_and_shown_with_its_edges() {
    let dir = tempdir().unwrap();
    let base = sample_base::create(dir.path(), "mark");
    let counts = base.inspector().stats().unwrap().figures;
    let mut out = 0;
    for layer in Layer::ALL {
        let listed = base.inspector().list(&all(layer)).unwrap();
        assert_eq!(listed.len() as u64, counts.layers[&layer], "{layer:?}");
        for node in listed {
            let shown = base.inspector().show(&node.id).unwrap();
            assert_eq!((shown.node.layer, &shown.node.title), (layer, &node.title));
            assert!(shown.node.text.starts_with(&node.text));
            out += shown.edges.iter().filter(|edge| edge.outgoing).count() as u64;
        }
    }
    assert_eq!(out, counts.edges.values().sum::<u64>());
}

#[test]
fn details_say_what_a_node_is() {
    let dir = tempdir().unwrap();
    let base = sample_base::create(dir.path(), "mark");
    let document = base
        .inspector()
        .show(&base.inspector().find_document("one again").unwrap().unwrap())
        .unwrap();
    let Details::Document { names, format, parts, .. } = &document.details else { panic!() };
    assert_eq!((names.len(), format.as_str()), (2, "text"));
    assert_eq!((parts[&Layer::Atom], parts[&Layer::Fact], parts[&Layer::Row]), (2, 2, 4));
    let chunks = base.inspector().list(&all(Layer::Chunk)).unwrap();
    let first = base.inspector().show(&chunks[0].id).unwrap();
    assert_eq!(first.vectors, ["numbers"]);
    let last = base.inspector().show(&chunks[1].id).unwrap();
    let states: Vec<_> = last.units.iter().map(|unit| (unit.task, unit.state)).collect();
    assert_eq!(states, [("atoms", "done"), ("embed", "failed")]);
    let table =
        base.inspector().show(&base.inspector().list(&all(Layer::Table)).unwrap()[0].id).unwrap();
    let Details::Table { columns, rows: 2, .. } = &table.details else { panic!("{table:?}") };
    assert_eq!(columns[0].values, "text");
    let facts = base.inspector().list(&all(Layer::Fact)).unwrap();
    let Details::Fact { head: Some(head), .. } =
        base.inspector().show(&facts[0].id).unwrap().details
    else {
        panic!()
    };
    let Details::Entity { mentions, .. } = base.inspector().show(&head).unwrap().details else {
        panic!()
    };
    assert_eq!(mentions, 2);
    let nowhere = NodeId("c-0000000000000000".into());
    assert!(matches!(base.inspector().show(&nowhere), Err(KbError::NoNode { .. })));
}

#[test]
fn pages_of_a_list_follow_each_other_and_patterns_choose_documents() {
    let dir = tempdir().unwrap();
    let base = sample_base::create(dir.path(), "mark");
    for layer in Layer::ALL {
        let whole = base.inspector().list(&all(layer)).unwrap();
        let (mut pages, mut after) = (vec![], None);
        loop {
            let page = base.inspector().list(&ListQuery { after, limit: 1, ..all(layer) }).unwrap();
            let Some(last) = page.last() else { break };
            after = Some(last.id.clone());
            pages.extend(page);
        }
        assert_eq!(pages, whole, "{layer:?}");
    }
    let of = |layer, pattern: &str| {
        let query = ListQuery { document: Some(pattern.into()), ..all(layer) };
        let mut titles: Vec<String> =
            base.inspector().list(&query).unwrap().into_iter().map(|node| node.title).collect();
        titles.sort();
        titles
    };
    assert_eq!((of(Layer::Chunk, "one*").len(), of(Layer::Chunk, "*").len()), (2, 4));
    assert_eq!(of(Layer::Entity, "two"), ["Other", "Shared"]);
    assert_eq!((of(Layer::Community, "two").len(), of(Layer::Community, "none").len()), (3, 0));
    let about = base.inspector().list(&all(Layer::Document)).unwrap()[0].about.clone().unwrap();
    assert_eq!((about.format.as_str(), about.units["done"]), ("text", 2));
}

#[test]
fn an_export_names_every_node_and_edge_once_and_is_the_same_for_the_same_content() {
    let dirs = [tempdir().unwrap(), tempdir().unwrap()];
    let [one, other] = dirs.each_ref().map(|dir| sample_base::create(dir.path(), "mark"));
    // Rows and keys differ, and what was there in between leaves no trace.
    let extra =
        sample_base::add_document(&other.store, "three", &mut sample_base::Marks::new("extra"));
    other.store.write(|writer| writer.remove_document(extra)).unwrap();
    let lines = exported(&one);
    assert_eq!(lines, exported(&other));
    let (mut nodes, mut edges) = (BTreeSet::new(), BTreeSet::new());
    for line in lines.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        if let Some(id) = line.get("node") {
            assert!(nodes.insert(id.to_string()));
        } else {
            assert!(nodes.contains(&line["from"].to_string()));
            assert!(nodes.contains(&line["to"].to_string()));
            let edge = (line["from"].to_string(), line["edge"].to_string(), line["to"].to_string());
            assert!(edges.insert(edge), "{line}");
        }
    }
    let stats = one.inspector().stats().unwrap().figures;
    assert_eq!(nodes.len() as u64, stats.layers.values().sum::<u64>());
    assert_eq!(edges.len() as u64, stats.edges.values().sum::<u64>());
    let changed = tempdir().unwrap();
    let changed = sample_base::create(changed.path(), "marl");
    assert_ne!(lines, exported(&changed));
}

#[test]
fn entities_are_listed_by_mentions_and_found_by_a_part_of_a_name() {
    let dir = tempdir().unwrap();
    let base = sample_base::create(dir.path(), "mark");
    let entities = base.inspector().entities(&EntityQuery::default()).unwrap();
    assert_eq!(
        entities.len() as u64,
        base.inspector().stats().unwrap().figures.layers[&Layer::Entity]
    );
    assert!(entities.is_sorted_by(|a, b| a.mentions >= b.mentions));
    let named = |name: &str, kind: Option<&str>| {
        let query = EntityQuery { kind: kind.map(str::to_owned), name: Some(name.to_owned()) };
        base.inspector().entities(&query).unwrap()
    };
    let shared = named("SHARE", None);
    assert_eq!((shared[0].name.as_str(), shared[0].mentions), ("Shared", 2), "{entities:?}");
    assert_eq!(named("shared", Some("no such kind")), []);
}
