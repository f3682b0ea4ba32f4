//! Bases that cannot be opened; and a view of some documents gives away nothing of the others,
//! whatever is read from it.
use std::sync::Arc;

use halma_core::{
    Edge, FieldValue, Filter, Knowledge, Layer, Metadata, MetadataFilter, Mode, NodeId,
    PassageQuery, Query, Which,
};
use tempfile::tempdir;

use super::{sample_base, store_dir};
use crate::store::{FORMAT, hash};
use crate::{Base, BaseOptions, KbError, ListQuery};

#[test]
fn a_base_of_a_newer_format_is_left_alone() {
    let dir = tempdir().unwrap();
    let base = Base::create_or_open(dir.path(), BaseOptions::default()).unwrap();
    base.store.pretend_format(FORMAT + 1);
    drop(base);
    for opened in [
        Base::open(dir.path(), BaseOptions::default()),
        Base::create_or_open(dir.path(), BaseOptions::default()),
    ] {
        let said = opened.err().unwrap().to_string();
        let version = format!("format {}", FORMAT + 1);
        assert!(said.contains(&version) && said.contains("upgrade"), "{said}");
    }
}

#[test]
fn a_folder_without_a_base_is_told_from_a_base() {
    let dir = tempdir().unwrap();
    let said = Base::open(dir.path(), BaseOptions::default()).err().unwrap().to_string();
    assert!(said.contains("halma index"), "{said}");
    let _open = Base::create_or_open(dir.path(), BaseOptions::default()).unwrap();
    let said = Base::open(dir.path(), BaseOptions::default()).err().unwrap().to_string();
    assert!(said.contains("open already"), "{said}");
}

#[test]
fn a_damaged_store_is_an_error_that_says_what_to_do() {
    let dir = tempdir().unwrap();
    std::fs::create_dir(store_dir(dir.path())).unwrap();
    std::fs::write(store_dir(dir.path()).join("data.mdb"), vec![7; 100_000]).unwrap();
    let said = Base::open(dir.path(), BaseOptions::default()).err().unwrap().to_string();
    assert!(said.contains("index again"), "{said}");
}

/// The mark in every text of the document `one`.
const SECRET: &str = "classified";

fn team(name: &str) -> Metadata {
    Metadata([("team".to_owned(), FieldValue::Text(name.to_owned()))].into())
}

fn only(team: &str) -> Filter {
    let mut metadata = MetadataFilter::default();
    metadata.add(&format!("team={team}")).unwrap();
    Filter { metadata, ..Filter::default() }
}

/// A base whose first document belongs to team b and its second to team a; in both layers of entities
/// there is one that both name.
fn tenants(dir: &std::path::Path) -> (Arc<Base>, Arc<Base>, Arc<Base>) {
    let base = sample_base::create(dir, SECRET);
    base.store.write(|writer| writer.set_meta("communities", &Some(7_u64))).unwrap();
    for (name, owner) in [("one", "b"), ("one again", "b"), ("two", "a"), ("two again", "a")] {
        base.set_metadata(name, &team(owner)).unwrap();
    }
    let (a, b) = (base.restricted(vec![only("a")]), base.restricted(vec![only("b")]));
    (base, a, b)
}

fn query(text: &str, layer: Layer, mode: Mode) -> Query {
    Query::new(vec![text.to_owned()], layer, mode, 100)
}

/// Every id of a base.
fn all_ids(base: &Base) -> Vec<NodeId> {
    let list = |layer| ListQuery { layer, document: None, after: None, limit: 1000 };
    let ids = |layer| base.inspector().list(&list(layer)).unwrap().into_iter().map(|n| n.id);
    Layer::ALL.into_iter().flat_map(ids).collect()
}

