//! Uploads and builds.
use std::time::Duration;

use serde_json::{Value, json};

use super::support::Space;
use crate::world::World;

async fn until_pair(world: &World, id: &str, state: &str) -> Value {
    for _ in 0..400 {
        let build = world.get_json(&format!("/api/v1/builds/{id}")).await;
        if build["state"] == state {
            return build;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("the build is not {state}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_uploaded_to_one_server_is_built_once_and_shown_by_all() {
    let Some(space) = Space::new().await else { return };
    let (one, other) = (space.serve().await, space.serve().await);
    let text = "# Skell Light\n\nSkell Light was designed by Bo Varr.\n";
    one.upload(&[("skell.md", text.as_bytes())]).await;
    // The next request reaches the other server.
    let build = other.post_json("/api/v1/builds", &json!({"uploads": ["skell.md"]})).await;
    let id = build["id"].as_str().unwrap();
    let ended = until_pair(&one, id, "done").await;
    assert_eq!(ended["report"], until_pair(&other, id, "done").await["report"]);
    for world in [&one, &other] {
        let list = world.get_json("/api/v1/builds").await;
        assert_eq!(list["items"].as_array().unwrap().len(), 1, "{list}");
        let documents = world.get_json("/api/v1/documents").await.to_string();
        assert!(documents.contains("skell.md"), "{documents}");
        let file = world.get("/api/v1/documents/skell.md/file").await;
        assert_eq!(file.text().await.unwrap(), text);
    }
    assert!(!space.dump().contains("skell"), "builds name documents");
    // Of many builds that are started on both none is done twice and none is lost.
    let mut ids = vec![];
    for n in 0..3 {
        let world = if n % 2 == 0 { &one } else { &other };
        let build = world.post_json("/api/v1/builds", &json!({})).await;
        ids.push(build["id"].as_str().unwrap().to_owned());
    }
    for id in &ids {
        until_pair(&one, id, "done").await;
        until_pair(&other, id, "done").await;
    }
    one.stop().await;
    other.stop().await;
}
