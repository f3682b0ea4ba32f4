//! The lexical indexes of a replica when what takes in ends before they are brought up to date.
use std::sync::Arc;
use std::time::{Duration, Instant};

use halma_core::Mode;

use super::{Shared, await_equal, await_same_hits, hits, numbered, open_again};
use crate::Upstream;
use crate::base::sample_base::count_bytes;
use crate::store::replica::Replication;
use crate::store::{Store, Urgency};

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_is_killed_while_it_takes_in_the_whole_leaves_no_word_of_a_deleted_document()
{
    let shared = Shared::new();
    let (one, two) = (shared.open("one"), shared.open("two"));
    shared.bench.index(&one).await;
    await_equal(&one, &two);
    await_same_hits(&one, &two).await;
    drop(two);
    // Closed.
    drop(open_again(&shared, "two").await);
    one.delete(&["cities.md".into()]).unwrap();
    let leading = one.store.lead(Urgency::Normal).unwrap();
    one.store.replication().unwrap().send_whole(&one.store).unwrap();
    leading.finish(false).unwrap();
    let folder = shared.replica("two");
    let upstream: Arc<dyn Upstream> = Arc::clone(&shared.upstream) as _;
    let replication = Arc::new(Replication::new(&folder, upstream, &shared.keys()));
    let until = Instant::now() + Duration::from_secs(10);
    let store = loop {
        match Store::open_replica(&folder.join("store"), &replication) {
            Err(_) if Instant::now() < until => tokio::time::sleep(Duration::from_millis(20)).await,
            opened => break opened.unwrap(),
        }
    };
    assert!(replication.pull(&store).unwrap());
    assert!(store.replica_state().unwrap().has_stale_indexes);
    drop((store, replication));
    let two = open_again(&shared, "two").await;
    await_equal(&one, &two);
    assert_eq!(count_bytes(&folder, b"Zqcity") + count_bytes(&folder, b"zqcity"), 0);
    let verified = two.inspector().verify().unwrap();
    assert!(verified.problems.is_empty(), "{:?}", verified.problems);
    await_same_hits(&one, &two).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_write_takes_in_on_its_way_is_found_by_its_words() {
    let shared = Shared::new();
    let (one, two) = (shared.open("one"), shared.open("two"));
    shared.bench.index(&one).await;
    await_equal(&one, &two);
    for round in 0..8_u32 {
        let word = format!("Zqlake{round}");
        shared
            .bench
            .write(&format!("lake{round}.md"), format!("# Lakes\n\nThe {word} of Basel.\n"));
        shared.bench.index(&two).await;
        // Before it looks by itself.
        one.set_metadata("rivers.md", &numbered(round)).unwrap();
        let finds =
            async || hits(&one, Mode::Bm25).await.iter().any(|(_, text, _)| text.contains(&word));
        let until = Instant::now() + Duration::from_secs(10);
        while !finds().await && Instant::now() < until {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert!(finds().await, "{word}");
    }
}