/// Everything that can be read of a base, as text.
async fn everything(whole: &Base, view: &Base) -> String {
    let mut read = String::new();
    let texts = ["classified0001 second", "Shared and Alone", "first other0001", "Other thing"];
    for layer in Layer::ALL {
        for mode in Mode::ALL {
            for text in texts {
                let hits = Knowledge::search(view, &query(text, layer, mode)).await.unwrap();
                read += &serde_json::to_string(&hits).unwrap();
                let patterns = vec!["*".to_owned()];
                let filter = Filter { documents: patterns, ..Filter::default() };
                let filtered = Query { filter, ..query(text, layer, mode) };
                let hits = Knowledge::search(view, &filtered).await.unwrap();
                read += &serde_json::to_string(&hits).unwrap();
            }
        }
    }
    let passages = |which| PassageQuery { which, limit: 100, filter: Filter::default() };
    for expression in ["", ".", "first", "(?i)second|other", "[0-9]"] {
        let matching = passages(Which::Matching(expression.to_owned()));
        let found = Knowledge::passages(view, &matching).await.unwrap();
        read += &serde_json::to_string(&found.hits).unwrap();
    }
    for id in all_ids(whole) {
        if let Ok(found) = Knowledge::passages(view, &passages(Which::From(id.0.clone(), 0))).await
        {
            read += &serde_json::to_string(&found.hits).unwrap();
        }
        if let Ok(shown) = view.inspector().show(&id) {
            read += &serde_json::to_string(&shown).unwrap();
        }
        if let Ok(hit) = Knowledge::get(view, &id).await {
            read += &serde_json::to_string(&hit).unwrap();
        }
        if let Ok(near) = Knowledge::neighbours(view, &id, None).await {
            read += &serde_json::to_string(&near).unwrap();
        }
    }
    for layer in Layer::ALL {
        for document in [None, Some("*".to_owned()), Some("one".to_owned())] {
            let list = ListQuery { layer, document, after: None, limit: 1000 };
            read += &serde_json::to_string(&view.inspector().list(&list).unwrap()).unwrap();
        }
    }
    read += &serde_json::to_string(&view.tables().unwrap()).unwrap();
    for table in view.tables().unwrap() {
        let sql = format!("SELECT * FROM \"{}\"", table.name);
        read +=
            &serde_json::to_string(&view.sql(&sql, crate::SqlLimits::default()).unwrap()).unwrap();
    }
    for table in whole.tables().unwrap() {
        let sql = format!("SELECT * FROM \"{}\"", table.name);
        read += &match view.sql(&sql, crate::SqlLimits::default()) {
            Ok(result) => serde_json::to_string(&result).unwrap(),
            // The name is the asker's.
            Err(error) => error.to_string().replace(&table.name, ""),
        };
    }
    read += &serde_json::to_string(&Knowledge::catalog(view).await.unwrap()).unwrap();
    read += &serde_json::to_string(&view.inspector().stats().unwrap()).unwrap();
    read += &serde_json::to_string(&view.inspector().facts(None).unwrap()).unwrap();
    read += &serde_json::to_string(&view.merges().unwrap()).unwrap();
    let mut written = vec![];
    view.inspector().export(&mut written).unwrap();
    read += &String::from_utf8(written).unwrap();
    read
}

#[tokio::test]
async fn no_word_of_another_team_is_in_anything_that_is_read() {
    let dir = tempdir().unwrap();
    let (base, a, b) = tenants(dir.path());
    assert!(everything(&base, &base).await.contains(SECRET));
    let of_b = everything(&base, &b).await;
    assert!(of_b.contains(SECRET), "the test reads what it plants");
    let of_a = everything(&base, &a).await;
    assert!(of_a.contains("other0001") && of_a.contains("\"Other\""), "{of_a}");
    if let Some(at) = of_a.find(SECRET) {
        let from = of_a.floor_char_boundary(at.saturating_sub(300));
        panic!("{}", &of_a[from..of_a.ceil_char_boundary(at + 100)]);
    }
    // What both teams' documents name belongs to neither.
    for view in [&of_a, &of_b] {
        assert!(!view.contains("\"Shared\"") && !view.contains("relation 1"), "{view}");
    }
    assert!(!of_a.contains("\"one") && !of_a.contains("Alone"));
}

