//! Entries with versions, and caps that hold over all programs.
use halma_store::{Cap, Spent};

use crate::support::Test;

#[tokio::test(flavor = "multi_thread")]
async fn entries_are_written_only_in_the_version_that_was_read() {
    let Some(test) = Test::new().await else { return };
    let states = test.home.states();
    let first = states.put("key", "a", 0, b"one").await.unwrap().unwrap();
    assert_eq!(states.put("key", "a", 0, b"again").await.unwrap(), None);
    let second = states.put("key", "a", first, b"two").await.unwrap().unwrap();
    assert!(second > first);
    assert_eq!(states.put("key", "a", first, b"late").await.unwrap(), None);
    assert_eq!(states.put("key", "b", 5, b"not there").await.unwrap(), None);
    let entry = states.get("key", "a").await.unwrap().unwrap();
    assert_eq!((entry.version, entry.bytes.as_deref()), (second, Some(b"two".as_slice())));
    assert!(states.get("build", "a").await.unwrap().is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_are_listed_with_what_was_deleted() {
    let Some(test) = Test::new().await else { return };
    let states = test.home.states();
    let a = states.put("key", "a", 0, b"a").await.unwrap().unwrap();
    let b = states.put("key", "b", 0, b"b").await.unwrap().unwrap();
    assert!(!states.delete("key", "a", b).await.unwrap());
    assert!(states.delete("key", "a", a).await.unwrap());
    assert!(!states.delete("key", "c", 0).await.unwrap());
    let changed = test.another().await.states().changed_since("key", a).await.unwrap();
    let ids: Vec<_> = changed.iter().map(|e| (e.id.as_str(), e.bytes.is_some())).collect();
    assert_eq!(ids, [("b", true), ("a", false)]);
    assert_eq!(states.list("key").await.unwrap().len(), 1);
    assert!(states.get("key", "a").await.unwrap().is_none());
    // An id may be used again.
    assert!(states.put("key", "a", 0, b"new").await.unwrap().is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn marks_change_with_every_entry_of_their_kind() {
    let Some(test) = Test::new().await else { return };
    assert_eq!(test.home.versions().await.unwrap(), halma_store::pg::Versions::default());
    let states = test.home.states();
    let version = states.put("key", "a", 0, b"a").await.unwrap().unwrap();
    let another = test.another().await;
    let before = another.versions().await.unwrap();
    assert_eq!(before.versions, [("key".to_owned(), version)].into());
    states.delete("key", "a", version).await.unwrap();
    states.put("build", "a", 0, b"a").await.unwrap().unwrap();
    let after = another.versions().await.unwrap();
    assert!(after.versions["key"] > version && after.versions["build"] > 0, "{after:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_of_changes_misses_none() {
    let Some(test) = Test::new().await else { return };
    let writers: Vec<_> = (0..4)
        .map(|writer| {
            let states = test.home.states();
            tokio::spawn(async move {
                for n in 0..25 {
                    let id = format!("{writer}-{n}");
                    states.put("key", &id, 0, b"x").await.unwrap().unwrap();
                }
            })
        })
        .collect();
    let states = test.another().await.states();
    let (mut version, mut seen) = (0, 0);
    while seen < 100 {
        let changed = states.changed_since("key", version).await.unwrap();
        seen += changed.len();
        version = changed.last().map_or(version, |entry| entry.version);
    }
    for writer in writers {
        writer.await.unwrap();
    }
    assert_eq!((seen, states.list("key").await.unwrap().len()), (100, 100));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cap_is_not_overspent_together() {
    let Some(test) = Test::new().await else { return };
    let cap = Cap { calls: 10, ..Cap::UNLIMITED };
    let one = Spent { calls: 1, prompt_tokens: 100, cost_micros: 5, ..Spent::default() };
    let mut tasks = vec![];
    for _ in 0..8 {
        let usage = test.another().await.usage();
        tasks.push(tokio::spawn(async move {
            let mut added = 0;
            for _ in 0..3 {
                added += i64::from(usage.add("key", 20_000, one, cap).await.unwrap());
            }
            added
        }));
    }
    let mut added = 0;
    for task in tasks {
        added += task.await.unwrap();
    }
    assert_eq!(added, 10);
    let usage = test.home.usage();
    let spent = Spent { calls: 10, prompt_tokens: 1_000, cost_micros: 50, ..Spent::default() };
    assert_eq!(usage.spent("key", 20_000).await.unwrap(), spent);
    assert_eq!(usage.spent("key", 20_001).await.unwrap(), Spent::default());
    // What was reserved and not used is given back, whatever the cap.
    let back = Spent { calls: -1, prompt_tokens: -100, cost_micros: -5, ..Spent::default() };
    assert!(usage.add("key", 20_000, back, Cap { calls: 0, cost_micros: 0 }).await.unwrap());
    assert!(usage.add("key", 20_000, one, cap).await.unwrap());
    let large = Spent { calls: 11, ..Spent::default() };
    assert!(!usage.add("other", 20_000, large, cap).await.unwrap());
}
