//! How a schema is sent, and what is done for a server that refuses it.
use std::sync::Arc;

use crate::common::{ask, bare, json_request, kind, request};
use halma_core::ChatRequest;
use halma_models::{JsonFormat, ping, wrapped};
use halma_net::{Endpoint, JsonMode, Limits};
use halma_testkit::double::{Behaviour, Double, Failure, fixed};
use serde_json::json;

#[tokio::test]
async fn a_schema_is_sent_until_the_server_refuses_it() {
    let reply = fixed(r#"{"answer": "x"}"#);
    let double = Double::start(Behaviour::with(reply.clone()));
    let model = wrapped(bare(&double), Limits::default(), None).unwrap();
    ask(&model, &json_request()).await.unwrap();
    let format = &double.requests()[0].body["response_format"];
    assert_eq!(format["type"], "json_schema");
    assert_eq!(format["json_schema"]["strict"], true);
    assert_eq!(format["json_schema"]["schema"]["type"], "object");

    let refusing = Behaviour { refused_fields: vec!["response_format"], ..Behaviour::with(reply) };
    let double = Double::start(refusing);
    let model = wrapped(bare(&double), Limits::default(), None).unwrap();
    for _ in 0..2 {
        assert!(ask(&model, &json_request()).await.is_ok());
    }
    // Refused in all forms, asked without, and remembered.
    assert_eq!(double.chat_calls(), 5);
    let strict = Endpoint { json: JsonMode::Schema, ..bare(&double) };
    let error = ask(&wrapped(strict, Limits::default(), None).unwrap(), &json_request()).await;
    assert_eq!(kind(&error), "refused");
}

fn formats(double: &Double) -> Vec<String> {
    let form = |format: &serde_json::Value| {
        let with = if format.get("schema").is_some() { "+schema" } else { "" };
        format!("{}{with}", format["type"].as_str().unwrap_or("none"))
    };
    double.requests().iter().map(|sent| form(&sent.body["response_format"])).collect()
}

#[tokio::test]
async fn other_forms_of_json_are_tried_before_none() {
    // A server built on llama.cpp fails with status 500 at what it does not know.
    let refused_formats = vec![("json_schema", 500)];
    let double = Double::start(Behaviour { refused_formats, ..Behaviour::default() });
    let once = Limits { retries: 0, ..Limits::default() };
    let model = wrapped(bare(&double), once, None).unwrap();
    for _ in 0..2 {
        ask(&model, &json_request()).await.unwrap();
    }
    assert_eq!(formats(&double), ["json_schema", "json_object+schema", "json_object+schema"]);
    assert_eq!(ping(bare(&double)).await.unwrap().json, JsonFormat::ObjectWithSchema);

    let refused_formats = vec![("json_schema", 422), ("json_object", 400)];
    let double = Double::start(Behaviour { refused_formats, ..Behaviour::default() });
    let model = wrapped(bare(&double), once, None).unwrap();
    ask(&model, &json_request()).await.unwrap();
    assert_eq!(formats(&double), ["json_schema", "json_object+schema", "json_object", "none"]);
    assert_eq!(ping(bare(&double)).await.unwrap().json, JsonFormat::Words);
}

#[tokio::test]
async fn a_refusal_without_a_reason_is_tried_without_the_schema_once() {
    let double = Double::start(Behaviour::default());
    let model = wrapped(bare(&double), Limits::default(), None).unwrap();
    double.fail([Failure::Refused]);
    ask(&model, &json_request()).await.unwrap();
    assert!(double.requests()[1].body.get("response_format").is_none());

    // A server that has taken a schema before refuses something else.
    let double = Double::start(Behaviour::default());
    let model = wrapped(bare(&double), Limits::default(), None).unwrap();
    ask(&model, &json_request()).await.unwrap();
    double.fail([Failure::Refused]);
    let error = ask(&model, &json_request()).await.unwrap_err().to_string();
    assert!(error.contains("not to my taste") && error.contains("/v1/chat/completions"), "{error}");
}

#[tokio::test]
async fn bounds_of_a_schema_are_left_out_for_a_server_that_refuses_them() {
    let reply = fixed("{\"ok\": true}");
    let refused_keywords = vec!["maxLength"];
    let double = Double::start(Behaviour { refused_keywords, ..Behaviour::with(reply) });
    let model = wrapped(bare(&double), Limits::default(), None).unwrap();
    let schema =
        json!({"type": "object", "properties": {"maxLength": {"type": "string", "maxLength": 9}}});
    let request = ChatRequest { schema: Some(Arc::new(schema)), ..request("Hm?") };
    ask(&model, &request).await.unwrap();
    ask(&model, &ChatRequest { max_tokens: 65, ..request }).await.unwrap();
    let sent = double.requests();
    assert_eq!(sent.len(), 3, "learnt by the first request");
    let schema = &sent[2].body["response_format"]["json_schema"]["schema"];
    // A field of that name stays.
    assert_eq!(schema["properties"]["maxLength"], json!({"type": "string"}));
}
