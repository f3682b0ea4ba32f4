//! More workspaces than may be open: those that nothing uses are closed, and opened again.
use std::sync::Arc;
use std::time::Duration;

use halma_engine::BaseState;
use halma_testkit::double::Double;
use reqwest::Method;
use serde_json::{Value, json};

use crate::holding::{config_with, stuck};
use crate::world::{Setup, World, config, form, good, until};

pub(crate) const NAMES: [&str; 5] = ["amber", "birch", "cedar", "delta", "ember"];

pub(crate) fn note(of: &str, workspace: &str) -> String {
    format!("# Note of {of}\n\nThis is a word of {workspace}.\n")
}

/// A world in which two workspaces may be open besides the default one.
async fn crowded() -> World {
    let mut config = config();
    config.serve.open_workspaces = 2;
    World::with(Setup { config, library: false }).await
}

/// The same, with a model for questions and builds.
async fn asking_in_a_crowd(double: &Double) -> World {
    let mut config = config_with(double);
    config.serve.open_workspaces = 2;
    World::with(Setup { config, library: false }).await
}

pub(crate) async fn send(
    world: &World,
    workspace: &str,
    (method, path): (Method, &str),
    body: Value,
) -> Value {
    let request = world.request(method, path).header("x-halma-workspace", workspace);
    good(request.json(&body).send().await.unwrap()).await
}

pub(crate) async fn upload(world: &World, workspace: &str, name: &str, text: &str) {
    let (kind, body) = form(&[(name, text.as_bytes())]);
    let request = world.request(Method::POST, "/api/v1/documents").body(body);
    let request = request.header("content-type", kind).header("x-halma-workspace", workspace);
    good(request.send().await.unwrap()).await;
}

pub(crate) async fn build(world: &World, workspace: &str) {
    let started = send(world, workspace, (Method::POST, "/api/v1/builds"), json!({})).await;
    let path = format!("/api/v1/builds/{}", started["id"].as_str().unwrap());
    loop {
        let build = send(world, workspace, (Method::GET, &path), Value::Null).await;
        match build["state"].as_str().unwrap() {
            "done" => return,
            "queued" | "running" => tokio::time::sleep(Duration::from_millis(25)).await,
            _ => panic!("{build}"),
        }
    }
}

/// The workspaces that are open besides the default one.
pub(crate) async fn open(world: &World) -> Vec<String> {
    let metrics = world.get("/metrics").await.text().await.unwrap();
    let line = |line: &str| {
        let name = line.strip_prefix("halma_builds_pending{workspace=\"")?.split('"').next()?;
        (name != "default").then(|| name.to_owned())
    };
    let mut open: Vec<String> = metrics.lines().filter_map(line).collect();
    open.sort();
    open
}

