//! What happens at the same time as something else: deletions, revocations, second servers;
//! and numbers that no one should send.
use std::time::Duration;

use halma_engine::{Config, ModelConfig};
use halma_server::{ApiKeys, Scope, ServeError, ServerLock};
use halma_testkit::double::{Behaviour, Double};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::world::{Setup, World, config, good, new_key, question, until};

/// A model whose replies never come while a test runs.
pub(crate) fn stuck() -> Double {
    Double::start(Behaviour::default().latency(Duration::from_mins(10)))
}

/// A world whose questions and builds ask this model.
pub(crate) async fn asking(double: &Double, library: bool) -> World {
    let mut config = config_with(double);
    if library {
        config.kb.atoms = serde_json::from_value(json!("sentences")).unwrap();
    }
    World::with(Setup { config, library }).await
}

/// A configuration in which this model is asked.
pub(crate) fn config_with(double: &Double) -> Config {
    let mut config = config();
    let model: ModelConfig = serde_json::from_value(json!({
        "url": double.url(), "model": "double", "retries": 0,
        "price": {"prompt": 1.0, "completion": 1.0},
    }))
    .unwrap();
    config.models.insert("main".into(), model);
    config
}

#[tokio::test(flavor = "multi_thread")]
async fn numbers_and_lists_have_bounds() {
    let world = World::start().await;
    let ask = |settings: Value| {
        let mut ask = question();
        ask["settings"] = settings;
        ask
    };
    let patterns = vec!["*a*"; 5_000];
    for (path, body) in [
        ("/api/v1/ask", ask(json!({"mode": "dense", "chunks": 10_000_000_000_u64}))),
        ("/api/v1/ask", ask(json!({"chunks": "18446744073709551615"}))),
        ("/api/v1/ask", ask(json!({"chunks": 501}))),
        ("/api/v1/ask", ask(json!({"mode": "x".repeat(500)}))),
        ("/api/v1/search", json!({"text": "a", "filter": {"documents": patterns}})),
        ("/api/v1/search", json!({"text": "a", "filter": {"tags": ["x".repeat(500)]}})),
        ("/api/v1/ask", json!({"question": "Who?", "options": vec!["a"; 65]})),
        ("/api/v1/ask", json!({"question": "Who?", "budget": {"seconds": -1.0}})),
        ("/api/v1/builds", json!({"uploads": vec!["a"; 10_001]})),
    ] {
        let response = world.post(path, &body).await;
        let status = response.status();
        let text = response.text().await.unwrap();
        let sent = body.to_string();
        assert_eq!(
            status,
            StatusCode::UNPROCESSABLE_ENTITY,
            "{}: {text}",
            &sent[..sent.len().min(90)]
        );
    }
    let long = world.get(&format!("/api/v1/documents?query={}", "x".repeat(2_000))).await;
    assert_eq!(long.status(), 422);
    let large = json!({"text": "a", "limit": u64::MAX});
    assert!(world.post("/api/v1/search", &large).await.status().is_success());
    assert!(world.post("/api/v1/ask", &ask(json!({"chunks": 500}))).await.status().is_success());
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_document_is_deleted_beside_a_build_that_waits_for_a_model() {
    let double = stuck();
    let world = asking(&double, false).await;
    world.upload(&[("a.md", b"# A\n\nOne is in Velby.\n"), ("b.md", b"# B\n\nTwo.\n")]).await;
    let build = world.post_json("/api/v1/builds", &json!({})).await;
    until("a call to the model", || double.in_flight() > 0).await;
    let path = "/api/v1/documents/a.md";
    let deleted =
        tokio::time::timeout(Duration::from_mins(1), world.request(Method::DELETE, path).send());
    let deleted = deleted.await.expect("the deletion waits for the build").unwrap();
    assert_eq!(deleted.status(), 200);
    assert_eq!(world.get(path).await.status(), 404);
    // The build goes on with what is left.
    let path = format!("/api/v1/builds/{}", build["id"].as_str().unwrap());
    assert_eq!(world.get_json(&path).await["state"], "running");
    until("another call", || double.in_flight() > 0).await;
    world.post_json(&format!("{path}/cancel"), &json!({})).await;
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_that_has_become_a_document_is_deleted_by_the_id_of_the_upload() {
    let world = World::with(Setup { config: config(), library: false }).await;
    world.upload(&[("person.md", b"# Person\n\nQuillon Roe lives in Velby.\n")]).await;
    let id = world.get_json("/api/v1/documents").await["items"][0]["id"].clone();
    let path = format!("/api/v1/documents/{}", id.as_str().unwrap());
    let build = world.post_json("/api/v1/builds", &json!({})).await;
    world.wait_for_build(build["id"].as_str().unwrap()).await;
    let deleted = good(world.request(Method::DELETE, &path).send().await.unwrap()).await;
    assert_eq!(deleted["removed"]["document"], 1, "{deleted}");
    let hits = world.post_json("/api/v1/search", &json!({"text": "Quillon Roe"})).await;
    assert_eq!(hits["hits"], json!([]));
    assert!(!world.dir.path().join("files/person.md").exists());
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_that_a_build_is_reading_is_deleted_and_the_build_does_not_store_it() {
    // Calls that are under way go on while a document is deleted, and the build waits for them.
    let slow = Behaviour::replying(|_| "Where is Two?".into()).latency(Duration::from_secs(1));
    let double = Double::start(slow);
    let world = asking(&double, false).await;
    world.upload(&[("a.md", b"# A\n\nOne is in Velby.\n"), ("b.md", b"# B\n\nTwo.\n")]).await;
    let listed = world.get_json("/api/v1/documents").await;
    let id = listed["items"][0]["id"].as_str().unwrap();
    let build = world.post_json("/api/v1/builds", &json!({})).await;
    until("a call to the model", || double.in_flight() > 0).await;
    let path = format!("/api/v1/documents/{id}");
    let deleted = world.request(Method::DELETE, &path).send().await.unwrap();
    assert_eq!(deleted.status(), 200);
    let done = world.wait_for_build(build["id"].as_str().unwrap()).await;
    assert_eq!(done["state"], "done", "{done}");
    let listed = world.get_json("/api/v1/documents").await;
    let names: Vec<&Value> =
        listed["items"].as_array().unwrap().iter().map(|item| &item["name"]).collect();
    assert_eq!(names, ["b.md"], "{listed}");
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn deleting_what_is_not_there_interrupts_no_build() {
    let double = stuck();
    let world = asking(&double, false).await;
    world.upload(&[("a.md", b"# A\n\nOne is in Velby.\n")]).await;
    let build = world.post_json("/api/v1/builds", &json!({})).await;
    until("a call to the model", || double.in_flight() > 0).await;
    let path = format!("/api/v1/builds/{}", build["id"].as_str().unwrap());
    let started = world.get_json(&path).await["started"].clone();
    for id in ["nothing", "upload-0123456789abcdef", "d-0123456789abcdef"] {
        let path = format!("/api/v1/documents/{id}");
        let deleted = world.request(Method::DELETE, &path).send().await.unwrap();
        assert_eq!(deleted.status(), 404, "{id}");
    }
    assert_eq!(world.get_json(&path).await["started"], started);
    world.post_json(&format!("{path}/cancel"), &json!({})).await;
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_of_a_build_that_makes_room_are_counted_once() {
    let double = Double::start(
        Behaviour::replying(|_| "Where is One?".into()).latency(Duration::from_millis(300)),
    );
    let world = asking(&double, false).await;
    let text = |n: usize| format!("# N{n}\n\nNote {n} is in Velby.\n").into_bytes();
    let files: Vec<(String, Vec<u8>)> = (0..6).map(|n| (format!("{n}.md"), text(n))).collect();
    let files: Vec<(&str, &[u8])> = files.iter().map(|(n, t)| (n.as_str(), t.as_slice())).collect();
    world.upload(&files).await;
    let build = world.post_json("/api/v1/builds", &json!({})).await;
    until("a call to the model", || double.in_flight() > 0).await;
    let deleted = world.request(Method::DELETE, "/api/v1/documents/5.md").send().await.unwrap();
    assert_eq!(deleted.status(), 200);
    let done = world.wait_for_build(build["id"].as_str().unwrap()).await;
    assert_eq!(done["state"], "done", "{done}");
    let usage = world.get_json("/api/v1/usage?by=strategy").await;
    let line = usage.as_array().unwrap().iter().find(|line| line["group"] == "index").unwrap();
    assert_eq!(line["calls"], double.chat_calls(), "{usage}");
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn revoking_a_key_stops_its_build_and_what_it_has_cost_is_counted() {
    // The first chunk is done, and the next one never.
    let double = Double::start(Behaviour::replying(|call| {
        if call.last().contains("slow") {
            std::thread::sleep(Duration::from_secs(2));
        }
        "Where is One?".into()
    }));
    let world = asking(&double, false).await;
    let admin = world.key(&Scope::ALL, "default");
    let (kept, key) = ApiKeys::for_base(world.dir.path())
        .create(new_key(&[Scope::Write, Scope::Ask], "default"))
        .unwrap();
    let files: Vec<(String, Vec<u8>)> = (0..60)
        .map(|n| (format!("{n}.md"), format!("# N{n}\n\nNote {n} is slow.\n").into_bytes()))
        .collect();
    let files: Vec<(&str, &[u8])> = files.iter().map(|(n, t)| (n.as_str(), t.as_slice())).collect();
    let (kind, body) = crate::world::form(&files);
    let upload = world.request(Method::POST, "/api/v1/documents").bearer_auth(&key);
    assert!(
        upload.header("content-type", kind).body(body).send().await.unwrap().status().is_success()
    );
    let start = world.request(Method::POST, "/api/v1/builds").bearer_auth(&key).json(&json!({}));
    let build = good(start.send().await.unwrap()).await;
    until("some calls", || double.chat_calls() > 2).await;
    ApiKeys::for_base(world.dir.path()).revoke(&kept.id).unwrap();
    let get = |path: String| world.request(Method::GET, &path).bearer_auth(&admin);
    let path = format!("/api/v1/builds/{}", build["id"].as_str().unwrap());
    let mut ended = Value::Null;
    for _ in 0..400 {
        ended = good(get(path.clone()).send().await.unwrap()).await;
        if ended["state"] != "running" {
            break;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    assert_eq!(ended["state"], "cancelled", "{ended}");
    assert!(ended["error"].as_str().unwrap().contains("revoked"), "{ended}");
    let usage = good(get("/api/v1/usage?by=key".into()).send().await.unwrap()).await;
    let line = usage.as_array().unwrap().iter().find(|line| line["group"] == kept.id.as_str());
    let line = line.unwrap_or_else(|| panic!("{usage}"));
    assert!(line["calls"].as_u64().unwrap() > 0, "{usage}");
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_prompt_never_reaches_the_disk() {
    let world = World::start().await;
    let file = world.dir.path().join("prompts/naive/answer.md");
    let put = |text: &str| {
        world
            .request(Method::PUT, "/api/v1/prompts/naive/answer")
            .json(&json!({"text": text}))
            .send()
    };
    let shipped = world.get_json("/api/v1/prompts/naive/answer").await["text"].clone();
    let valid = format!("{}\nBe brief.\n", shipped.as_str().unwrap().trim_end());
    assert_eq!(put("{{ nothing }}").await.unwrap().status(), 422);
    assert!(!file.exists() && !file.parent().unwrap().exists());
    assert_eq!(put(&valid).await.unwrap().status(), 200);
    assert_eq!(put("---\n").await.unwrap().status(), 422);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), valid);
    let changed = world.get_json("/api/v1/prompts/naive/answer").await;
    assert_eq!(changed["text"], valid.as_str());
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_server_of_one_base_is_refused() {
    let world = World::start().await;
    let refused = ServerLock::take(world.dir.path()).err().unwrap();
    assert!(matches!(refused, ServeError::InUse { .. }), "{refused}");
    let dir = world.stop().await;
    World::over(dir, Setup::default()).await.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_follows_the_one_before_when_its_last_document_is_gone() {
    let world = &World::start().await;
    let files: &[(&str, &[u8])] =
        &[("a.md", b"# A\n\nOne."), ("b.md", b"# B\n\nTwo."), ("c.md", b"# C\n\nThree.")];
    world.upload(files).await;
    let page = |after: &Value| {
        let after = after.as_str().map(|next| format!("&after={next}")).unwrap_or_default();
        let path = format!("/api/v1/documents?limit=1{after}");
        async move { world.get_json(&path).await }
    };
    let name = |page: &Value| page["items"][0]["name"].as_str().unwrap().to_owned();
    let first = page(&Value::Null).await;
    let second = page(&first["next"]).await;
    assert_eq!((name(&first), name(&second)), ("a.md".into(), "b.md".into()));
    // The upload that the next page begins after is gone.
    let id = second["items"][0]["id"].as_str().unwrap();
    let gone =
        world.request(Method::DELETE, &format!("/api/v1/documents/{id}")).send().await.unwrap();
    assert!(gone.status().is_success());
    let third = page(&second["next"]).await;
    assert_eq!(name(&third), "c.md");
    let fourth = page(&third["next"]).await;
    assert_eq!(name(&fourth), "orrin.md");
    let gone = world.request(Method::DELETE, "/api/v1/documents/orrin.md").send().await.unwrap();
    assert!(gone.status().is_success());
    assert_eq!(name(&page(&fourth["next"]).await), "people/tarrant.md");
}
