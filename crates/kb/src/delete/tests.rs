//! What goes with a document, and that nothing else does.
use std::collections::BTreeMap;
use std::path::Path;

use halma_core::Edge;
use tempfile::tempdir;

use super::*;
use crate::base::sample_base::{self, ENTITIES, count_bytes};
use crate::lexical::LexicalQuery;
use crate::store::{Access, EntityRecord, Store, TableRecord};
use crate::{BaseOptions, ListQuery};

/// The keys in the file, wiped ones as zeros; its copy has the same.
fn slots(dir: &Path) -> Vec<[u8; 16]> {
    let keys = std::fs::read(dir.join("store/keys")).unwrap();
    assert!(keys == std::fs::read(dir.join("store/keys.copy")).unwrap());
    // A head, and a checksum after each.
    keys[16..].chunks(20).map(|slot| *slot.first_chunk().unwrap()).collect()
}

#[test]
fn a_document_takes_along_what_rests_on_it_and_nothing_else() {
    let dir = tempdir().unwrap();
    let base = sample_base::create(dir.path(), "zqmark");
    let deleted = base.delete(&["one".into(), "one again".into()]).unwrap();
    assert_eq!(deleted.names, ["one", "one again"]);
    assert_eq!(deleted.kept, [""; 0]);
    let expected = [
        (Layer::Document, 1),
        (Layer::Section, 1),
        (Layer::Chunk, 2),
        // Of the document, and the one made of its facts alone.
        (Layer::Table, 2),
        (Layer::Figure, 1),
        (Layer::Row, 4),
        (Layer::Atom, 2),
        (Layer::Summary, 2),
        (Layer::Tag, 1),
        (Layer::Entity, 1),
        (Layer::Fact, 2),
        (Layer::Community, 2),
    ];
    assert_eq!(deleted.nodes, BTreeMap::from(expected));
    let verified = base.inspector().verify().unwrap();
    assert!(verified.is_sound(), "{:?}", verified.problems);
    let stats = base.inspector().stats().unwrap().figures;
    assert_eq!(stats.layers[&Layer::Entity], 2);
    assert_eq!(stats.layers[&Layer::Community], 1);
    assert_eq!(stats.edges[&Edge::Relates], 1);
    assert_eq!(stats.edges.get(&Edge::RefersTo), None);
    base.store
        .read(|reader| {
            let names: Vec<String> =
                [1, 2].map(|row| reader.linked::<EntityRecord>(row).unwrap().name).to_vec();
            assert_eq!(names, ENTITIES[1..]);
            let relates = reader.edges_from((Layer::Entity, 1), Some(Edge::Relates))?;
            assert_eq!((relates[0].to, relates[0].weight), ((Layer::Entity, 2), 1.0));
            let tables = reader.rows(Layer::Table, 0, 9)?;
            let left = reader.linked::<TableRecord>(tables[1])?;
            assert_eq!(left.relation.as_deref(), Some("relation 1"));
            Ok(())
        })
        .unwrap();
}

