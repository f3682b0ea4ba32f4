//! A server that is told to stop finishes what it has started.
use std::time::Duration;

use halma_engine::{BaseState, ModelConfig};
use halma_testkit::double::{Behaviour, Double};
use reqwest::Method;
use serde_json::json;

use crate::world::{Setup, StreamEvent, World, config, events, question, until};

fn setup(double: &Double, drain_seconds: f64) -> Setup {
    let mut config = config();
    let model: ModelConfig =
        serde_json::from_value(json!({"url": double.url(), "model": "double"})).unwrap();
    config.models.insert("main".into(), model);
    config.kb.atoms = serde_json::from_value(json!("sentences")).unwrap();
    config.serve.drain_seconds = drain_seconds;
    Setup { config, library: true }
}

fn answering(seconds: u64) -> Double {
    let reply = r#"{"answer": "1871", "rationale": "It says so."}"#;
    let behaviour = Behaviour::replying(move |_| reply.into());
    Double::start(behaviour.latency(Duration::from_secs(seconds)))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_running_answer_is_finished_and_new_connections_are_refused() {
    let double = answering(1);
    let mut world = World::with(setup(&double, 20.0)).await;
    let request = world.request(Method::POST, "/api/v1/ask").json(&question());
    let asking = tokio::spawn(async move { request.send().await.unwrap().text().await.unwrap() });
    until("a call to the model", || double.in_flight() == 1).await;
    world.tell_to_stop();
    assert!(asking.await.unwrap().contains("1871"));
    let url = world.url.clone();
    let dir = world.ended().await;
    assert!(reqwest::get(format!("{url}/api/v1/health")).await.is_err());
    let state = BaseState::of_folder(dir.path());
    let is_counted = || {
        let used = state.used().unwrap();
        used.iter().any(|used| used.subject.starts_with("usage ") && used.spent.questions == 1)
    };
    until("the usage", is_counted).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_takes_too_long_ends_with_an_error() {
    let double = answering(60);
    let mut world = World::with(setup(&double, 0.3)).await;
    let mut ask = question();
    ask["stream"] = json!(true);
    let request = world.request(Method::POST, "/api/v1/ask").json(&ask);
    let asking = tokio::spawn(async move { request.send().await.unwrap().text().await.unwrap() });
    until("a call to the model", || double.in_flight() == 1).await;
    world.tell_to_stop();
    let events = events(&asking.await.unwrap());
    let StreamEvent { name, data: problem } = events.last().unwrap();
    assert_eq!((name.as_str(), &problem["status"]), ("error", &json!(503)));
    world.ended().await;
    until("the end of the call", || double.in_flight() == 0).await;
}
