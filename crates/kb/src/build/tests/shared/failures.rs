//! Pushes that fail or are not answered, machines that were away, and copies that do not arrive.
use std::sync::Arc;
use std::time::{Duration, Instant};

use halma_core::{Budget, Mode};

use super::super::write_lease::Hanging;
use super::{Shared, await_equal, await_same_hits, hits, numbered, open_again};
use crate::base::sample_base::count_bytes;
use crate::{Atoms, BuildContext, IndexOptions, KbError, Upstream, lock_file};

#[tokio::test(flavor = "multi_thread")]
async fn a_push_that_fails_is_sent_again_and_one_that_arrived_is_not() {
    let shared = Shared::new();
    let (one, two) = (shared.open("one"), shared.open("two"));
    shared.bench.index(&one).await;
    let fields = numbered;
    shared.upstream.refuse_next_push();
    assert!(one.set_metadata("rivers.md", &fields(1)).is_err());
    // It is here, and goes with the next.
    one.set_metadata("cities.md", &fields(2)).unwrap();
    await_equal(&one, &two);
    assert_eq!(two.metadata("rivers.md").unwrap(), Some(fields(1)));
    shared.upstream.lose_next_answer();
    assert!(one.set_metadata("rivers.md", &fields(3)).is_err());
    await_equal(&one, &two);
    assert_eq!(two.metadata("rivers.md").unwrap(), Some(fields(3)));
    one.set_metadata("rivers.md", &fields(4)).unwrap();
    await_equal(&one, &two);
    // What did not arrive before another machine wrote is dropped, and the rest is read again.
    shared.upstream.refuse_next_push();
    assert!(one.set_metadata("rivers.md", &fields(5)).is_err());
    two.set_metadata("cities.md", &fields(6)).unwrap();
    await_equal(&one, &two);
    assert_eq!(one.metadata("rivers.md").unwrap(), Some(fields(4)));
    await_same_hits(&one, &two).await;
    assert!(one.inspector().verify().unwrap().problems.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_machine_without_a_connection_searches_what_it_has() {
    let shared = Shared::new();
    let (one, two) = (shared.open("one"), shared.open("two"));
    shared.bench.index(&one).await;
    await_equal(&one, &two);
    shared.upstream.set_unreachable(true);
    assert!(!hits(&two, Mode::Hybrid).await.is_empty());
    let failed = two.delete(&["cities.md".into()]).unwrap_err();
    assert!(failed.to_string().contains("unreachable"), "{failed}");
    shared.upstream.set_unreachable(false);
    two.delete(&["cities.md".into()]).unwrap();
    await_equal(&one, &two);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_machine_that_was_off_misses_no_deletion_that_came_with_the_whole() {
    let shared = Shared::new();
    let one = shared.open("one");
    shared.bench.index(&one).await;
    let mut round = 0;
    let is_due = || {
        let head = shared.upstream.head().unwrap();
        head.generation >= head.first + 500
    };
    while !is_due() {
        one.set_metadata("rivers.md", &numbered(round)).unwrap();
        round += 1;
    }
    let two = shared.open("two");
    await_equal(&one, &two);
    drop(two);
    one.delete(&["cities.md".into()]).unwrap();
    shared.bench.remove("cities.md");
    shared.bench.index(&one).await;
    let head = shared.upstream.head().unwrap();
    assert!(head.first > 500, "{head:?}");
    let two = open_again(&shared, "two").await;
    await_equal(&one, &two);
    await_same_hits(&one, &two).await;
    let folder = shared.replica("two");
    assert_eq!(count_bytes(&folder, b"Zqcity") + count_bytes(&folder, b"zqcity"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_build_whose_push_was_not_answered_continues() {
    let shared = Shared::new();
    let one = shared.open("one");
    shared.upstream.lose_next_answer();
    let failed = shared.bench.try_index(&one, Budget::default()).await;
    assert!(failed.is_err(), "{failed:?}");
    shared.bench.index(&one).await;
    let two = shared.open("two");
    await_equal(&one, &two);
    let verified = two.inspector().verify().unwrap();
    assert!(verified.problems.is_empty(), "{:?}", verified.problems);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_build_makes_room_for_what_another_machine_writes() {
    let mut shared = Shared::new();
    shared.bench.settings.atoms = Atoms::Questions;
    let (one, two) = (shared.open("one"), shared.open("two"));
    let model = Arc::new(Hanging::default());
    let context = BuildContext::new(&one, &shared.bench.settings, &model.setup());
    let (inputs, options) = ([shared.bench.input()], IndexOptions::default());
    let build = crate::index(context, &inputs, &options);
    let write = async {
        model.question_received.notified().await;
        let base = Arc::clone(&two);
        let write = move || base.delete(&["cities.md".into()]).map(|deleted| deleted.names);
        let deleted = tokio::task::spawn_blocking(write).await.unwrap();
        let base = Arc::clone(&two);
        let write = move || base.set_metadata("rivers.md", &numbered(1));
        (deleted, tokio::task::spawn_blocking(write).await.unwrap())
    };
    let (report, (deleted, written)) = tokio::join!(build, write);
    assert_eq!(deleted.unwrap(), ["cities.md"]);
    assert_eq!(written.unwrap(), "rivers.md");
    assert_eq!(report.unwrap().pending_units, 0);
    await_equal(&one, &two);
    assert_eq!(one.metadata("rivers.md").unwrap(), Some(numbered(1)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_waits_while_another_one_fills_the_replica() {
    let shared = Shared::new();
    let one = shared.open("one");
    shared.bench.index(&one).await;
    let folder = shared.replica("two");
    std::fs::create_dir_all(&folder).unwrap();
    let filling = lock_file::open(&folder, "replica.lock").unwrap();
    filling.lock().unwrap();
    std::thread::scope(|scope| {
        let opening = scope.spawn(|| shared.try_open("two", false));
        // For long enough that one that does not wait would have given up.
        let until = Instant::now() + Duration::from_millis(500);
        while !opening.is_finished() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        filling.unlock().unwrap();
        let two = opening.join().unwrap().unwrap();
        await_equal(&one, &two);
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_with_other_keys_is_named_and_not_the_store() {
    let shared = Shared::new();
    let one = shared.open("one");
    shared.bench.index(&one).await;
    drop(one);
    std::fs::rename(shared.keys(), shared.replica("elsewhere")).unwrap();
    let refused = shared.try_open("two", true).map(drop).unwrap_err();
    assert!(matches!(refused, KbError::Keys(_)), "{refused}");
    let refused = refused.to_string();
    assert!(refused.contains("all machines of this base share"), "{refused}");
    assert!(!refused.contains("delete"), "{refused}");
}
