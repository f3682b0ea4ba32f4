//! The embedder against a server on loopback.
use crate::common::{bare, kind};
use halma_core::{EmbedRole, Embedder};
use halma_models::{EndpointEmbedder, wrapped_embedder};
use halma_net::{Endpoint, Limits};
use halma_testkit::double::{Behaviour, Double, EmbedLimits, Encoding, Failure, vector};
use serde_json::json;

#[tokio::test]
async fn vectors_come_in_order_in_whatever_form_the_server_has() {
    let texts: Vec<String> = (0..300).map(|n| format!("text number {n}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    for (encoding, calls) in [(Encoding::Base64, 3), (Encoding::Ignored, 3), (Encoding::Refused, 6)]
    {
        let double = Double::start(Behaviour { encoding, ..Behaviour::default() });
        let embedder = wrapped_embedder(bare(&double), Limits::default()).unwrap();
        let vectors = embedder.embed(&texts, EmbedRole::Passage).await.unwrap();
        assert_eq!(vectors.len(), 300);
        for (text, got) in texts.iter().zip(&vectors) {
            let close = |(a, b): (&f32, f32)| (a - b).abs() < 1e-5;
            assert!(got.iter().zip(vector(text, 384)).all(close), "{encoding:?} {text}");
        }
        assert!(double.embed_calls() <= calls, "{encoding:?}: {}", double.embed_calls());
        assert_eq!(double.embedded_texts(), 300);
        let longest =
            double.requests().iter().map(|sent| sent.body["input"].as_array().unwrap().len()).max();
        assert_eq!(longest, Some(128));
        // What was refused once is not asked for again.
        let before = double.embed_calls();
        embedder.embed(&["more"], EmbedRole::Query).await.unwrap();
        assert_eq!(double.embed_calls(), before + 1);
    }
}

#[tokio::test]
async fn what_is_wrong_with_vectors_is_told() {
    let double = Double::start(Behaviour::default());
    let embedder = EndpointEmbedder::new(bare(&double)).unwrap();
    let data =
        |vectors: serde_json::Value| Failure::Status(200, json!({"data": vectors}).to_string());
    let item = |index: usize, embedding: &[f32]| json!({"index": index, "embedding": embedding});
    for (failure, words) in [
        (data(json!([item(0, &[1.0])])), "1 vectors for 2 texts"),
        (data(json!([item(0, &[1.0]), item(1, &[1.0, 0.0])])), "different lengths"),
        (data(json!([item(0, &[1.0]), item(0, &[1.0])])), "two vectors for one text"),
        (data(json!([item(0, &[0.0, 0.0]), item(1, &[1.0, 0.0])])), "without direction"),
        (data(json!([{"embedding": "AAA="}, {"embedding": "AAAAAA=="}])), "whole number of floats"),
        (Failure::Html, "API base"),
        (data(json!([{"embedding": [[1.0], [0.5]]}])), "start the server with pooling"),
    ] {
        double.fail([failure]);
        let outcome = embedder.embed(&["a", "b"], EmbedRole::Query).await;
        let told = outcome.unwrap_err().to_string();
        assert!(told.contains(words), "{told}");
    }
    // What is too long and cannot be shorter.
    double.fail([Failure::TooLong]);
    let told = embedder.embed(&["a"], EmbedRole::Query).await.unwrap_err().to_string();
    assert!(told.contains("too long"), "{told}");
    let swapped = data(json!([item(1, &[0.0, 2.0]), item(0, &[3.0, 0.0])]));
    double.fail([swapped]);
    let vectors = embedder.embed(&["a", "b"], EmbedRole::Query).await.unwrap();
    assert_eq!(vectors, [[1.0, 0.0], [0.0, 1.0]]);
}

#[tokio::test]
async fn servers_that_take_fewer_or_shorter_texts_get_these() {
    let limits = EmbedLimits { texts: 32, chars: 400 };
    let double = Double::start(Behaviour { embed_limits: Some(limits), ..Behaviour::default() });
    let embedder = wrapped_embedder(bare(&double), Limits::default()).unwrap();
    let long = "a long text that says much ".repeat(60);
    let texts: Vec<String> = (0..300).map(|n| format!("text number {n}")).collect();
    let mut texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    texts[77] = &long;
    let vectors = embedder.embed(&texts, EmbedRole::Passage).await.unwrap();
    let close = |got: &[f32], text: &str| {
        got.iter().zip(vector(text, 384)).all(|(a, b)| (a - b).abs() < 1e-5)
    };
    assert!(vectors.iter().zip(&texts).all(|(got, text)| *text == long || close(got, text)));
    let requests = double.requests();
    let sent = requests.iter().flat_map(|sent| sent.body["input"].as_array().unwrap());
    let mut sent = sent.map(|text| text.as_str().unwrap()).rev();
    let cut = sent.find(|text| text.len() <= 400 && long.starts_with(text)).unwrap();
    assert!(close(&vectors[77], cut), "{cut}");
    // How many it takes is known now.
    let before = double.embed_calls();
    embedder.embed(&texts[100..228], EmbedRole::Passage).await.unwrap();
    assert_eq!(double.embed_calls() - before, 4);
}

#[tokio::test]
async fn a_failing_batch_is_tried_again_by_itself() {
    let double = Double::start(Behaviour::default());
    let embedder = wrapped_embedder(bare(&double), Limits::default()).unwrap();
    double.fail([Failure::ServerError, Failure::throttled(0), Failure::Dropped, Failure::CutReply]);
    let texts: Vec<&str> = vec!["text"; 200];
    assert_eq!(embedder.embed(&texts, EmbedRole::Passage).await.unwrap().len(), 200);
    assert_eq!(double.failures_left(), 0);
    assert!(embedder.embed(&[], EmbedRole::Passage).await.unwrap().is_empty());
    let wrong = Endpoint { key: Some("k".into()), ..bare(&double) };
    double.fail([Failure::Unauthorized]);
    let embedder = wrapped_embedder(wrong, Limits::default()).unwrap();
    assert_eq!(kind(&embedder.embed(&["a"], EmbedRole::Query).await), "refused");
}

#[tokio::test]
async fn a_server_that_fails_at_one_text_and_embeds_others_is_not_asked_for_it_again_and_again() {
    let text_fault = Some(("seven", Failure::ServerError));
    let double = Double::start(Behaviour { text_fault, ..Behaviour::default() });
    let embedder = wrapped_embedder(bare(&double), Limits::default()).unwrap();
    for texts in [&["one", "seven", "ten"][..], &["seven"]] {
        let before = double.embed_calls();
        let outcome = embedder.embed(texts, EmbedRole::Passage).await;
        assert_eq!((kind(&outcome), double.embed_calls() - before), ("refused", 3));
        let message = outcome.unwrap_err().to_string();
        assert!(message.contains("(500): the model fell over; it embeds other texts"), "{message}");
    }
}

#[tokio::test]
async fn a_server_that_fails_once_is_asked_for_the_same_texts_again() {
    let double = Double::start(Behaviour::default());
    let embedder = EndpointEmbedder::new(bare(&double)).unwrap();
    double.fail([Failure::ServerError]);
    assert_eq!(embedder.embed(&["a", "b"], EmbedRole::Passage).await.unwrap().len(), 2);
    // It is down: that passes, and is tried again later.
    double.fail([Failure::ServerError, Failure::ServerError]);
    assert_eq!(kind(&embedder.embed(&["a"], EmbedRole::Passage).await), "transient");
}

#[tokio::test]
async fn vectors_that_are_no_numbers_are_refused_at_once() {
    let data = |vector: &str| {
        Failure::Status(200, format!(r#"{{"data": [{{"index": 0, "embedding": {vector}}}]}}"#))
    };
    for vector in ["[0.5, null]", "null", "[NaN, 0.5]", "[0.0, 0.0]", "[]"] {
        let text_fault = Some(("seven", data(vector)));
        let double = Double::start(Behaviour { text_fault, ..Behaviour::default() });
        let embedder = wrapped_embedder(bare(&double), Limits::default()).unwrap();
        let outcome = embedder.embed(&["seven"], EmbedRole::Passage).await;
        assert_eq!((kind(&outcome), double.embed_calls()), ("refused", 1), "{vector}");
    }
}