#[test]
fn no_file_holds_a_mark_before_or_after() {
    let dir = tempdir().unwrap();
    let base = sample_base::create(dir.path(), "zqmark");
    let words = || {
        let terms_of = |layer| {
            base.lexical_on_disk(layer)
                .unwrap()
                .search(&LexicalQuery::plain("zqmark0001"), 10, None)
                .unwrap()
                .len()
        };
        terms_of(Layer::Chunk)
    };
    assert_eq!(words(), 1);
    let vector: Vec<u8> = [0.6f32, 0.8, 0.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    assert_eq!(
        (count_bytes(&dir.path().join("store"), b"zqmark"), count_bytes(dir.path(), &vector)),
        (0, 0)
    );
    let before = slots(dir.path());
    base.delete(&["one*".into()]).unwrap();
    assert_eq!(words(), 0);
    assert_eq!(count_bytes(dir.path(), b"zqmark"), 0);
    let after = slots(dir.path());
    let wiped = before.iter().zip(&after).filter(|(a, b)| a != b);
    let wiped = wiped.inspect(|(_, b)| assert_eq!(**b, [0; 16]));
    // The document, its entity, its tag, two communities, the table of its facts.
    assert_eq!(wiped.count(), 6);
}

#[test]
fn what_was_sealed_cannot_be_read_once_the_document_is_gone() {
    let dir = tempdir().unwrap();
    let base = sample_base::create(dir.path(), "zqmark");
    let stored = base.store.every_sealed_value();
    let readable = |base: &Base| {
        let store = &base.store;
        stored.iter().filter(|value| store.is_readable(value)).count()
    };
    assert_eq!(readable(&base), stored.len());
    let before = base.store.every_sealed_value().len();
    let deleted = base.delete(&["one".into(), "one again".into()]).unwrap();
    let left = base.store.every_sealed_value().len();
    // Readers of an older view continue in this process, and in no other.
    assert_eq!(readable(&base), stored.len());
    drop(base);
    let base = Base::open(dir.path(), BaseOptions::default()).unwrap();
    assert!(before - left > usize::try_from(deleted.nodes.values().sum::<u64>()).unwrap());
    assert_eq!(readable(&base), left);
}

#[test]
fn one_name_of_several_leaves_the_document() {
    let dir = tempdir().unwrap();
    let base = sample_base::create(dir.path(), "zqmark");
    let deleted = base.delete(&["one".into()]).unwrap();
    assert_eq!((deleted.names, deleted.kept), (vec!["one".into()], vec!["one again".into()]));
    assert!(deleted.nodes.is_empty());
    assert_eq!(base.inspector().find_document("one").unwrap(), None);
    let id = base.inspector().find_document("one again").unwrap().unwrap();
    let deleted = base.delete(&[id.0]).unwrap();
    assert_eq!(deleted.names, ["one again"]);
    assert!(base.inspector().verify().unwrap().is_sound());
    let query = ListQuery { layer: Layer::Document, document: None, after: None, limit: 10 };
    assert_eq!(base.inspector().list(&query).unwrap().len(), 1);
}

#[test]
fn an_unknown_name_deletes_nothing_and_is_told_with_its_like() {
    let dir = tempdir().unwrap();
    let base = sample_base::create(dir.path(), "zqmark");
    let said = base.delete(&["two".into(), "one agian".into(), "x*".into()]).err().unwrap();
    let said = said.to_string();
    assert!(said.contains("`one agian` (did you mean `one again`"), "{said}");
    assert!(said.contains("`x*`") && !said.contains("`two`,"), "{said}");
    assert_eq!(base.inspector().stats().unwrap().documents, 2);
}

#[test]
fn a_deletion_that_was_killed_is_finished_when_the_base_is_opened() {
    let dir = tempdir().unwrap();
    let base = sample_base::create(dir.path(), "zqmark");
    // As if the process had died between the commit and what follows it.
    base.store.remove_and_die("one");
    drop(base);
    let keys = |dir: &Path| slots(dir).into_iter().filter(|key| *key == [0; 16]).count();
    assert_eq!(keys(dir.path()), 0);
    let base = Base::open(dir.path(), BaseOptions::default()).unwrap();
    assert_eq!(keys(dir.path()), 6);
    let verified = base.inspector().verify().unwrap();
    assert!(verified.is_sound(), "{:?}", verified.problems);
    assert!(
        base.lexical_on_disk(Layer::Chunk)
            .unwrap()
            .search(&LexicalQuery::plain("zqmark0001"), 10, None)
            .unwrap()
            .is_empty()
    );
}

#[test]
fn a_store_that_is_full_says_so_and_stays_whole() {
    let dir = tempdir().unwrap();
    drop(sample_base::create(dir.path(), "zqmark"));
    let store_dir = dir.path().join("store");
    let used = std::fs::metadata(store_dir.join("data.mdb")).unwrap().len();
    let size = usize::try_from(used).unwrap() + (1 << 22);
    let store = Store::open_for(&store_dir, Access::Small(size)).unwrap();
    let mut marks = sample_base::Marks::new(&"long".repeat(500));
    let fill = std::panic::AssertUnwindSafe(|| {
        for i in 0..100 {
            sample_base::add_document(&store, &format!("more {i}"), &mut marks);
        }
    });
    let said = std::panic::catch_unwind(fill).unwrap_err();
    let said = said.downcast_ref::<String>().unwrap();
    assert!(said.contains("Full"), "{said}");
    drop(store);
    let base = Base::open(dir.path(), BaseOptions::default()).unwrap();
    let verified = base.inspector().verify().unwrap();
    assert!(verified.is_sound(), "{:?}", verified.problems);
    base.delete(&["one*".into(), "more*".into()]).unwrap();
    assert!(base.inspector().verify().unwrap().is_sound());
}

/// Documents of `sample` that need some MiB.
fn fill(store: &Store, from: usize) {
    let mut marks = sample_base::Marks::new(&"long".repeat(500));
    for i in from..from + 40 {
        sample_base::add_document(store, &format!("more {i}"), &mut marks);
    }
}

#[test]
fn a_store_grows_beyond_its_map_while_it_is_read() {
    let dir = tempdir().unwrap();
    drop(sample_base::create(dir.path(), "zqmark"));
    let store_dir = dir.path().join("store");
    let used = std::fs::metadata(store_dir.join("data.mdb")).unwrap().len();
    let size = usize::try_from(used).unwrap().next_multiple_of(1 << 20) + (1 << 20);
    let store = Store::open_for(&store_dir, Access::Growing(size)).unwrap();
    let documents = || store.read(|reader| reader.count(Layer::Document)).unwrap();
    let reading = std::sync::atomic::AtomicBool::new(true);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while reading.load(std::sync::atomic::Ordering::Relaxed) {
                assert!(documents() >= 2);
            }
        });
        fill(&store, 0);
        fill(&store, 40);
        reading.store(false, std::sync::atomic::Ordering::Relaxed);
    });
    let grown = std::fs::metadata(store_dir.join("data.mdb")).unwrap().len();
    assert!(grown > 2 * size as u64, "{grown} bytes are not more than twice {size}");
    assert_eq!(documents(), 82);
    drop(store);
    let base = Base::open(dir.path(), BaseOptions::default()).unwrap();
    assert!(base.inspector().verify().unwrap().is_sound());
}

#[test]
fn a_store_opened_for_reading_is_read_and_not_written() {
    let dir = tempdir().unwrap();
    drop(sample_base::create(dir.path(), "zqmark"));
    let store = Store::open_for(&dir.path().join("store"), Access::Read).unwrap();
    assert_eq!(store.read(|reader| reader.count(Layer::Document)).unwrap(), 2);
    let said = store.write(|_| Ok(())).unwrap_err().to_string();
    assert!(said.contains("cannot be written to"), "{said}");
}

#[test]
fn a_base_of_an_older_format_is_left_alone() {
    let dir = tempdir().unwrap();
    let base = sample_base::create(dir.path(), "zqmark");
    base.store.pretend_format(1);
    drop(base);
    let said = Base::open(dir.path(), BaseOptions::default()).err().unwrap().to_string();
    assert!(said.contains("format 1") && said.contains("halma index --kb"), "{said}");
}
