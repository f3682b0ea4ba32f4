//! Servers that have few workspaces open, of a base that they share.
use reqwest::Method;
use serde_json::{Value, json};

use super::support::Space;
use crate::operations::idle::{NAMES, bounded, build, note, send, upload};
use crate::world::config;

#[tokio::test(flavor = "multi_thread")]
async fn each_server_closes_workspaces_and_opens_them_again_whichever_changed_them() {
    let mut config = config();
    config.serve.open_workspaces = 1;
    let Some(space) = Space::with(config).await else { return };
    let worlds = [space.serve().await, space.serve().await];
    let names = &NAMES[..3];
    for name in names {
        worlds[0].post_json("/api/v1/workspaces", &json!({"name": name})).await;
    }
    for round in 0..2 {
        for (n, name) in names.iter().enumerate() {
            let world = &worlds[(n + round) % 2];
            upload(world, name, &format!("note-{round}.md"), &note(&round.to_string(), name)).await;
            build(world, name).await;
            bounded(world, name, 1).await;
        }
    }
    for (world, name) in worlds.iter().flat_map(|world| names.iter().map(move |name| (world, name)))
    {
        let get = (Method::GET, "/api/v1/documents?state=indexed");
        let listed = send(world, name, get, Value::Null).await;
        assert_eq!(listed["items"].as_array().unwrap().len(), 2, "{name}: {listed}");
        let search = (Method::POST, "/api/v1/search");
        let hits = send(world, name, search, json!({"text": "Which word does it name?"})).await;
        let hits = hits["hits"].to_string();
        assert!(hits.contains(&format!("word of {name}")), "{name}: {hits}");
        bounded(world, name, 1).await;
    }
    for world in worlds {
        world.stop().await;
    }
}