/// Waits until no more than `most` are open, while one of them is used: what a request has left behind,
/// such as a trace that is being stored, ends some time after it.
pub(crate) async fn bounded(world: &World, workspace: &str, limit: usize) {
    for _ in 0..400 {
        if open(world).await.len() <= limit {
            return;
        }
        send(world, workspace, (Method::GET, "/api/v1/builds"), Value::Null).await;
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("{:?} stay open", open(world).await);
}

/// What a workspace says of itself is its own, and all that was done in it.
async fn check(world: &World, workspace: &str, (documents, questions): (usize, u64)) {
    let search = json!({"text": "Which word does the note name?", "limit": 100});
    let hits = send(world, workspace, (Method::POST, "/api/v1/search"), search).await;
    let hits = hits["hits"].to_string();
    assert!(hits.contains(&format!("word of {workspace}")), "{workspace}: {hits}");
    for other in NAMES.iter().filter(|other| **other != workspace) {
        assert!(!hits.contains(&format!("word of {other}")), "{workspace}: {hits}");
    }
    let get = |path| send(world, workspace, (Method::GET, path), Value::Null);
    let listed = get("/api/v1/documents").await;
    assert_eq!(listed["items"].as_array().unwrap().len(), documents, "{workspace}: {listed}");
    let traces = get("/api/v1/traces").await;
    assert_eq!(traces["items"].as_array().unwrap().len() as u64, questions, "{workspace}");
    let usage = get("/api/v1/usage?by=strategy").await.to_string();
    let counted = format!("\"group\":\"naive\",\"questions\":{questions},");
    assert!(questions == 0 || usage.contains(&counted), "{workspace}: {usage}");
}

/// The number of documents of each workspace, as they are listed.
async fn listed(world: &World) -> Vec<(String, u64)> {
    let list = good(world.get("/api/v1/workspaces").await).await;
    let line =
        |line: &Value| Some((line["name"].as_str()?.to_owned(), line["documents"].as_u64()?));
    list["items"].as_array().unwrap().iter().filter_map(line).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_opens_no_workspace_again_whose_base_has_not_changed() {
    let world = crowded().await;
    for name in NAMES {
        world.post_json("/api/v1/workspaces", &json!({"name": name})).await;
        upload(&world, name, "note.md", &note("all", name)).await;
        build(&world, name).await;
    }
    // Times of files may be too new to tell whether more has been written at the same time.
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    let documents = |of: &str| u64::from(of != "default") + u64::from(of == NAMES[0]);
    let first = listed(&world).await;
    assert_eq!(first.len(), 1 + NAMES.len());
    bounded(&world, NAMES[4], 2).await;
    let before = open(&world).await;
    assert_eq!(listed(&world).await, first);
    assert_eq!(open(&world).await, before);
    upload(&world, NAMES[0], "another.md", &note("one", NAMES[0])).await;
    build(&world, NAMES[0]).await;
    for (name, count) in listed(&world).await {
        assert_eq!(count, documents(&name), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn workspaces_are_used_in_turn_and_at_once_and_nothing_is_lost() {
    const USERS: usize = 5;
    let world = Arc::new(crowded().await);
    for name in NAMES {
        world.post_json("/api/v1/workspaces", &json!({"name": name})).await;
        upload(&world, name, "note.md", &note("all", name)).await;
        build(&world, name).await;
    }
    bounded(&world, NAMES[4], 2).await;
    assert!(!open(&world).await.contains(&NAMES[0].to_owned()), "it was not used for longest");
    for name in NAMES {
        check(&world, name, (1, 0)).await;
        bounded(&world, name, 2).await;
    }
    let users = (0..USERS).map(|user| {
        let world = Arc::clone(&world);
        tokio::spawn(async move {
            for round in 0..NAMES.len() {
                let name = NAMES[(user + round) % NAMES.len()];
                let author = user.to_string();
                upload(&world, name, &format!("note-{author}.md"), &note(&author, name)).await;
                build(&world, name).await;
                let ask = json!({"question": "Which word does the note name?"});
                send(&world, name, (Method::POST, "/api/v1/ask"), ask).await;
            }
        })
    });
    for user in users.collect::<Vec<_>>() {
        user.await.unwrap();
    }
    for name in NAMES {
        check(&world, name, (1 + USERS, USERS as u64)).await;
        bounded(&world, name, 2).await;
    }
    assert_eq!(world.get_json("/api/v1/workspaces").await["items"].as_array().unwrap().len(), 6);
    let removed = world.request(Method::DELETE, "/api/v1/workspaces/amber").send().await.unwrap();
    assert_eq!(removed.status(), 204);
    assert!(!world.dir.path().join("workspaces/amber").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workspace_with_a_build_or_a_question_stays_open() {
    let double = stuck();
    let world = asking_in_a_crowd(&double).await;
    for name in NAMES {
        world.post_json("/api/v1/workspaces", &json!({"name": name})).await;
    }
    upload(&world, "amber", "note.md", &note("all", "amber")).await;
    let started = send(&world, "amber", (Method::POST, "/api/v1/builds"), json!({})).await;
    until("a call of the build", || double.in_flight() == 1).await;
    let question = world.request(Method::POST, "/api/v1/ask").header("x-halma-workspace", "birch");
    let question = question.json(&json!({"question": "What is in it?", "strategy": "cot"}));
    let question = tokio::spawn(async move { drop(question.send().await) });
    until("a call of the question", || double.in_flight() == 2).await;
    for _ in 0..2 {
        for name in ["cedar", "delta", "ember"] {
            send(&world, name, (Method::GET, "/api/v1/documents"), Value::Null).await;
        }
    }
    assert_eq!(double.in_flight(), 2);
    bounded(&world, "ember", 3).await;
    let open = open(&world).await;
    assert_eq!(open, ["amber", "birch", "ember"], "the other ones make room for each other");
    let path = format!("/api/v1/builds/{}", started["id"].as_str().unwrap());
    let build = send(&world, "amber", (Method::GET, &path), Value::Null).await;
    assert_eq!(build["state"], "running", "{build}");
    question.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn evaluations_of_a_closed_workspace_are_listed() {
    let world = crowded().await;
    for name in NAMES {
        world.post_json("/api/v1/workspaces", &json!({"name": name})).await;
    }
    upload(&world, "amber", "note.md", &note("all", "amber")).await;
    build(&world, "amber").await;
    let path = "/api/v1/evaluation-runs";
    let questions = "{\"question\": \"Which word is it?\", \"answers\": [\"amber\"]}\n";
    let new = json!({"name": "words", "questions": questions, "strategies": ["naive"]});
    send(&world, "amber", (Method::POST, path), new).await;
    let mut run = Value::Null;
    for _ in 0..400 {
        run = send(&world, "amber", (Method::GET, path), Value::Null).await["items"][0].clone();
        if run["state"] != "running" {
            break;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    assert_eq!(run["state"], "done", "{run}");
    for name in &NAMES[1..] {
        send(&world, name, (Method::GET, "/api/v1/documents"), Value::Null).await;
    }
    bounded(&world, NAMES[4], 2).await;
    assert!(!open(&world).await.contains(&"amber".to_owned()));
    let listed = world.get_json("/api/v1/evaluations").await;
    assert_eq!(listed["items"][0]["dataset"], "words", "{listed}");
    let runs = send(&world, "amber", (Method::GET, path), Value::Null).await;
    assert_eq!(runs["items"][0], run);
    // After a start it is not open either, and what was running then runs no more.
    let dir = world.stop().await;
    let state = BaseState::of_folder(&dir.path().join("workspaces/amber"));
    let entries = state.entries("evaluation");
    let entry = entries.get("all").unwrap().unwrap();
    let stored = String::from_utf8(entry.bytes.unwrap()).unwrap();
    let running = stored.replace("\"done\",\"label", "\"running\",\"label");
    entries.put("all", entry.version, running.as_bytes()).unwrap();
    let world = World::over(dir, Setup { config: config(), library: false }).await;
    let again = world.get_json("/api/v1/evaluations").await;
    assert_eq!(again["items"], listed["items"]);
    assert!(open(&world).await.is_empty());
    let runs = send(&world, "amber", (Method::GET, path), Value::Null).await;
    assert_eq!(runs["items"][0]["state"], "failed", "{runs}");
    assert_eq!(runs["items"][0]["id"], run["id"]);
    world.stop().await;
}
