//! The client and its wrapping against a model server on loopback that misbehaves on order.
use std::time::{Duration, Instant};

use crate::common::{REQUEST, ask, bare, kind, request};
use halma_core::{Llm, LlmError, Stopped};
use halma_models::{ping, wrapped};
use halma_net::{Endpoint, Limits};
use halma_testkit::double::{Behaviour, Double, Failure, fixed};
use serde_json::json;

#[tokio::test]
async fn a_call_carries_what_the_request_says_and_no_more() {
    let double = Double::start(Behaviour { key: Some("secret-1".into()), ..Behaviour::default() });
    let endpoint = Endpoint { key: Some("secret-1\n".into()), ..bare(&double) };
    let model = wrapped(endpoint, Limits::default(), None).unwrap();
    let reply = ask(&model, &request("Where?")).await.unwrap();
    assert_eq!((reply.text.as_str(), reply.cached), ("Where?", false));
    assert!(reply.usage.prompt_tokens > 0 && reply.usage.completion_tokens > 0);
    let sent = double.requests().remove(0);
    assert_eq!(sent.path, "/v1/chat/completions");
    assert_eq!(sent.prompt.as_deref(), Some(REQUEST));
    assert_eq!(sent.authorization.as_deref(), Some("Bearer secret-1"));
    let body = json!({
        "model": "m",
        "messages": [{"role": "user", "content": "Where?"}],
        "max_tokens": 64,
        "temperature": 0.0,
    });
    assert_eq!(sent.body, body);
}

#[tokio::test]
async fn extra_fields_go_into_every_request_and_replace_ours() {
    let double = Double::start(Behaviour::default());
    let serde_json::Value::Object(extra) = json!({"temperature": 0.6, "reasoning_effort": "low"})
    else {
        panic!("an object");
    };
    let model = wrapped(Endpoint { extra, ..bare(&double) }, Limits::default(), None).unwrap();
    ask(&model, &request("Where?")).await.unwrap();
    let body = &double.requests()[0].body;
    assert_eq!((&body["temperature"], &body["reasoning_effort"]), (&json!(0.6), &json!("low")));
    assert_eq!(body["max_tokens"], 64);
}

/// The forms of JSON that were requested, one for each call.
#[tokio::test]
async fn newer_servers_names_of_fields_are_learnt() {
    let refused_fields = vec!["max_tokens", "temperature", "logprobs"];
    let double = Double::start(Behaviour { refused_fields, ..Behaviour::default() });
    let model = wrapped(bare(&double), Limits::default(), None).unwrap();
    let request = halma_core::ChatRequest { logprobs: true, ..request("Hm?") };
    ask(&model, &request).await.unwrap();
    ask(&model, &request).await.unwrap();
    let sent = double.requests();
    assert_eq!(sent.len(), 5);
    let last = &sent[4].body;
    assert_eq!(last["max_completion_tokens"], 64);
    assert!(["max_tokens", "temperature", "logprobs"].iter().all(|f| last.get(f).is_none()));
}

#[tokio::test]
async fn images_go_beside_the_last_message() {
    let double = Double::start(Behaviour::default());
    let model = wrapped(bare(&double), Limits::default(), None).unwrap();
    let url = "data:image/png;base64,AA==".to_owned();
    let request = halma_core::ChatRequest { images: vec![url.clone()], ..request("What is it?") };
    ask(&model, &request).await.unwrap();
    let sent = &double.requests()[0].body["messages"];
    let parts = &sent.as_array().unwrap().last().unwrap()["content"];
    assert_eq!(parts[0], serde_json::json!({"type": "text", "text": "What is it?"}));
    assert_eq!(parts[1]["image_url"]["url"], url);
}

#[tokio::test]
async fn log_probs_come_when_asked_for() {
    for stream in [false, true] {
        let double = Double::start(Behaviour::default());
        let model = wrapped(Endpoint { stream, ..bare(&double) }, Limits::default(), None).unwrap();
        let request = halma_core::ChatRequest { logprobs: true, ..request("one two") };
        let logprobs = ask(&model, &request).await.unwrap().logprobs.unwrap();
        assert_eq!(logprobs, [("one ".to_owned(), -0.25), ("two".to_owned(), -0.25)]);
    }
}