#[tokio::test]
async fn fields_are_changed_without_indexing_and_hold_at_once() {
    let dir = tempdir().unwrap();
    let (base, a, _) = tenants(dir.path());
    let names_found = |base: Arc<Base>, filter: Filter| async move {
        let query = Query { filter, ..query("first second", Layer::Chunk, Mode::Bm25) };
        let hits = Knowledge::search(&*base, &query).await.unwrap().remove(0);
        let mut names: Vec<String> = hits.into_iter().map(|hit| hit.document).collect();
        names.sort();
        names.dedup();
        names
    };
    let generation = base.store.generation().unwrap();
    assert_eq!(names_found(Arc::clone(&a), Filter::default()).await, ["two"]);
    assert_eq!(names_found(Arc::clone(&base), only("b")).await, ["one"]);
    assert_eq!(names_found(Arc::clone(&a), only("b")).await, [""; 0]);
    base.set_metadata("one again", &team("a")).unwrap();
    // The same text under a name of each team: a sees its own name only.
    assert_eq!(names_found(Arc::clone(&a), Filter::default()).await, ["one again", "two"]);
    assert_eq!(names_found(Arc::clone(&base), only("a")).await, ["one", "two"]);
    base.set_metadata("one again", &Metadata::default()).unwrap();
    base.set_metadata("two", &team("b")).unwrap();
    assert_eq!(names_found(Arc::clone(&a), Filter::default()).await, ["two again"]);
    assert_eq!(base.store.generation().unwrap(), generation);
    assert_eq!(base.metadata("one").unwrap(), Some(team("b")));
    assert_eq!((a.metadata("one").unwrap(), a.metadata("nothing").unwrap()), (None, None));
}

#[test]
fn a_view_changes_only_what_it_shows() {
    let dir = tempdir().unwrap();
    let (base, a, b) = tenants(dir.path());
    assert!(matches!(a.set_metadata("one", &team("a")), Err(KbError::NoNode { .. })));
    assert!(matches!(a.delete(&["one".to_owned()]), Err(KbError::NoDocument { .. })));
    assert!(matches!(a.delete(&["on*".to_owned()]), Err(KbError::NoDocument { .. })));
    assert!(matches!(a.store.write(|writer| writer.publish()), Err(KbError::Restricted)));
    assert!(a.hides("one").unwrap() && !a.hides("two").unwrap() && !a.hides("new").unwrap());
    base.set_metadata("one again", &team("a")).unwrap();
    let id = a.inspector().find_document("one again").unwrap().unwrap();
    let deleted = a.delete(&[id.0]).unwrap();
    assert_eq!((deleted.names, deleted.kept.len()), (vec!["one again".to_owned()], 0));
    assert!(b.inspector().find_document("one").unwrap().is_some());
    assert_eq!(a.delete(&["*".to_owned()]).unwrap().names, ["two", "two again"]);
    assert!(base.inspector().find_document("one").unwrap().is_some());
    assert!(base.inspector().find_document("two").unwrap().is_none());
    base.inspector().verify().unwrap();
}

#[test]
fn what_several_documents_were_made_into_needs_all_of_them() {
    let dir = tempdir().unwrap();
    let (base, a, b) = tenants(dir.path());
    let shared = hash(&[b"Shared"]);
    let sees = |base: &Base| {
        base.store.read(|reader| Ok(reader.find(Layer::Entity, shared)?.is_some())).unwrap()
    };
    assert!(sees(&base) && !sees(&a) && !sees(&b));
    let both = base.restricted(vec![only("a,b")]);
    assert!(sees(&both));
    // While a build writes entities nothing of them is shown to views that lack a document.
    let alone = |base: &Base| {
        let list = ListQuery { layer: Layer::Entity, document: None, after: None, limit: 9 };
        base.inspector().list(&list).unwrap().len()
    };
    assert_eq!((alone(&a), alone(&b)), (1, 1));
    base.store.write(|writer| writer.set_unsettled(true)).unwrap();
    assert_eq!((alone(&a), alone(&b), alone(&base)), (0, 0, 3));
    base.store.write(|writer| writer.set_unsettled(false)).unwrap();
    // A chunk of the other team begins to name what was named by this one alone.
    assert_eq!(alone(&a), 1);
    let (from, to) = ((Layer::Chunk, 0), (Layer::Entity, 2));
    let link = crate::store::Link::new(from, Edge::Mentions, to);
    base.store.write(|writer| writer.put_edge(link)).unwrap();
    assert_eq!(alone(&a), 0);
}
