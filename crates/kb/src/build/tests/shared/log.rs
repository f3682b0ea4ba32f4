//! The log as it changes below a replica: it is sent as a whole, or loses its end.
use std::time::{Duration, Instant};

use halma_core::Mode;

use super::{Shared, await_equal, await_same_hits, hits, numbered, open_again};
use crate::store::{ReplicaState, Urgency};
use crate::{Base, Upstream};

fn send_whole(base: &Base) {
    let leading = base.store.lead(Urgency::Normal).unwrap();
    base.store.replication().unwrap().send_whole(&base.store).unwrap();
    leading.finish(false).unwrap();
}

/// Waits until a base has the last push.
fn await_head(shared: &Shared, base: &Base) {
    let until = Instant::now() + Duration::from_secs(10);
    let head = shared.upstream.head().unwrap();
    while base.store.replica_state().unwrap().push != head.push && Instant::now() < until {
        base.pull().unwrap();
    }
    assert_eq!(generation(base), head.generation);
}

fn generation(base: &Base) -> u64 {
    base.store.replica_state().unwrap().generation
}

fn writes(base: &Base, count: u32) {
    for round in 0..count {
        base.set_metadata("rivers.md", &numbered(round)).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn after_the_whole_was_taken_in_searches_find_what_comes_later() {
    let shared = Shared::new();
    let (one, two) = (shared.open("one"), shared.open("two"));
    shared.bench.index(&one).await;
    await_equal(&one, &two);
    await_same_hits(&one, &two).await;
    // What searches hold is loaded, and of a late generation.
    for _ in 0..20 {
        two.store.publish_here().unwrap();
    }
    for mode in [Mode::Dense, Mode::Graph, Mode::Bm25] {
        assert!(!hits(&two, mode).await.is_empty(), "{mode:?}");
    }
    let before = two.store.generation().unwrap();
    send_whole(&one);
    await_head(&shared, &two);
    assert!(two.store.generation().unwrap() > before, "it begins again");
    shared.bench.write("lakes.md", "# Lakes\n\nWhich river is Basel on? The Zqlake is near it.\n");
    shared.bench.index(&one).await;
    await_equal(&one, &two);
    await_same_hits(&one, &two).await;
    for mode in [Mode::Dense, Mode::Graph, Mode::Bm25] {
        let ranked = hits(&two, mode).await;
        assert!(ranked.iter().any(|(_, text, _)| text.contains("Zqlake")), "{mode:?}: {ranked:?}");
        assert_eq!(ranked, hits(&one, mode).await, "{mode:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replica_notices_that_the_last_push_was_lost_and_another_took_its_place() {
    for later in 0..3 {
        let shared = Shared::new();
        let one = shared.open("one");
        shared.bench.index(&one).await;
        one.set_metadata("rivers.md", &numbered(1)).unwrap();
        let lost = generation(&one);
        drop(one);
        shared.upstream.lose_last_push();
        let two = shared.open("two");
        // The same number again, or a larger one.
        two.set_metadata("cities.md", &numbered(2)).unwrap();
        assert_eq!(generation(&two), lost);
        for round in 0..later {
            two.set_metadata("cities.md", &numbered(3 + round)).unwrap();
        }
        let one = open_again(&shared, "one").await;
        await_equal(&one, &two);
        assert_eq!(one.metadata("rivers.md").unwrap(), two.metadata("rivers.md").unwrap());
        await_same_hits(&one, &two).await;
        // It goes on from there.
        one.set_metadata("rivers.md", &numbered(9)).unwrap();
        await_equal(&one, &two);
        assert!(one.inspector().verify().unwrap().problems.is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replica_of_a_former_version_goes_on_where_it_was() {
    let shared = Shared::new();
    let (one, two) = (shared.open("one"), shared.open("two"));
    shared.bench.index(&one).await;
    await_equal(&one, &two);
    drop(two);
    let forget = |base: &Base| {
        let forget = |state: &mut ReplicaState| state.push = None;
        base.store.write_here(|writer| writer.change_replica_state(forget)).unwrap();
    };
    let two = open_again(&shared, "two").await;
    forget(&two);
    shared.upstream.take_generations_read();
    two.pull().unwrap();
    // It is known from now on which push it has.
    assert_eq!(two.store.replica_state().unwrap().push, shared.upstream.head().unwrap().push);
    assert!(shared.upstream.take_generations_read().is_empty());
    forget(&one);
    one.set_metadata("rivers.md", &numbered(1)).unwrap();
    await_equal(&one, &two);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replica_whose_state_cannot_be_read_is_filled_again() {
    let shared = Shared::new();
    let (one, two) = (shared.open("one"), shared.open("two"));
    shared.bench.index(&one).await;
    await_equal(&one, &two);
    let damage = |state: &mut ReplicaState| {
        // As it is read then.
        *state = ReplicaState { generation: ReplicaState::NONE, ..ReplicaState::default() };
    };
    two.store.write_here(|writer| writer.change_replica_state(damage)).unwrap();
    await_equal(&one, &two);
    await_same_hits(&one, &two).await;
    two.set_metadata("rivers.md", &numbered(1)).unwrap();
    await_equal(&one, &two);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_whole_is_sent_when_there_is_time_and_who_has_everything_does_not_read_it() {
    let shared = Shared::new();
    let (one, two) = (shared.open("one"), shared.open("two"));
    shared.bench.index(&one).await;
    writes(&one, 520);
    let head = shared.upstream.head().unwrap();
    assert_eq!(head.first, 1, "a write that someone waits for sends the whole");
    let three = shared.open("three");
    await_head(&shared, &two);
    shared.upstream.take_generations_read();
    let leading = one.store.lead(Urgency::Normal).unwrap();
    one.store.replication().unwrap().sum_up(&one.store).unwrap();
    leading.finish(false).unwrap();
    let head = shared.upstream.head().unwrap();
    assert_eq!(head.first, head.generation, "{head:?}");
    for base in [&one, &two, &three] {
        await_head(&shared, base);
    }
    assert!(shared.upstream.take_generations_read().is_empty());
    let four = shared.open("four");
    await_equal(&four, &two);
    four.set_metadata("cities.md", &numbered(1)).unwrap();
    await_equal(&four, &two);
    await_equal(&three, &two);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_whole_with_something_new_is_read_by_all() {
    let shared = Shared::new();
    let (one, two) = (shared.open("one"), shared.open("two"));
    shared.bench.index(&one).await;
    await_equal(&one, &two);
    // As former versions send it.
    let leading = one.store.lead(Urgency::Normal).unwrap();
    one.store.write_here(|writer| writer.set_meta("former", &1_u32)).unwrap();
    one.store.replication().unwrap().send_whole(&one.store).unwrap();
    leading.finish(false).unwrap();
    await_head(&shared, &two);
    assert_eq!(two.store.read(|reader| reader.meta::<u32>("former")).unwrap(), Some(1));
    await_same_hits(&one, &two).await;
}
