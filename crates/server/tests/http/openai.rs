//! What chat front ends send and expect.
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use halma_testkit::double::{Behaviour, Double};
use serde_json::{Value, json};

use crate::world::{Setup, World, config, events};

fn chat(stream: bool) -> Value {
    json!({
        "model": "halma-naive",
        "stream": stream,
        "stream_options": {"include_usage": true},
        "temperature": 0.2,
        "messages": [
            {"role": "system", "content": "You are kind."},
            {"role": "user", "content": "Who designed Orrin Light?"},
            {"role": "assistant", "content": "Ada Tarrant [1]\n\nSources:\n[1] orrin.md"},
            {"role": "user", "content": [{"type": "text", "text": "Where was she born?"}]},
        ],
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_completion_has_marks_annotations_and_usage() {
    let world = World::start().await;
    let reply = world.post_json("/v1/chat/completions", &chat(false)).await;
    assert_eq!(
        (&reply["object"], &reply["model"]),
        (&json!("chat.completion"), &json!("halma-naive"))
    );
    let choice = &reply["choices"][0];
    assert_eq!(choice["finish_reason"], "stop");
    let text = choice["message"]["content"].as_str().unwrap();
    assert!(text.starts_with("Ada Tarrant was born in Velby in 1840 [1]."), "{text}");
    assert!(text.contains("Sources:\n[1] people/tarrant.md"), "{text}");
    let annotation = &choice["message"]["annotations"][0];
    assert_eq!(annotation["type"], "url_citation");
    let url = annotation["url_citation"]["url"].as_str().unwrap();
    let whole = world.get_json(url).await;
    let quote = annotation["halma"]["quote"].as_str().unwrap();
    assert!(whole["text"].as_str().unwrap().contains(quote));
    let usage = &reply["usage"];
    let sum =
        usage["prompt_tokens"].as_u64().unwrap() + usage["completion_tokens"].as_u64().unwrap();
    assert_eq!(usage["total_tokens"], sum);
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn streamed_chunks_add_up_to_the_same_reply() {
    let world = World::start().await;
    let whole = world.post_json("/v1/chat/completions", &chat(false)).await;
    let streamed = world.post("/v1/chat/completions", &chat(true)).await.text().await.unwrap();
    let events = events(&streamed);
    let (last, chunks) = events.split_last().unwrap();
    assert_eq!(last.data, json!("[DONE]"));
    let chunks: Vec<&Value> = chunks.iter().map(|event| &event.data).collect();
    assert!(chunks.iter().all(|chunk| chunk["object"] == "chat.completion.chunk"));
    let text: String = chunks
        .iter()
        .filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str())
        .collect();
    assert_eq!(text, whole["choices"][0]["message"]["content"].as_str().unwrap());
    assert_eq!(chunks.last().unwrap()["usage"], whole["usage"]);
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn embeddings_come_from_the_embedder_in_both_encodings() {
    let double = Double::start(Behaviour { dim: 4, ..Behaviour::default() });
    let mut config = config();
    config.embedder = serde_json::from_value(json!({
        "kind": "endpoint", "url": double.url(), "model": "double",
    }))
    .unwrap();
    let world = World::with(Setup { config, library: false }).await;
    let plain = world.post_json("/v1/embeddings", &json!({"input": ["reef", "tide"]})).await;
    assert_eq!((plain["data"].as_array().unwrap().len(), &plain["model"]), (2, &json!("double")));
    let vector = plain["data"][1]["embedding"].as_array().unwrap();
    assert_eq!((vector.len(), &plain["data"][1]["index"]), (4, &json!(1)));
    let one = json!({"input": "tide", "encoding_format": "base64"});
    let encoded = world.post_json("/v1/embeddings", &one).await;
    let encoded = encoded["data"][0]["embedding"].as_str().unwrap().to_owned();
    let bytes = STANDARD.decode(encoded).unwrap();
    let first = f32::from_le_bytes(bytes[..4].try_into().unwrap());
    assert!((f64::from(first) - vector[0].as_f64().unwrap()).abs() < 1e-6);
    let right = json!({"input": "tide", "dimensions": 4});
    assert_eq!(world.post("/v1/embeddings", &right).await.status(), 200);
    let shorter = json!({"input": "tide", "dimensions": 2});
    assert_eq!(world.post("/v1/embeddings", &shorter).await.status(), 422);
    for input in [json!([]), json!(["a", " "])] {
        assert_eq!(world.post("/v1/embeddings", &json!({"input": input})).await.status(), 422);
    }
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_usable_strategy_is_a_model_and_errors_have_openai_s_form() {
    let world = World::start().await;
    let models = world.get_json("/v1/models").await;
    let models = models["data"].as_array().unwrap().clone();
    assert_eq!(models[0]["id"], "halma-naive");
    assert!(models.iter().any(|model| model["id"] == "halma-kar3"));
    let one = world.get_json("/v1/models/halma-kar3").await;
    assert_eq!((one["id"].as_str(), one["object"].as_str()), (Some("halma-kar3"), Some("model")));
    // What a chat may ask for is found under its name, too.
    assert_eq!(world.get_json("/v1/models/halma").await["id"], "halma");
    let mut unknown = chat(false);
    unknown["model"] = json!("gpt-4o");
    let none = json!({"model": "halma", "messages": []});
    let texts = json!({"input": "a", "model": "x"});
    for (path, body, status) in [
        ("/v1/chat/completions", unknown, 404),
        ("/v1/chat/completions", none, 422),
        // There is no embedder in these tests.
        ("/v1/embeddings", texts, 422),
        ("/v1/nothing", json!({}), 404),
    ] {
        let response = world.post(path, &body).await;
        assert_eq!(response.status(), status, "{path}");
        let error: Value = response.json().await.unwrap();
        assert!(!error["error"]["message"].as_str().unwrap().is_empty(), "{error}");
        assert!(error["error"]["type"].is_string() && error["error"]["code"].is_string());
    }
    world.stop().await;
}
