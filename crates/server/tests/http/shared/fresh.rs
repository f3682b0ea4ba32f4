//! What one server has answered is found by the next request, whichever server gets it.
use std::time::Instant;

use reqwest::Method;
use serde_json::{Value, json};

use super::support::{Space, ask, until_status};
use crate::answers::asking::{slow, with_model};
use crate::world::{World, good, question, until};

const RUNS: &str = "/api/v1/evaluation-runs";

/// An evaluation of one question.
fn evaluation() -> Value {
    let line = json!({"question": "Who designed Orrin Light?", "answers": ["x"]}).to_string();
    json!({"name": "first", "questions": line, "strategies": ["naive"]})
}

async fn names(world: &World) -> Vec<String> {
    let documents = world.get_json("/api/v1/documents").await;
    let items = documents["items"].as_array().unwrap().iter();
    items.map(|item| item["name"].as_str().unwrap().to_owned()).collect()
}

async fn search_text(world: &World, text: &str) -> String {
    world.post_json("/api/v1/search", &json!({"text": text})).await.to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_built_and_deleted_is_so_for_the_next_request_to_any_server() {
    let Some(space) = Space::new().await else { return };
    let (one, other) = (space.serve().await, space.serve().await);
    for round in 0..5 {
        let (name, text) = (format!("new-{round}.md"), format!("Pelorus{round} has a gate."));
        one.upload(&[(&name, text.as_bytes())]).await;
        let build = one.post_json("/api/v1/builds", &json!({"uploads": [name]})).await;
        let path = format!("/api/v1/builds/{}", build["id"].as_str().unwrap());
        let ended = one.wait_for_build(build["id"].as_str().unwrap()).await;
        assert_eq!(ended["state"], "done", "round {round}: {ended}");
        assert!(search_text(&other, &text).await.contains(&text), "round {round}");
        assert_eq!(other.get_json(&path).await["state"], "done");
        let delete = other.request(Method::DELETE, &format!("/api/v1/documents/{name}"));
        good(delete.send().await.unwrap()).await;
        assert!(!names(&one).await.contains(&name), "round {round}");
        assert!(!search_text(&one, &text).await.contains(&text), "round {round}");
    }
    for world in [one, other] {
        world.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn feedback_prompts_and_keys_are_known_to_the_next_request() {
    const PROMPT: &str = "/api/v1/prompts/naive/answer";
    let Some(space) = Space::new().await else { return };
    let (one, other) = (space.serve().await, space.serve().await);
    let answer = one.post_json("/api/v1/ask", &question()).await;
    let path = format!("/api/v1/traces/{}", answer["id"].as_str().unwrap());
    // A trace is written when the answer is on its way already; other servers find it then.
    while other.get(&path).await.status() != 200 {
        tokio::task::yield_now().await;
    }
    let feedback = json!({"run": answer["id"], "verdict": "right"});
    let given = other.post_json("/api/v1/feedback", &feedback).await;
    let listed = one.get_json("/api/v1/feedback").await;
    assert_eq!(listed["items"][0]["id"], given["id"], "{listed}");
    let text = one.get_json(PROMPT).await["text"].as_str().unwrap().to_owned() + "\nBe brief.\n";
    let put = one.request(Method::PUT, PROMPT).json(&json!({"text": text}));
    good(put.send().await.unwrap()).await;
    assert_eq!(other.get_json(PROMPT).await["text"], json!(text));
    // From the first key on every request needs one; of that the servers hear a little later.
    let admin = space.key_for("default");
    for world in [&one, &other] {
        until_status(world, "halma_none_none", 401).await;
    }
    for _ in 0..5 {
        let new = json!({"name": "chat", "scopes": ["ask"]});
        let create = one.request(Method::POST, "/api/v1/keys").bearer_auth(&admin).json(&new);
        let made: Value = good(create.send().await.unwrap()).await;
        let (id, key) = (made["id"].as_str().unwrap(), made["key"].as_str().unwrap());
        assert_eq!(ask(&other, key, "Who designed Orrin Light?").await.status(), 200);
        let revoke =
            other.request(Method::DELETE, &format!("/api/v1/keys/{id}")).bearer_auth(&admin);
        assert_eq!(revoke.send().await.unwrap().status(), 204);
        assert_eq!(ask(&one, key, "Who designed Orrin Light?").await.status(), 401);
    }
    for world in [one, other] {
        world.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_evaluation_is_followed_and_read_on_any_server() {
    let Some(space) = Space::new().await else { return };
    let (one, other) = (space.serve().await, space.serve().await);
    let run = one.post_json(RUNS, &evaluation()).await;
    let state = async |world: &World| {
        let runs = world.get_json(RUNS).await;
        assert_eq!(runs["items"][0]["id"], run["id"], "{runs}");
        runs["items"][0]["state"].as_str().unwrap().to_owned()
    };
    while state(&other).await == "running" {
        tokio::task::yield_now().await;
    }
    assert_eq!((state(&one).await, state(&other).await), ("done".into(), "done".into()));
    let reports = other.get_json("/api/v1/evaluations").await;
    assert_eq!(reports["items"].as_array().unwrap().len(), 1, "{reports}");
    let path = format!("/api/v1/evaluations/{}", reports["items"][0]["id"].as_str().unwrap());
    assert_eq!(one.get_json(&path).await, other.get_json(&path).await);
    assert!(!space.dump().contains("Orrin"), "the state names no question");
    for world in [one, other] {
        world.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_evaluation_is_cancelled_on_any_server_and_one_runs_at_a_time() {
    let double = slow(60);
    let Some(space) = Space::with(with_model(&double).config).await else { return };
    let (one, other) = (space.serve().await, space.serve().await);
    let run = one.post_json(RUNS, &evaluation()).await;
    until("a call to the model", || double.in_flight() == 1).await;
    assert_eq!(other.post(RUNS, &evaluation()).await.status(), 409);
    let cancel = format!("{RUNS}/{}/cancel", run["id"].as_str().unwrap());
    assert_eq!(other.post_json(&cancel, &json!({})).await["state"], "cancelled");
    assert_eq!(one.get_json(RUNS).await["items"][0]["state"], "cancelled");
    until("the end of the call", || double.in_flight() == 0).await;
    for world in [one, other] {
        world.stop().await;
    }
}

/// Milliseconds of a request, the middle of several.
async fn middle(world: &World) -> f64 {
    const TIMES: usize = 1_000;
    let mut took = vec![];
    for _ in 0..TIMES {
        let began = Instant::now();
        assert_eq!(world.get("/api/v1/strategies").await.status(), 200);
        took.push(began.elapsed().as_secs_f64() * 1e3);
    }
    took.sort_by(f64::total_cmp);
    took[TIMES / 2]
}

/// Requests each second of several clients.
#[expect(clippy::cast_precision_loss, reason = "a count of requests")]
async fn rate(world: &World, clients: usize) -> f64 {
    const EACH: usize = 200;
    let began = Instant::now();
    let client = async || {
        for _ in 0..EACH {
            assert_eq!(world.get("/api/v1/strategies").await.status(), 200);
        }
    };
    futures::future::join_all((0..clients).map(|_| client())).await;
    (clients * EACH) as f64 / began.elapsed().as_secs_f64()
}

/// What the look before each request costs: `HALMA_MEASURE=1 cargo test -p halma-server --test http
/// looking_before -- --nocapture`.
#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::print_stdout, reason = "a measurement")]
async fn looking_before_each_request_is_measured() {
    if std::env::var_os("HALMA_MEASURE").is_none() {
        return;
    }
    let Some(space) = Space::new().await else { return };
    let (shared, alone) = (space.serve().await, World::start().await);
    for round in 0..3 {
        let (with, without) = (middle(&shared).await, middle(&alone).await);
        let both = (rate(&shared, 32).await, rate(&alone, 32).await);
        println!(
            "round {round}: {with:.3} ms, in a folder {without:.3} ms; 32 clients: {both:.0?}/s"
        );
    }
    for world in [shared, alone] {
        world.stop().await;
    }
}
