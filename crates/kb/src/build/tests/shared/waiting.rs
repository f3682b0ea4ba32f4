//! What a machine sees of the others while it waits for its turn to write.
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use halma_core::Mode;

use super::{Shared, await_equal, hits, numbered};
use crate::Base;
use crate::base::WriterLock;
use crate::store::Urgency;

/// A write that waits for the lease as long as another machine has it.
fn wait_for_lease(base: &Arc<Base>) -> (Arc<AtomicBool>, std::thread::JoinHandle<()>) {
    let has_lease = Arc::new(AtomicBool::new(false));
    let (base, flag) = (Arc::clone(base), Arc::clone(&has_lease));
    // As a build does: it has the lock of the indexes already.
    let waiting = std::thread::spawn(move || {
        let lock = WriterLock::take(&base.dir).unwrap();
        let _lock = lock.leading(&base.store, Urgency::Normal).unwrap();
        flag.store(true, Ordering::SeqCst);
    });
    (has_lease, waiting)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_machine_that_waits_for_the_lease_follows_what_the_one_that_has_it_publishes() {
    let shared = Shared::new();
    let (one, two) = (shared.open("one"), shared.open("two"));
    shared.bench.index(&one).await;
    await_equal(&one, &two);
    let building = one.store.lead(Urgency::Normal).unwrap();
    let (has_lease, waiting) = wait_for_lease(&two);
    // Another write of that machine waits as well, without the lock.
    let writer = Arc::clone(&two);
    let write = std::thread::spawn(move || writer.set_metadata("rivers.md", &numbered(99)));
    for round in 0..3_u32 {
        let name = format!("lake{round}.md");
        shared.bench.write(&name, format!("# Lakes\n\nThe Zqlake{round} is near Basel.\n"));
        shared.bench.index(&one).await;
        one.set_metadata("cities.md", &numbered(round)).unwrap();
        let until = Instant::now() + Duration::from_secs(10);
        let word = format!("Zqlake{round}");
        let finds =
            async || hits(&two, Mode::Bm25).await.iter().any(|(_, text, _)| text.contains(&word));
        while !finds().await && Instant::now() < until {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert!(finds().await, "{round}: not found while the machine waits");
        assert!(!has_lease.load(Ordering::SeqCst));
    }
    building.finish(true).unwrap();
    let joined = tokio::task::spawn_blocking(move || {
        waiting.join().unwrap();
        write.join().unwrap()
    });
    joined.await.unwrap().unwrap();
    assert!(has_lease.load(Ordering::SeqCst));
    await_equal(&one, &two);
    assert_eq!(one.metadata("rivers.md").unwrap(), Some(numbered(99)));
    for base in [&one, &two] {
        assert!(base.inspector().verify().unwrap().problems.is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn machines_that_write_and_take_in_at_once_never_wait_for_each_other_in_a_circle() {
    let shared = Shared::new();
    let (one, two) = (shared.open("one"), shared.open("two"));
    shared.bench.index(&one).await;
    await_equal(&one, &two);
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writers: Vec<_> = [(&one, "rivers.md"), (&two, "cities.md")]
            .into_iter()
            .flat_map(|(base, name)| {
                let alone = scope.spawn(move || {
                    for round in 0..30 {
                        base.set_metadata(name, &numbered(round)).unwrap();
                    }
                });
                let with_indexes = scope.spawn(move || {
                    for _ in 0..30 {
                        let lock = WriterLock::take(&base.dir).unwrap();
                        drop(lock.leading(&base.store, Urgency::Normal).unwrap());
                    }
                });
                [alone, with_indexes]
            })
            .collect();
        for base in [&one, &two] {
            scope.spawn(|| {
                while !over.load(Ordering::SeqCst) {
                    base.pull().unwrap();
                }
            });
        }
        for writer in writers {
            writer.join().unwrap();
        }
        over.store(true, Ordering::SeqCst);
    });
    await_equal(&one, &two);
    let last = Some(numbered(29));
    assert_eq!(
        (one.metadata("cities.md").unwrap(), one.metadata("rivers.md").unwrap()),
        (last.clone(), last)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_build_that_waits_asks_urgently_while_a_deletion_on_its_machine_waits_for_it() {
    type Write = fn(&Base);
    let delete: Write = |base| drop(base.delete(&["cities.md".into()]).unwrap());
    let set_metadata: Write = |base| drop(base.set_metadata("rivers.md", &numbered(5)).unwrap());
    for write in [delete, set_metadata] {
        let shared = Shared::new();
        let (one, two) = (shared.open("one"), shared.open("two"));
        shared.bench.index(&one).await;
        await_equal(&one, &two);
        let building = one.store.lead(Urgency::Normal).unwrap();
        let (has_lease, waiting) = wait_for_lease(&two);
        let until = Instant::now() + Duration::from_secs(10);
        let is_waiting = || two.store.replication().unwrap().lends_replica();
        while !is_waiting() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(is_waiting() && !shared.upstream.has_urgent());
        std::thread::scope(|scope| {
            let other = scope.spawn(|| write(&two));
            while !shared.upstream.has_urgent() && Instant::now() < until {
                std::thread::sleep(Duration::from_millis(5));
            }
            let is_urgent = shared.upstream.has_urgent();
            building.finish(true).unwrap();
            other.join().unwrap();
            assert!(is_urgent, "the other machine does not hear of it");
        });
        waiting.join().unwrap();
        assert!(has_lease.load(Ordering::SeqCst));
        await_equal(&one, &two);
    }
}
