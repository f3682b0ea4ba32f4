//! The log as it changes below a replica: it is sent as a whole, or loses its end.
use halma_core::Mode;

use super::{Shared, await_equal, await_same_hits, hits};
use crate::Base;
use crate::store::Urgency;

fn send_whole(base: &Base) {
    let leading = base.store.lead(Urgency::Normal).unwrap();
    base.store.replication().unwrap().send_whole(&base.store).unwrap();
    leading.finish(false).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn after_the_whole_was_taken_in_searches_find_what_comes_later() {
    let shared = Shared::new();
    let (one, two) = (shared.open("one"), shared.open("two"));
    shared.bench.index(&one).await;
    await_equal(&one, &two);
    // What searches hold is loaded, and of a late generation.
    for _ in 0..20 {
        two.store.publish_here().unwrap();
    }
    for mode in [Mode::Dense, Mode::Graph, Mode::Bm25] {
        assert!(!hits(&two, mode).await.is_empty(), "{mode:?}");
    }
    let before = two.store.generation().unwrap();
    send_whole(&one);
    await_equal(&one, &two);
    assert!(two.store.generation().unwrap() > before, "it begins again");
    shared.bench.write("lakes.md", "# Lakes\n\nWhich river is Basel on? The Zqlake is near it.\n");
    shared.bench.index(&one).await;
    await_equal(&one, &two);
    await_same_hits(&one, &two).await;
    for mode in [Mode::Dense, Mode::Graph, Mode::Bm25] {
        let found = hits(&two, mode).await;
        assert!(found.iter().any(|(_, text, _)| text.contains("Zqlake")), "{mode:?}: {found:?}");
        assert_eq!(found, hits(&one, mode).await, "{mode:?}");
    }
}
