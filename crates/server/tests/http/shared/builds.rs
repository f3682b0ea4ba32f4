//! Uploads and builds.
use std::time::Duration;

use halma_engine::{Config, ModelConfig};
use halma_testkit::double::{Behaviour, Double, atomizer};
use reqwest::Method;
use serde_json::{Value, json};

use super::settings::soon_ready;
use super::support::Space;
use crate::world::{World, config, form, good, until};

const DOCUMENTS: usize = 40;

/// A configuration whose builds ask this model once for each document.
pub(crate) fn building_with(double: &Double) -> Config {
    let mut config = config();
    let model = json!({"url": double.url(), "model": "writer", "retries": 0, "concurrency": 4});
    let model: ModelConfig = serde_json::from_value(model).unwrap();
    config.models.insert("main".into(), model);
    config
}

/// Starts a build of documents in a workspace, and returns its id when some of it is done.
pub(crate) async fn begin_build(world: &World, key: &str, double: &Double) -> String {
    let text = |n| format!("# Light {n}\n\nLight {n} was lit in {}.\n", 1800 + n);
    let files: Vec<_> = (0..DOCUMENTS).map(|n| (format!("{n:02}.md"), text(n))).collect();
    let files: Vec<_> = files.iter().map(|(name, text)| (name.as_str(), text.as_bytes())).collect();
    let (kind, body) = form(&files);
    let upload = world.request(Method::POST, "/api/v1/documents").bearer_auth(key);
    good(upload.header("content-type", kind).body(body).send().await.unwrap()).await;
    let before = double.chat_calls();
    double.set(Behaviour::with(atomizer()).latency(Duration::from_millis(400)));
    let start = world.request(Method::POST, "/api/v1/builds").bearer_auth(key);
    let build = good(start.json(&json!({})).send().await.unwrap()).await;
    until("a call to the model", || double.chat_calls() > before).await;
    build["id"].as_str().unwrap().to_owned()
}

/// Waits until all documents were asked about, without any request to a server.
pub(crate) async fn until_asked(double: &Double, before: usize) {
    for _ in 0..1200 {
        if double.chat_calls() >= before + DOCUMENTS {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("no server continues the build: {} calls", double.chat_calls());
}

pub(crate) async fn until_done(world: &World, key: &str, id: &str) {
    for _ in 0..400 {
        let request = world.request(Method::GET, &format!("/api/v1/builds/{id}"));
        let build = good(request.bearer_auth(key).send().await.unwrap()).await;
        if build["state"] == "done" {
            return;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("the build is not done");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_build_of_a_workspace_is_continued_by_a_server_that_has_never_opened_it() {
    let double = Double::start(Behaviour::with(atomizer()));
    let Some(space) = Space::with(building_with(&double)).await else { return };
    let (one, other) = (space.serve().await, space.serve().await);
    one.post_json("/api/v1/workspaces", &json!({"name": "law"})).await;
    let key = space.key_for("law");
    soon_ready(&one, &key).await;
    let before = double.chat_calls();
    let id = begin_build(&one, &key, &double).await;
    let replica = other.dir.path().join("workspaces/law");
    assert!(!replica.exists(), "while one builds it no other one fills a replica");
    one.stop().await;
    until_asked(&double, before).await;
    assert!(replica.is_dir());
    until_done(&other, &key, &id).await;
    // Nothing is left to be done for one that starts now.
    other.stop().await;
    let third = space.serve().await;
    tokio::time::timeout(Duration::from_secs(30), async {
        while space.waiting_workspaces() > 0 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    })
    .await
    .expect("the workspace is still marked");
    third.stop().await;
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
    // What one is asked to make again any of them makes again.
    let build = one.post_json("/api/v1/builds", &json!({"rebuild": ["entities"]})).await;
    let rebuilt = until_pair(&other, build["id"].as_str().unwrap(), "done").await;
    assert_eq!(rebuilt["rebuild"], json!(["entities"]));
    until_pair(&one, build["id"].as_str().unwrap(), "done").await;
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
