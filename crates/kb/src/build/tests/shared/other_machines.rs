//! What a machine does about what others have removed or converted, or could not send.
use std::sync::Arc;
use std::time::{Duration, Instant};

use halma_core::Mode;
use parking_lot::Mutex;

use super::super::common::Words;
use super::{Shared, await_equal, contents, hits, numbered, open_again};
use crate::KbError;
use crate::base::sample_base::count_bytes;

#[tokio::test(flavor = "multi_thread")]
async fn what_was_made_of_a_document_that_another_machine_removed_can_be_deleted() {
    let shared = Shared::new();
    let (one, two) = (shared.open("one"), shared.open("two"));
    shared.bench.index(&one).await;
    await_equal(&one, &two);
    let heard: Arc<Mutex<Vec<String>>> = Arc::default();
    let listener = Arc::clone(&heard);
    two.on_removed_elsewhere(move |names| {
        listener.lock().extend_from_slice(names);
        true
    });
    // A document that says something else is not removed.
    shared.bench.write("rivers.md", "# Rivers\n\nThe Rhine is long.\n");
    shared.bench.index(&one).await;
    one.delete(&["cities.md".into()]).unwrap();
    await_heard(&heard).await;
    assert_eq!(*heard.lock(), ["cities.md"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_removal_is_told_of_until_everything_is_done_also_by_a_later_program() {
    let shared = Shared::new();
    let one = shared.open("one");
    shared.bench.index(&one).await;
    let two = shared.open("two");
    await_equal(&one, &two);
    one.delete(&["cities.md".into()]).unwrap();
    // It is taken in by a program that ends before it has told anyone,
    await_equal(&one, &two);
    drop(two);
    // and then heard of by one that fails.
    let two = open_again(&shared, "two").await;
    let heard: Arc<Mutex<Vec<String>>> = Arc::default();
    let listener = Arc::clone(&heard);
    two.on_removed_elsewhere(move |names| {
        listener.lock().extend_from_slice(names);
        false
    });
    await_heard(&heard).await;
    drop(two);
    let replica = shared.replica("two");
    let notes = || std::fs::read_dir(replica.join("removals")).unwrap().count();
    assert_eq!(
        (notes(), count_bytes(&replica.join("store"), b"cities.md")),
        (1, 0),
        "it is sealed"
    );
    let two = open_again(&shared, "two").await;
    let again: Arc<Mutex<Vec<String>>> = Arc::default();
    let listener = Arc::clone(&again);
    two.on_removed_elsewhere(move |names| {
        listener.lock().extend_from_slice(names);
        true
    });
    await_heard(&again).await;
    assert_eq!((*again.lock()).clone(), ["cities.md"]);
    let until = Instant::now() + Duration::from_secs(10);
    while notes() > 0 && Instant::now() < until {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(notes(), 0);
}

async fn await_heard(heard: &Mutex<Vec<String>>) {
    let until = Instant::now() + Duration::from_secs(10);
    while heard.lock().is_empty() && Instant::now() < until {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_runs_while_a_newer_one_converts_the_base_stays_where_it_was() {
    let shared = Shared::new();
    let (one, two) = (shared.open("one"), shared.open("two"));
    shared.bench.index(&one).await;
    await_equal(&one, &two);
    let before = contents(&two);
    one.store
        .write(|writer| {
            writer.set_meta("format", &(crate::store::FORMAT + 1))?;
            writer.publish()
        })
        .unwrap();
    let refused = two.pull().unwrap_err();
    assert!(matches!(refused, KbError::SharedFormat { .. }), "{refused}");
    let refused = two.set_metadata("rivers.md", &numbered(1)).unwrap_err();
    assert!(refused.to_string().contains("use the same version"), "{refused}");
    // It searches what it has.
    assert_eq!(contents(&two), before);
    assert!(!hits(&two, Mode::Bm25).await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_that_does_not_arrive_leaves_nothing() {
    let shared = Shared::new();
    let folder = shared.bench.open(Some(Words::new()));
    shared.bench.index(&folder).await;
    let (one, two) = (shared.open("one"), shared.open("two"));
    shared.upstream.refuse_next_push();
    assert!(one.copy_from(&folder).is_err());
    await_equal(&one, &two);
    assert!(one.store.read(|reader| reader.document_names()).unwrap().is_empty());
    one.copy_from(&folder).unwrap();
    await_equal(&two, &folder);
}
