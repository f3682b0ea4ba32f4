//! Traces of questions.
use reqwest::Method;
use serde_json::Value;
use std::time::Duration;

use super::support::Space;
use crate::world::{World, good, question};

async fn listed(world: &World, count: usize) -> Vec<Value> {
    for _ in 0..200 {
        let items = world.get_json("/api/v1/traces").await["items"].as_array().unwrap().clone();
        if items.len() == count {
            return items;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("there are not {count} traces");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_of_one_server_is_shown_by_the_other_and_goes_with_its_documents() {
    let Some(space) = Space::new().await else { return };
    let (one, other) = (space.serve().await, space.serve().await);
    let first = one.post_json("/api/v1/ask", &question()).await;
    listed(&other, 1).await;
    let second = other.post_json("/api/v1/ask", &question()).await;
    let ids = |items: &[Value]| items.iter().map(|item| item["id"].clone()).collect::<Vec<_>>();
    let expected = vec![second["id"].clone(), first["id"].clone()];
    for world in [&one, &other] {
        assert_eq!(ids(&listed(world, 2).await), expected);
    }
    let page = other.get_json("/api/v1/traces?limit=1").await;
    let next = page["next"].as_str().unwrap();
    let rest = one.get_json(&format!("/api/v1/traces?limit=1&after={next}")).await;
    assert_eq!(ids(rest["items"].as_array().unwrap()), expected[1..]);
    let path = format!("/api/v1/traces/{}", first["id"].as_str().unwrap());
    let shown = other.get_json(&path).await;
    assert_eq!(shown["answer"], first["answer"]);
    assert!(!space.dump().contains("Orrin"), "traces quote documents");
    // A server that ends loses nothing.
    one.stop().await;
    let third = space.serve().await;
    assert_eq!(third.get_json(&path).await["question"], first["question"]);
    // Deleting the document on one server deletes what quotes it on all.
    let documents = other.get_json("/api/v1/documents").await;
    let items = documents["items"].as_array().unwrap();
    let orrin = items.iter().find(|document| document["name"] == "orrin.md").unwrap();
    let id = orrin["id"].as_str().unwrap();
    let delete = other.request(Method::DELETE, &format!("/api/v1/documents/{id}"));
    assert!(delete.send().await.unwrap().status().is_success());
    listed(&third, 0).await;
    assert_eq!(third.get(&path).await.status(), 404);
    assert_eq!(good(third.get("/api/v1/ready").await).await["database"], true);
    for world in [other, third] {
        world.stop().await;
    }
}