#[tokio::test]
async fn a_streamed_reply_is_the_same_as_a_whole_one() {
    let line = |i| format!("{i}: a longer reply with ünïcode and \"quotes\", in several pieces.\n");
    let text: String = (1..10).map(line).collect();
    let double = Double::start(Behaviour::with(fixed(&text)));
    let whole = ask(&wrapped(bare(&double), Limits::default(), None).unwrap(), &request("?")).await;
    let streaming = Endpoint { stream: true, ..bare(&double) };
    let model = wrapped(streaming, Limits::default(), None).unwrap();
    assert_eq!(ask(&model, &request("?")).await.unwrap(), whole.unwrap());
    double
        .set(Behaviour { refused_fields: vec!["stream_options"], ..Behaviour::with(fixed(&text)) });
    let estimated = ask(&model, &request("??")).await.unwrap();
    assert_eq!((estimated.text.as_str(), estimated.usage.prompt_tokens), (text.as_str(), 1));
}

#[tokio::test]
async fn a_cut_reply_is_never_a_short_one() {
    let piece = |i| format!("{i}: a reply that is long enough for many pieces ");
    let text: String = (1..9).map(piece).collect();
    for (stream, failure) in [
        (true, Failure::CutReply),
        (true, Failure::UnendedStream),
        (false, Failure::CutReply),
        (false, Failure::MalformedJson),
        (true, Failure::Dropped),
        (false, Failure::Dropped),
        (false, Failure::ServerError),
    ] {
        let double = Double::start(Behaviour::with(fixed(&text)));
        let endpoint = Endpoint { stream, ..bare(&double) };
        let once = Limits { retries: 0, ..Limits::default() };
        let model = wrapped(endpoint.clone(), once, None).unwrap();
        double.fail([failure.clone()]);
        let error = ask(&model, &request("?")).await;
        assert_eq!(kind(&error), "transient", "{failure:?} {error:?}");
        assert!(error.unwrap_err().to_string().contains("/v1/chat/completions"));
        let model = wrapped(endpoint, Limits::default(), None).unwrap();
        double.fail([failure]);
        assert_eq!(ask(&model, &request("?")).await.unwrap().text, text);
    }
}

