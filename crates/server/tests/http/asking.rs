//! Questions: whole, streamed, in a conversation, given up on.
use std::time::Duration;

use halma_engine::ModelConfig;
use halma_server::{KeyFile, Scope};
use halma_testkit::double::{Behaviour, Double};
use reqwest::Method;
use serde_json::{Value, json};

use crate::world::{Setup, World, config, events, good, question, until};

/// A model server that takes its time.
fn slow(seconds: u64) -> Double {
    Double::start(Behaviour::default().latency(Duration::from_secs(seconds)))
}

fn with_model(double: &Double) -> Setup {
    let mut config = config();
    let model: ModelConfig = serde_json::from_value(json!({
        "url": double.url(), "model": "double", "retries": 0,
    }))
    .unwrap();
    config.models.insert("main".into(), model);
    // The base is made without the model.
    config.kb.atoms = serde_json::from_value(json!("sentences")).unwrap();
    Setup { config, library: true }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_cites_the_characters_that_the_text_has() {
    let world = World::start().await;
    let answered = world.post_json("/api/v1/ask", &question()).await;
    assert_eq!(answered["answer"]["text"], "1871", "{answered}");
    assert_eq!(answered["strategy"], "naive");
    assert!(answered["usage"]["llm_calls"].as_u64().unwrap() > 0 && answered["hops"] == 1);
    let citation = &answered["answer"]["citations"][0];
    let name = citation["document"].as_str().unwrap();
    let range = format!("start={}&end={}", citation["start"], citation["end"]);
    let text = world.get_json(&format!("/api/v1/documents/{name}/text?{range}")).await;
    assert_eq!(text["text"], citation["quote"]);
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_tells_everything_in_order_and_the_trace_is_kept() {
    let world = World::start().await;
    let mut ask = question();
    ask["strategy"] = json!("kar3");
    ask["stream"] = json!(true);
    let response = world.post("/api/v1/ask", &ask).await;
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    assert_eq!(response.headers()["x-accel-buffering"], "no");
    let told = events(&response.text().await.unwrap());
    let names: Vec<&str> = told.iter().map(|(name, _)| name.as_str()).collect();
    let traced = names.iter().filter(|name| **name == "trace").count();
    assert_eq!(names[0], "started");
    assert_eq!(names[names.len() - 2..], ["answer_delta", "answer"]);
    assert_eq!(traced, names.len() - 3);
    let id = told[0].1["id"].as_str().unwrap();
    assert_eq!(told.last().unwrap().1["id"], id);
    let path = format!("/api/v1/traces/{id}");
    let mut kept = Value::Null;
    for _ in 0..100 {
        let response = world.get(&path).await;
        if response.status() == 200 {
            kept = good(response).await;
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(kept["trace"].as_array().unwrap().len(), traced);
    assert_eq!(kept["trace"][0], told[1].1);
    assert_eq!(kept["answer"]["text"], told.last().unwrap().1["answer"]["text"]);
    let listed = world.get_json("/api/v1/traces?query=ORRIN&strategy=kar3").await;
    assert_eq!(listed["items"][0]["id"], id);
    let usage = world.get_json("/api/v1/usage?by=strategy").await;
    assert_eq!((&usage[0]["group"], &usage[0]["questions"]), (&json!("kar3"), &json!(1)));
    let gone = world.request(Method::DELETE, &path).send().await.unwrap();
    assert_eq!(gone.status(), 204);
    assert_eq!(world.get(&path).await.status(), 404);
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_question_refers_to_is_taken_from_what_was_said() {
    let world = World::start().await;
    let ask = json!({"question": "Where was she born?", "history": [
        {"role": "user", "text": "Who designed Orrin Light?"},
        {"role": "assistant", "text": "Ada Tarrant"},
    ]});
    let answered = world.post_json("/api/v1/ask", &ask).await;
    assert_eq!(answered["question"], "Where was Ada Tarrant born?");
    assert_eq!(answered["answer"]["text"], "Velby", "{answered}");
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn when_the_client_leaves_the_call_to_the_model_ends() {
    let double = slow(60);
    let world = World::with(with_model(&double)).await;
    for stream in [true, false] {
        let mut ask = question();
        ask["stream"] = json!(stream);
        let request = world.request(Method::POST, "/api/v1/ask").json(&ask);
        let asking = tokio::spawn(async move { request.send().await.unwrap().text().await });
        until("a call to the model", || double.in_flight() == 1).await;
        asking.abort();
        until("the end of the call", || double.in_flight() == 0).await;
    }
    // What was asked is known all the same.
    for _ in 0..100 {
        let listed = world.get_json("/api/v1/traces").await;
        let items = listed["items"].as_array().unwrap().clone();
        if items.len() == 2 {
            assert!(items[0]["error"].as_str().unwrap().contains("left"), "{listed}");
            world.stop().await;
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the questions are not kept");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_is_revoked_ends_its_streams() {
    let double = slow(60);
    let world = World::with(with_model(&double)).await;
    let key = world.key(&[Scope::Ask], "default");
    let mut ask = question();
    ask["stream"] = json!(true);
    let request = world.request(Method::POST, "/api/v1/ask").bearer_auth(&key).json(&ask);
    let asking = tokio::spawn(async move { request.send().await.unwrap().text().await.unwrap() });
    until("a call to the model", || double.in_flight() == 1).await;
    KeyFile::of(world.dir.path()).revoke(key.split('_').nth(1).unwrap()).unwrap();
    let told = events(&asking.await.unwrap());
    let (name, problem) = told.last().unwrap();
    assert_eq!((name.as_str(), &problem["status"]), ("error", &json!(401)));
    assert!(!problem["request_id"].as_str().unwrap().is_empty());
    until("the end of the call", || double.in_flight() == 0).await;
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_may_spend_no_more_than_its_day_has() {
    let double = Double::start(Behaviour::replying(|_| {
        r#"{"answer": "1871", "rationale": "It says so."}"#.into()
    }));
    let world = World::with(with_model(&double)).await;
    let mut new = crate::world::new_key(&[Scope::Ask], "default");
    new.calls_per_day = Some(2);
    let (_, key) = KeyFile::of(world.dir.path()).create(new).unwrap();
    let mut statuses = vec![];
    for n in 0..4 {
        let ask = json!({"question": format!("When was Orrin Light first lit, try {n}?")});
        let request = world.request(Method::POST, "/api/v1/ask").bearer_auth(&key).json(&ask);
        statuses.push(request.send().await.unwrap().status().as_u16());
    }
    assert_eq!(statuses[0], 200);
    assert_eq!(statuses[3], 429, "{statuses:?}");
    assert!(double.chat_calls() <= 2);
    world.stop().await;
}
