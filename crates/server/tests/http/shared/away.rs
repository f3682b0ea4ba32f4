//! The database is away.
use std::time::{Duration, Instant};

use reqwest::Method;

use super::support::Space;

/// How soon a deletion is refused.
const REFUSED_WITHIN: Duration = Duration::from_secs(3);

#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_is_refused_soon_while_the_database_is_away_and_done_when_it_is_back() {
    let Some(space) = Space::apart().await else { return };
    let world = space.serve().await;
    let documents = world.get_json("/api/v1/documents").await;
    let id = documents["items"][0]["id"].as_str().unwrap().to_owned();
    let delete = || world.request(Method::DELETE, &format!("/api/v1/documents/{id}")).send();
    tokio::task::block_in_place(|| space.server().kill());
    // Also while the replica looks for what others wrote.
    for pause in [0, 700, 1_500] {
        tokio::time::sleep(Duration::from_millis(pause)).await;
        let began = Instant::now();
        let refused = delete().await.unwrap();
        let elapsed = began.elapsed();
        assert_eq!(refused.status(), 503);
        assert!(elapsed < REFUSED_WITHIN, "after {elapsed:?}");
    }
    tokio::task::block_in_place(|| space.server().restart());
    let began = Instant::now();
    while !delete().await.unwrap().status().is_success() {
        assert!(began.elapsed() < Duration::from_secs(30), "it is not deleted");
    }
    assert_eq!(world.get(&format!("/api/v1/documents/{id}")).await.status(), 404);
    world.stop().await;
}