#[tokio::test]
async fn what_no_retry_mends_is_told_at_once_with_what_to_do() {
    let double = Double::start(Behaviour::default());
    let model = wrapped(bare(&double), Limits::default(), None).unwrap();
    for (failure, wanted, words) in [
        (Failure::Unauthorized, "refused", vec!["401", "key_env", "/v1/chat/completions"]),
        (Failure::Refused, "refused", vec!["400", "not to my taste", "`m`"]),
        (Failure::TooLong, "too long", vec!["8192 tokens"]),
        (Failure::Status(404, r#"{"error":"no such model"}"#.into()), "refused", vec!["`m`"]),
        (Failure::Status(200, "{}".into()), "refused", vec!["without `choices`"]),
        (Failure::Status(200, "hello there".into()), "refused", vec!["hello there"]),
        (
            Failure::Status(200, r#"{"error":{"message":"no","code":401}}"#.into()),
            "refused",
            vec!["key_env"],
        ),
    ] {
        double.fail([failure.clone()]);
        let error = ask(&model, &request("?")).await;
        assert_eq!(kind(&error), wanted, "{failure:?}");
        let told = error.unwrap_err().to_string();
        assert!(words.iter().all(|word| told.contains(word)), "{told}");
    }
    assert_eq!(double.chat_calls(), 7);
}

#[tokio::test]
async fn a_reply_without_text_says_why_it_ended_and_what_it_used() {
    let double = Double::start(Behaviour::with(fixed("  ")));
    let model = wrapped(bare(&double), Limits::default(), None).unwrap();
    let reply = ask(&model, &request("?")).await.unwrap();
    assert_eq!((reply.text.trim(), reply.stopped, double.chat_calls()), ("", None, 1));
    for (choice, wanted) in [
        (json!({"message": {"content": null}, "finish_reason": "length"}), Stopped::Length),
        (json!({"message": {}, "finish_reason": "content_filter"}), Stopped::Filter),
        (json!({"message": {"refusal": "I must not."}}), Stopped::Refusal("I must not.".into())),
    ] {
        let usage = json!({"prompt_tokens": 7, "completion_tokens": 256});
        let body = json!({"choices": [choice], "usage": usage});
        double.fail([Failure::Status(200, body.to_string())]);
        let reply = ask(&model, &request("?")).await.unwrap();
        assert_eq!((reply.usage.completion_tokens, reply.stopped), (256, Some(wanted)));
    }
    // Each was one call: another one is for those who pay.
    assert_eq!(double.chat_calls(), 4);
}

#[tokio::test]
async fn thoughts_in_a_field_of_their_own_are_not_the_reply() {
    let double = Double::start(Behaviour::default());
    let model = wrapped(bare(&double), Limits::default(), None).unwrap();
    for field in ["reasoning_content", "reasoning"] {
        let message = json!({"content": "Oslo", field: "Bergen? No, Oslo."});
        let body = json!({"choices": [{"message": message, "finish_reason": "stop"}]});
        double.fail([Failure::Status(200, body.to_string())]);
        let reply = ask(&model, &request("?")).await.unwrap();
        assert_eq!((reply.text.as_str(), reply.thoughts.as_str()), ("Oslo", "Bergen? No, Oslo."));
    }
}

#[tokio::test]
async fn a_template_without_system_messages_gets_them_in_the_first_of_the_user() {
    let refusing = Behaviour { refused_roles: vec!["system"], ..Behaviour::with(fixed("Oslo")) };
    let double = Double::start(refusing);
    let model = wrapped(bare(&double), Limits::default(), None).unwrap();
    let mut with_system = request("Where?");
    let system = halma_core::Message { role: "system".into(), text: "Answer shortly.".into() };
    with_system.messages.insert(0, system);
    for _ in 0..2 {
        assert_eq!(ask(&model, &with_system).await.unwrap().text, "Oslo");
    }
    // Refused, asked without, and remembered.
    assert_eq!(double.chat_calls(), 3);
    let sent = double.requests()[2].body["messages"].clone();
    assert_eq!(sent, json!([{"role": "user", "content": "Answer shortly.\n\nWhere?"}]));
}

#[tokio::test]
async fn an_endpoint_that_is_down_or_slow_is_named() {
    let once = Limits { retries: 0, ..Limits::default() };
    let gone = Double::start(Behaviour::default());
    let endpoint = bare(&gone);
    drop(gone);
    let error = ask(&wrapped(endpoint.clone(), once, None).unwrap(), &request("?")).await;
    assert_eq!(kind(&error), "transient");
    let told = error.unwrap_err().to_string();
    assert!(
        told.contains("cannot be reached")
            && !told.contains("client error")
            && told.contains("127.0.0.1"),
        "{told}"
    );
    assert!(ping(endpoint).await.is_err());

    for stream in [false, true] {
        let double = Double::start(Behaviour::default().latency(Duration::from_mins(1)));
        let endpoint = Endpoint { timeout: Duration::from_millis(60), stream, ..bare(&double) };
        let error = ask(&wrapped(endpoint, once, None).unwrap(), &request("?")).await;
        let told = error.unwrap_err().to_string();
        assert!(told.contains("no reply within 0.06 s"), "{told}");
    }
}

#[tokio::test]
async fn a_throttled_call_waits_and_gets_through() {
    let double = Double::start(Behaviour::default());
    let model = wrapped(bare(&double), Limits::default(), None).unwrap();
    double.fail(vec![Failure::throttled(0); 40]);
    let calls = (0..8).map(|i| {
        let model = &model;
        async move { ask(model, &request(&i.to_string())).await }
    });
    let replies = futures::future::join_all(calls).await;
    assert!(replies.iter().all(Result::is_ok), "{replies:?}");
    assert_eq!((double.failures_left(), double.chat_calls()), (0, 48));
    double.fail([Failure::throttled(1)]);
    let began = Instant::now();
    ask(&model, &request("?")).await.unwrap();
    assert!(began.elapsed() >= Duration::from_secs(1));
}

#[tokio::test]
async fn no_more_calls_are_under_way_than_allowed() {
    let double = Double::start(Behaviour::default().latency(Duration::from_millis(5)));
    let limits = Limits { concurrency: 3, ..Limits::default() };
    let model = wrapped(bare(&double), limits, None).unwrap();
    let calls = (0..30).map(|_| {
        let model = &model;
        async move { ask(model, &request("?")).await.unwrap() }
    });
    futures::future::join_all(calls).await;
    assert_eq!(double.peak_in_flight(), 3);
}

#[tokio::test]
async fn a_ping_tells_life_from_death() {
    let double = Double::start(Behaviour { key: Some("right".into()), ..Behaviour::default() });
    let right = Endpoint { key: Some("right".into()), ..bare(&double) };
    assert!(ping(right.clone()).await.unwrap().took < Duration::from_secs(30));
    let request = double.requests().remove(0);
    let sent = (request.path.as_str(), &request.body["max_tokens"]);
    assert_eq!(sent, ("/v1/chat/completions", &json!(16)));
    let wrong = ping(Endpoint { key: Some("wrong".into()), ..bare(&double) }).await;
    assert!(matches!(wrong, Err(LlmError::Refused { .. })), "{wrong:?}");
    double.fail([Failure::Html]);
    assert!(ping(bare(&double)).await.unwrap_err().to_string().contains("API base"));
}

#[test]
fn an_address_that_cannot_be_one_is_a_configuration_error() {
    for (url, words) in [
        ("", "is not a valid URL"),
        ("localhost:8000/v1", "is not an http"),
        ("ftp://host/v1", "is not an http"),
        ("http://me:pass@host/v1", "user name or password"),
        ("host me:pass@host", "is not a valid URL"),
        ("http://host/v1/chat/completions", "one call"),
    ] {
        let error = halma_models::OpenAi::new(Endpoint::new(url, "m")).err().unwrap();
        assert_eq!((error.key.as_str(), error.file.as_str()), ("url", ""));
        assert!(error.reason.contains(words) && !error.hint.is_empty(), "{error}");
        assert!(!error.to_string().contains("pass@"), "{error}");
    }
    let model = halma_models::OpenAi::new(Endpoint::new(" http://host/v1/ ", "m")).unwrap();
    assert_eq!(model.model(), "m");
}

#[test]
fn limits_that_let_nothing_through_are_configuration_errors() {
    let endpoint = Endpoint::new("http://host/v1", "m");
    for (limits, key) in [
        (Limits { concurrency: 0, ..Limits::default() }, "concurrency"),
        (Limits { requests_per_minute: Some(0), ..Limits::default() }, "requests_per_minute"),
        (Limits { max_wait_seconds: -1.0, ..Limits::default() }, "max_wait_seconds"),
    ] {
        assert_eq!(wrapped(endpoint.clone(), limits, None).err().unwrap().key, key);
    }
}

#[tokio::test]
async fn a_query_in_the_address_is_sent_but_never_shown() {
    let double = Double::start(Behaviour::default());
    for stream in [false, true] {
        let url = format!("{}?api-key=hidden", double.url());
        let endpoint = Endpoint { stream, url, ..bare(&double) };
        let model = wrapped(endpoint, Limits { retries: 0, ..Limits::default() }, None).unwrap();
        ask(&model, &request("?")).await.unwrap();
        for failure in [Failure::UnendedStream, Failure::Dropped, Failure::Html, Failure::Refused] {
            double.fail([failure]);
            if let Err(error) = ask(&model, &request("?")).await {
                assert!(!error.to_string().contains("hidden"), "{error}");
            }
        }
    }
    assert_eq!(double.requests()[0].path, "/v1/chat/completions");
}
