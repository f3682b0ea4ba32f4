//! Builds: paused, resumed, cancelled, continued after a restart.
use std::time::Duration;

use halma_engine::BaseState;
use halma_server::Scope;
use halma_testkit::double::{Behaviour, Double, atomizer};
use serde_json::{Value, json};

use crate::holding::config_with;
use crate::shared::builds::{begin_build, building_with, until_asked, until_done};
use crate::shared::settings::soon_ready;
use crate::world::{Setup, World, config, until};

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_build_continues_after_a_restart() {
    let world = World::with(Setup { config: config(), library: false }).await;
    world.upload(&[("a.md", b"# A\n\nOne is in Velby.\n")]).await;
    let dir = world.stop().await;
    // As a killed server leaves it.
    let build = json!({"id": "019abc", "state": "running", "uploads": null, "key": null,
        "created": "2026-11-20T10:00:00Z", "started": "2026-11-20T10:00:01Z", "finished": null,
        "report": null, "error": null});
    let builds = BaseState::of_folder(dir.path()).entries("build");
    builds.put("019abc", 0, build.to_string().as_bytes()).unwrap();
    let world = World::over(dir, Setup { config: config(), library: false }).await;
    let done = world.wait_for_build("019abc").await;
    assert_eq!((&done["state"], &done["report"]["documents_new"]), (&json!("done"), &json!(1)));
    let listed = world.get_json("/api/v1/documents").await;
    assert_eq!(listed["items"][0]["state"], "indexed");
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn builds_run_one_after_the_other_and_can_be_stopped() {
    let world = World::with(Setup { config: config(), library: false }).await;
    let files: Vec<(String, Vec<u8>)> = (0..40)
        .map(|n| {
            let text =
                format!("# Note {n}\n\n{}\n", format!("Light {n} is in Velby. ").repeat(200));
            (format!("note{n:02}.md"), text.into_bytes())
        })
        .collect();
    let files: Vec<(&str, &[u8])> =
        files.iter().map(|(name, text)| (name.as_str(), text.as_slice())).collect();
    world.upload(&files).await;
    // A client that had no file accepted does not ask for everything.
    for path in ["/api/v1/builds", "/api/v1/builds/estimate"] {
        assert_eq!(world.post(path, &json!({"uploads": []})).await.status(), 422, "{path}");
    }
    let first = world.post_json("/api/v1/builds", &json!({})).await;
    let second = world.post_json("/api/v1/builds", &json!({"uploads": ["note00.md"]})).await;
    let path = |build: &Value, action: &str| {
        format!("/api/v1/builds/{}{action}", build["id"].as_str().unwrap())
    };
    let paused = world.post(&path(&second, "/pause"), &json!({})).await;
    if paused.status().is_success() {
        assert_eq!(world.get_json(&path(&second, "")).await["state"], "paused");
        world.post_json(&path(&second, "/resume"), &json!({})).await;
    }
    assert_eq!(world.wait_for_build(first["id"].as_str().unwrap()).await["state"], "done");
    assert_eq!(world.wait_for_build(second["id"].as_str().unwrap()).await["state"], "done");
    let again = world.post(&path(&second, "/cancel"), &json!({})).await;
    assert_eq!(again.status(), 409);
    let third = world.post_json("/api/v1/builds", &json!({})).await;
    let cancelled = world.post(&path(&third, "/cancel"), &json!({})).await;
    let state = world.wait_for_build(third["id"].as_str().unwrap()).await["state"].clone();
    assert!(state == "cancelled" || cancelled.status() == 409, "{state}");
    let listed = world.get_json("/api/v1/builds").await;
    assert_eq!(listed["items"].as_array().unwrap().len(), 3);
    assert_eq!(listed["items"][2]["id"], first["id"]);
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_read_is_told_by_name() {
    let world = World::with(Setup { config: config(), library: false }).await;
    // By its beginning it is a PDF.
    world.upload(&[("broken.pdf", b"%PDF-1.4 nothing follows"), ("a.md", b"# A\n\nOne.\n")]).await;
    let build = world.post_json("/api/v1/builds", &json!({})).await;
    let done = world.wait_for_build(build["id"].as_str().unwrap()).await;
    assert_eq!(done["report"]["refused"][0]["name"], "broken.pdf", "{done}");
    let refused = world.get_json("/api/v1/documents?state=refused").await;
    assert_eq!(refused["items"][0]["name"], "broken.pdf");
    assert!(!refused["items"][0]["error"].as_str().unwrap().is_empty());
    let id = refused["items"][0]["id"].as_str().unwrap();
    let path = format!("/api/v1/documents/{id}");
    assert!(
        world.request(reqwest::Method::DELETE, &path).send().await.unwrap().status().is_success()
    );
    assert!(!world.dir.path().join("files/broken.pdf").exists());
    world.stop().await;
}

/// Nodes of the layer of atoms that a search finds.
async fn atoms(world: &World) -> usize {
    let search = json!({"text": "Velby", "layer": "atom", "limit": 500});
    world.post_json("/api/v1/search", &search).await["hits"].as_array().unwrap().len()
}

#[tokio::test(flavor = "multi_thread")]
async fn parts_of_a_base_are_made_again_on_request() {
    let mut without = config();
    without.kb.atoms = halma_engine::Atoms::None;
    let world = World::with(Setup { config: without, library: false }).await;
    world.upload(&[("a.md", b"# A\n\nOne is in Velby. Two is in Velby.\n")]).await;
    let build = world.post_json("/api/v1/builds", &json!({})).await;
    world.wait_for_build(build["id"].as_str().unwrap()).await;
    assert_eq!(build.get("rebuild"), None, "{build}");
    let dir = world.stop().await;

    let mut with = config();
    with.kb.atoms = halma_engine::Atoms::Sentences;
    let world = World::over(dir, Setup { config: with, library: false }).await;
    // Without being asked the base stays as it is, and the estimate says so.
    let estimate = world.post_json("/api/v1/builds/estimate", &json!({})).await;
    let kept = &estimate["kept"][0];
    let part = (&kept["part"], &kept["made_with"], &kept["configured"]);
    assert_eq!(part, (&json!("atoms"), &json!("none"), &json!("sentences")), "{estimate}");
    assert_eq!(kept["cost"]["calls"], 0);
    let build = world.post_json("/api/v1/builds", &json!({})).await;
    world.wait_for_build(build["id"].as_str().unwrap()).await;
    assert_eq!(atoms(&world).await, 0);
    let rebuild = json!({"rebuild": ["atoms", "atoms"]});
    let estimate = world.post_json("/api/v1/builds/estimate", &rebuild).await;
    assert_eq!(estimate["kept"], json!([]), "{estimate}");
    let build = world.post_json("/api/v1/builds", &rebuild).await;
    assert_eq!(build["rebuild"], json!(["atoms"]));
    let done = world.wait_for_build(build["id"].as_str().unwrap()).await;
    assert_eq!((&done["state"], &done["rebuild"]), (&json!("done"), &json!(["atoms"])), "{done}");
    assert_eq!(atoms(&world).await, 2);
    for path in ["/api/v1/builds", "/api/v1/builds/estimate"] {
        let wrong = world.post(path, &json!({"rebuild": ["everything"]})).await;
        assert_eq!(wrong.status(), 422);
        assert!(wrong.text().await.unwrap().contains("communities"));
    }
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_base_without_uploads_is_rebuilt_except_for_what_is_made_of_files() {
    let files = tempfile::tempdir().unwrap();
    std::fs::write(files.path().join("a.md"), "# A\n\nOne is in Velby.\n").unwrap();
    let mut without = config();
    without.kb.atoms = halma_engine::Atoms::None;
    let dir = tempfile::tempdir().unwrap();
    let engine = halma_engine::Engine::create_or_open(without, dir.path()).unwrap();
    let inputs = [files.path().to_owned()];
    let options = halma_engine::IndexOptions::default();
    engine.index(&inputs, &options, std::sync::Arc::new(|_| ())).await.unwrap();
    drop(engine);
    let mut with = config();
    with.kb.atoms = halma_engine::Atoms::Sentences;
    let world = World::over(dir, Setup { config: with, library: false }).await;
    let refused = world.post("/api/v1/builds", &json!({"rebuild": ["atoms", "chunks"]})).await;
    assert_eq!(refused.status(), 422);
    let problem: Value = refused.json().await.unwrap();
    assert!(problem["hint"].as_str().unwrap().contains("--rebuild chunks"), "{problem}");
    assert_eq!(world.post("/api/v1/builds", &json!({})).await.status(), 422);
    let rebuild = json!({"rebuild": ["atoms"]});
    world.post_json("/api/v1/builds/estimate", &rebuild).await;
    let build = world.post_json("/api/v1/builds", &rebuild).await;
    let done = world.wait_for_build(build["id"].as_str().unwrap()).await;
    assert_eq!(done["state"], "done", "{done}");
    assert_eq!(atoms(&world).await, 1);
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn learning_from_samples_is_estimated_checked_and_queued_as_a_build() {
    let world = World::with(Setup { config: config(), library: false }).await;
    world.upload(&[("a.md", b"# A\n\nThe lamp of Velby burns oil.\n")]).await;
    let build = world.post_json("/api/v1/builds", &json!({})).await;
    world.wait_for_build(build["id"].as_str().unwrap()).await;
    let sample = json!({"samples": [{"question": "What fires the light?", "answer": "oil"}]});
    for (path, body, says) in [
        ("/api/v1/tags/learn", json!({"samples": []}), "`samples` is empty"),
        ("/api/v1/tags/learn", json!({"samples": [{"question": "?"}]}), "sample 1"),
        ("/api/v1/tags/learn/estimate", json!({"samples": [{"question": "Why?"}]}), "answer"),
        ("/api/v1/tags/learn", json!({}), "samples"),
    ] {
        let refused = world.post(path, &body).await;
        assert_eq!(refused.status(), 422, "{body}");
        let problem = refused.text().await.unwrap();
        assert!(problem.contains(says), "{says} in {problem}");
    }
    let estimate = world.post_json("/api/v1/tags/learn/estimate", &sample).await;
    assert_eq!(estimate["calls"], 0, "the passage has no tags: {estimate}");
    let mut replacing = sample.clone();
    replacing["replace"] = json!(true);
    let build = world.post_json("/api/v1/tags/learn", &replacing).await;
    let done = world.wait_for_build(build["id"].as_str().unwrap()).await;
    assert_eq!(done["state"], "done", "{done}");
    let skipped = done["report"]["skipped"][0]["reason"].as_str().unwrap();
    assert!(skipped.contains("no tags"), "{done}");
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_build_of_a_workspace_in_a_folder_is_continued_after_a_restart() {
    let double = Double::start(Behaviour::with(atomizer()));
    let setup = || Setup { config: building_with(&double), library: false };
    let world = World::with(setup()).await;
    world.post_json("/api/v1/workspaces", &json!({"name": "law"})).await;
    let key = world.key(&Scope::ALL, "law");
    soon_ready(&world, &key).await;
    let id = begin_build(&world, &key, &double).await;
    let world = World::over(world.stop().await, setup()).await;
    until_asked(&double, 0).await;
    until_done(&world, &key, &id).await;
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn builds_that_could_not_be_stored_continue_when_they_can() {
    let double =
        Double::start(Behaviour::with(atomizer()).latency(std::time::Duration::from_secs(1)));
    let world = World::with(Setup { config: building_with(&double), library: false }).await;
    world.upload(&[("a.md", b"# A\n\nOne is in Velby.\n")]).await;
    let first = world.post_json("/api/v1/builds", &json!({})).await;
    until("a call to the model", || double.in_flight() > 0).await;
    let second = world.post_json("/api/v1/builds", &json!({})).await;
    // As on a full disk, neither can be stored while the first one makes room.
    let db = rusqlite::Connection::open(world.dir.path().join("state.db")).unwrap();
    let full = "CREATE TRIGGER full BEFORE INSERT ON entry BEGIN SELECT RAISE(ABORT, 'full'); END";
    db.execute_batch(full).unwrap();
    world.upload(&[("b.md", b"# B\n\nTwo.\n")]).await;
    let listed = world.get_json("/api/v1/documents?query=b.md").await;
    let path = format!("/api/v1/documents/{}", listed["items"][0]["id"].as_str().unwrap());
    let deleted = world.request(reqwest::Method::DELETE, &path).send().await.unwrap();
    assert_eq!(deleted.status(), 200);
    db.execute_batch("DROP TRIGGER full").unwrap();
    for build in [first, second] {
        let done = world.wait_for_build(build["id"].as_str().unwrap()).await;
        assert_eq!(done["state"], "done", "{done}");
    }
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_build_uses_is_counted_before_it_ends() {
    let behaviour = Behaviour::with(atomizer()).latency(Duration::from_millis(700));
    let double = Double::start(behaviour);
    let mut config = config_with(&double);
    config.kb.concurrency = 1;
    let world = World::with(Setup { config, library: false }).await;
    let files: Vec<(String, String)> =
        (0..8).map(|n| (format!("{n}.md"), format!("Light {n} is in Velby."))).collect();
    let files: Vec<(&str, &[u8])> =
        files.iter().map(|(name, text)| (name.as_str(), text.as_bytes())).collect();
    world.upload(&files).await;
    let build = world.post_json("/api/v1/builds", &json!({})).await;
    // As it is there for a server that is started after this one was killed.
    let state = BaseState::of_folder(world.dir.path());
    let is_counted = || state.used().unwrap().iter().any(|used| used.subject.contains("index"));
    until("the usage", is_counted).await;
    let path = format!("/api/v1/builds/{}", build["id"].as_str().unwrap());
    assert_eq!(world.get_json(&path).await["state"], "running");
    let done = world.wait_for_build(build["id"].as_str().unwrap()).await;
    let shown = world.get_json("/api/v1/usage?by=strategy").await;
    assert_eq!(shown[0]["calls"], double.chat_calls(), "{shown}");
    // Calls that were under way when it was counted are not counted by what they may use at most.
    let reported = &done["report"]["usage"];
    for tokens in ["prompt_tokens", "completion_tokens"] {
        assert_eq!(shown[0][tokens], reported[tokens], "{shown} {reported}");
    }
    let (usd, exact) = (shown[0]["usd"].as_f64().unwrap(), reported["usd"].as_f64().unwrap());
    // The meter rounds each call up to a millionth.
    assert!((0.0..1e-5).contains(&(usd - exact)), "{usd} {exact}");
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_ends_after_its_build_was_paused_is_counted_by_what_it_used() {
    let behaviour = Behaviour::with(atomizer()).latency(Duration::from_secs(3));
    let double = Double::start(behaviour);
    let world = World::with(Setup { config: config_with(&double), library: false }).await;
    world.upload(&[("a.md", b"Light A is in Velby.")]).await;
    let build = world.post_json("/api/v1/builds", &json!({})).await;
    // A request is recorded as it comes, a call is counted when it is answered.
    let is_running = || double.requests().iter().any(|request| request.path.contains("chat"));
    until("the call", is_running).await;
    let path = format!("/api/v1/builds/{}", build["id"].as_str().unwrap());
    assert_eq!(world.post_json(&format!("{path}/pause"), &json!({})).await["state"], "paused");
    let state = BaseState::of_folder(world.dir.path());
    let is_counted = || state.used().unwrap().iter().any(|used| used.subject.contains("index"));
    until("the usage", is_counted).await;
    let shown = world.get_json("/api/v1/usage?by=strategy").await;
    assert_eq!(shown[0]["calls"], 1, "{shown}");
    // A reply of the double, and not the most that the prompt allows.
    let tokens = shown[0]["completion_tokens"].as_u64().unwrap();
    assert!((1..100).contains(&tokens), "{shown}");
    world.stop().await;
}
