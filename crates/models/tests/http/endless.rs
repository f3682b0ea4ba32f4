//! Replies and streams that do not end, or are longer than anything that is read.
use std::sync::Arc;

use halma_core::{LONGEST_REPLY, LONGEST_THOUGHTS, Llm, LlmError};
use halma_models::llm::OpenAi;
use halma_net::Endpoint;
use halma_testkit::double::{Behaviour, Double, Failure, fixed};
use serde_json::{Value, json};

use crate::common::{ask, bare, request};

fn event(delta: &Value) -> String {
    format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": delta}]}))
}

fn streaming(double: &Double) -> Arc<dyn Llm> {
    Arc::new(OpenAi::new(Endpoint { stream: true, ..bare(double) }).unwrap())
}

#[tokio::test]
async fn an_endless_text_ends_where_it_is_too_long() {
    let double = Double::start(Behaviour::default());
    let model = streaming(&double);
    let numbered = (0..2_000).map(|i| format!("{{é{i}")).collect::<Vec<_>>().concat();
    double.fail([Failure::Endless(event(&json!({"content": numbered})))]);
    let reply = ask(&model, &request("?")).await.unwrap();
    assert!(reply.is_too_long() && reply.text.starts_with("{é0{é1"));
    assert!(reply.text.len() <= LONGEST_REPLY + LONGEST_THOUGHTS + 3, "{}", reply.text.len());
    // Thoughts as well; nothing is asked again at once.
    let thoughts = event(&json!({"reasoning_content": "so ".repeat(2_000)}));
    double.fail([Failure::Endless(thoughts)]);
    let reply = ask(&model, &request("?")).await.unwrap();
    assert!(reply.is_too_long() && reply.text.is_empty());
    assert!(reply.thoughts.len() <= LONGEST_THOUGHTS + 3);
    assert_eq!((double.chat_calls(), double.failures_left()), (2, 0));
}

#[tokio::test]
async fn a_reply_that_repeats_itself_is_cut_off() {
    let double = Double::start(Behaviour::default());
    double.fail([Failure::Endless(event(&json!({"content": "{\"why\": \"It is so. It is so. "})))]);
    let reply = ask(&streaming(&double), &request("?")).await.unwrap();
    assert!(reply.text.len() < 1_000 && reply.stopped.is_none(), "{}", reply.text);
}

#[tokio::test]
async fn an_endless_event_and_endless_events_without_a_text_are_given_up() {
    let double = Double::start(Behaviour::default());
    let model = streaming(&double);
    let padded = json!({"choices": [], "padding": "x".repeat(1 << 20)});
    for endless in
        ["x".repeat(100_000), ": comment\n".repeat(10_000), format!("data: {padded}\n\n")]
    {
        double.fail([Failure::Endless(endless)]);
        let error = ask(&model, &request("?")).await.unwrap_err();
        assert!(matches!(error, LlmError::Refused { .. }), "{error}");
        assert!(error.to_string().contains("without an end"), "{error}");
    }
}

#[tokio::test]
async fn a_whole_reply_is_bounded_as_well() {
    let long = "x".repeat(LONGEST_REPLY + LONGEST_THOUGHTS + 10);
    let double = Double::start(Behaviour::with(fixed(&long)));
    let model: Arc<dyn Llm> = Arc::new(OpenAi::new(bare(&double)).unwrap());
    let reply = ask(&model, &request("?")).await.unwrap();
    assert!(reply.is_too_long() && reply.text.len() < long.len());
    double.set(Behaviour::with(fixed(&"x".repeat(17 << 20))));
    let error = ask(&model, &request("?")).await.unwrap_err();
    assert!(error.to_string().contains("more than 16 MiB"), "{error}");
}
