//! Prompts, roles of models, and workspaces.
use std::time::{Duration, Instant};

use halma_engine::ModelConfig;
use reqwest::Method;
use serde_json::{Value, json};

use super::support::Space;
use crate::world::{World, config, good, question};

const PROMPT: &str = "/api/v1/prompts/naive/answer";
const WORKSPACES: &str = "/api/v1/workspaces";

/// What a server says of a path as soon as it is as expected, which takes two seconds at most.
async fn soon(world: &World, path: &str, expected: impl Fn(&Value) -> bool) -> Value {
    let began = Instant::now();
    loop {
        let value = world.get_json(path).await;
        if expected(&value) {
            return value;
        }
        assert!(began.elapsed() < Duration::from_secs(10), "{path}: {value}");
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
}

async fn put(world: &World, path: &str, body: &Value) -> Value {
    good(world.request(Method::PUT, path).json(body).send().await.unwrap()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prompt_that_is_changed_on_one_server_is_used_by_all() {
    let Some(space) = Space::new().await else { return };
    let (one, other) = (space.serve().await, space.serve().await);
    let shipped = one.get_json(PROMPT).await;
    let text = format!("{}\nWrite it like a pelican.\n", shipped["text"].as_str().unwrap());
    let changed = put(&one, PROMPT, &json!({"text": text})).await;
    assert_eq!((&changed["changed"], &changed["text"]), (&json!(true), &json!(text)));
    let there = soon(&other, PROMPT, |prompt| prompt["changed"] == true).await;
    assert_eq!(there["hash"], changed["hash"]);
    assert_ne!(there["hash"], shipped["hash"]);
    // One that is not valid is refused and changes nothing anywhere.
    let bad = other.request(Method::PUT, PROMPT).json(&json!({"text": "{{ nothing }}"}));
    assert_eq!(bad.send().await.unwrap().status(), 422);
    assert!(!space.dump().contains("pelican"), "it is sealed");
    // A server that starts later, and one that starts again, have it as well.
    let third = space.serve().await;
    assert_eq!(third.get_json(PROMPT).await["text"], json!(text));
    let restored = other.request(Method::DELETE, PROMPT).send().await.unwrap();
    assert_eq!(good(restored).await["changed"], false);
    for world in [&one, &third] {
        let there = soon(world, PROMPT, |prompt| prompt["changed"] == false).await;
        assert_eq!(there["hash"], shipped["hash"]);
    }
    for world in [one, other, third] {
        world.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_role_that_is_assigned_on_one_server_is_assigned_on_all() {
    let mut config = config();
    let model = json!({"url": "http://127.0.0.1:9/v1", "model": "m"});
    let model: ModelConfig = serde_json::from_value(model).unwrap();
    config.models.insert("far".into(), model);
    config.roles.insert("default".into(), "extractive".into());
    let Some(space) = Space::with(config).await else { return };
    let (one, other) = (space.serve().await, space.serve().await);
    let roles = json!({"roles": {"judge": "far"}});
    assert_eq!(put(&one, "/api/v1/models/roles", &roles).await["roles"]["judge"], "far");
    // Both change something at the same time.
    let prompt = other.get_json(PROMPT).await["text"].as_str().unwrap().to_owned() + "\n";
    let (prompt, roles) = (json!({"text": prompt}), json!({"roles": {"planner": "far"}}));
    tokio::join!(put(&other, PROMPT, &prompt), put(&one, "/api/v1/models/roles", &roles));
    for world in [&one, &other] {
        let both = |all: &Value| all["roles"]["judge"] == "far" && all["roles"]["planner"] == "far";
        soon(world, "/api/v1/models", both).await;
        soon(world, PROMPT, |prompt| prompt["changed"] == true).await;
    }
    for world in [one, other] {
        world.stop().await;
    }
}

fn names(list: &Value) -> Vec<&str> {
    list["items"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workspace_is_made_and_removed_for_all_servers() {
    let Some(space) = Space::new().await else { return };
    let (one, other) = (space.serve().await, space.serve().await);
    one.post_json(WORKSPACES, &json!({"name": "law"})).await;
    soon(&other, WORKSPACES, |list| names(list) == ["default", "law"]).await;
    assert_eq!(other.post(WORKSPACES, &json!({"name": "law"})).await.status(), 409);
    // What the one adds the other finds.
    let key = space.key_for("law");
    let as_key = |world: &World, method, path: &str| world.request(method, path).bearer_auth(&key);
    soon_ready(&one, &key).await;
    let (kind, body) = crate::world::form(&[("quill.md", b"# Quill\n\nQuill was lit in 1904.\n")]);
    let upload = as_key(&one, Method::POST, "/api/v1/documents");
    good(upload.header("content-type", kind).body(body).send().await.unwrap()).await;
    let build =
        good(as_key(&one, Method::POST, "/api/v1/builds").json(&json!({})).send().await.unwrap());
    assert!(build.await["id"].is_string());
    soon_ready(&other, &key).await;
    let listed = async |world: &World| {
        let documents = as_key(world, Method::GET, "/api/v1/documents").send().await.unwrap();
        good(documents).await["items"].as_array().unwrap().len()
    };
    for world in [&one, &other] {
        let began = Instant::now();
        while listed(world).await == 0 {
            assert!(began.elapsed() < Duration::from_secs(20), "the document is not indexed");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
    assert!(space.rows_of_others() > 0 && space.keys_of("law").is_dir());
    assert!(other.dir.path().join("workspaces/law").is_dir());
    // Removed on the other, it is gone from the database, from the folder of keys and from both.
    let admin = space.key_for("default");
    for world in [&one, &other] {
        soon_ready(world, &admin).await;
    }
    let gone = other.request(Method::DELETE, &format!("{WORKSPACES}/law")).bearer_auth(&admin);
    assert_eq!(gone.send().await.unwrap().status(), 204);
    let ask = async |world: &World| {
        let ask = as_key(world, Method::POST, "/api/v1/ask").json(&question());
        ask.send().await.unwrap().status().as_u16()
    };
    let status = ask(&other).await;
    assert!([401, 403, 404].contains(&status), "{status}");
    assert_eq!(space.rows_of_others(), 0);
    assert!(!space.keys_of("law").exists());
    assert!(!other.dir.path().join("workspaces/law").exists());
    let began = Instant::now();
    while one.dir.path().join("workspaces/law").exists() {
        assert!(began.elapsed() < Duration::from_secs(10), "the replica stays");
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    let status = ask(&one).await;
    assert!([401, 403, 404].contains(&status), "{status}");
    // The name can be used at once, and nothing of before is there.
    let again = one.request(Method::POST, WORKSPACES).bearer_auth(&admin);
    let again = good(again.json(&json!({"name": "law"})).send().await.unwrap()).await;
    assert_eq!(again["documents"], 0);
    // What a server still wrote that had not heard of the removal is removed a little later.
    std::fs::create_dir_all(space.keys_of("law")).unwrap();
    std::fs::write(space.keys_of("law").join("late"), "late").unwrap();
    let began = Instant::now();
    while space.keys_of("law").exists() {
        assert!(began.elapsed() < Duration::from_mins(1), "what came late stays");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert!(space.keys_of("law~2").is_dir() && space.rows_of_others() > 0);
    for world in [one, other] {
        world.stop().await;
    }
}

pub(crate) async fn soon_ready(world: &World, key: &str) {
    let began = Instant::now();
    loop {
        let me = world.request(Method::GET, "/api/v1/me").bearer_auth(key).send().await.unwrap();
        // A server that has not heard of any key yet takes requests without one.
        if me.status() == 200 && me.json::<Value>().await.unwrap()["keys_required"] == true {
            return;
        }
        assert!(began.elapsed() < Duration::from_secs(10), "the key is not known");
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
}
