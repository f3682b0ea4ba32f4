//! The reranker against a server on loopback.
use std::sync::Arc;

use crate::common::kind;
use halma_core::{LlmError, Reranker};
use halma_models::{RerankShape, RerankerKind, RerankerSettings, reranker};
use halma_testkit::double::{Behaviour, Double, Failure};
use proptest::prelude::*;
use serde_json::{Value, json};

const QUERY: &str = "Who built the harbour bridge?";
const TEXTS: [&str; 3] = [
    "Salt is mined inland.",
    "The harbour bridge was built by Anna Reed.",
    "A bridge is a bridge.",
];

fn settings(double: &Double, shape: RerankShape) -> RerankerSettings {
    RerankerSettings {
        kind: RerankerKind::Endpoint,
        url: double.url(),
        model: "m".into(),
        shape,
        ..RerankerSettings::default()
    }
}

fn connect(settings: &RerankerSettings) -> Arc<dyn Reranker> {
    reranker(settings, None, None).unwrap().unwrap()
}

fn is_best(scores: &[f32], best: usize) -> bool {
    let others = scores.iter().enumerate().filter(|(at, _)| *at != best);
    others.into_iter().all(|(_, score)| *score < scores[best])
}

#[tokio::test]
async fn scores_come_in_the_order_of_the_texts_in_both_shapes() {
    for shape in [RerankShape::Documents, RerankShape::Texts] {
        let double = Double::start(Behaviour { key: Some("k-1".into()), ..Behaviour::default() });
        let model = reranker(&settings(&double, shape), Some("k-1".into()), None).unwrap().unwrap();
        assert_eq!(model.name(), "m");
        let scores = model.rerank(QUERY, &TEXTS).await.unwrap();
        assert!(scores.len() == 3 && is_best(&scores, 1), "{scores:?}");
        let sent = double.requests().remove(0);
        assert_eq!(sent.path, "/v1/rerank");
        assert_eq!(sent.authorization.as_deref(), Some("Bearer k-1"));
        let body = match shape {
            RerankShape::Documents => {
                json!({"model": "m", "query": QUERY, "documents": TEXTS, "top_n": 3})
            }
            RerankShape::Texts => json!({"query": QUERY, "texts": TEXTS, "truncate": true}),
        };
        assert_eq!(sent.body, body);
    }
}

#[tokio::test]
async fn logits_are_brought_between_0_and_1_in_their_order() {
    let double = Double::start(Behaviour { logits: true, ..Behaviour::default() });
    let model = connect(&settings(&double, RerankShape::Documents));
    let scores = model.rerank(QUERY, &TEXTS).await.unwrap();
    assert!(scores.iter().all(|score| (0.0..=1.0).contains(score)) && is_best(&scores, 1));
    assert!(scores[0] < 0.1, "{scores:?}");

    let reply = |scores: [f32; 2]| {
        let item = |index: usize| json!({"index": index, "relevance_score": scores[index]});
        Failure::Status(200, json!({"results": [item(0), item(1)]}).to_string())
    };
    let close = |actual: &[f32], expected: [f32; 2]| {
        actual.iter().zip(expected).all(|(actual, expected)| (actual - expected).abs() < 1e-5)
    };
    // What only rounding puts outside is not a logit; what is said to be a logit is one anywhere.
    let sigmoid = |x: f32| 1.0 / (1.0 + (-x).exp());
    for (logits, sent, expected) in [
        (None, [1.0002, -0.0001], [1.0, 0.0]),
        (None, [0.5, 1.5], [sigmoid(0.5), sigmoid(1.5)]),
        (Some(true), [0.5, 0.25], [sigmoid(0.5), sigmoid(0.25)]),
        (Some(false), [0.5, 1.5], [0.5, 1.0]),
    ] {
        let settings = RerankerSettings { logits, ..settings(&double, RerankShape::Documents) };
        double.fail([reply(sent)]);
        let scores = connect(&settings).rerank(QUERY, &TEXTS[..2]).await.unwrap();
        assert!(close(&scores, expected), "{logits:?} {sent:?}: {scores:?}");
    }
}

#[tokio::test]
async fn many_texts_go_in_batches_and_are_judged_as_one_list() {
    let double = Double::start(Behaviour { logits: true, ..Behaviour::default() });
    let model = connect(&settings(&double, RerankShape::Texts));
    let texts: Vec<String> = (0..1_000).map(|n| format!("text number {n}")).collect();
    let mut texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    texts[777] = TEXTS[1];
    double.fail([Failure::ServerError, Failure::throttled(0), Failure::Dropped, Failure::CutReply]);
    let scores = model.rerank(QUERY, &texts).await.unwrap();
    assert!(scores.len() == 1_000 && is_best(&scores, 777));
    assert_eq!(double.failures_left(), 0);
    let requests = double.requests();
    let sizes = requests.iter().map(|sent| sent.body["texts"].as_array().unwrap().len());
    assert_eq!((sizes.max(), double.rerank_calls()), (Some(32), 32 + 3));

    let wide = RerankerSettings { batch: 2_000, ..settings(&double, RerankShape::Texts) };
    let before = double.rerank_calls();
    connect(&wide).rerank(QUERY, &texts).await.unwrap();
    assert!(connect(&wide).rerank(QUERY, &[]).await.unwrap().is_empty());
    assert_eq!(double.rerank_calls(), before + 1);
}

#[tokio::test]
async fn what_is_wrong_with_scores_is_told() {
    let double = Double::start(Behaviour::default());
    let sent = |body: Value| Failure::Status(200, body.to_string());
    let list = |items: Value| sent(json!({"results": items}));
    let item = |index: usize, score: Value| json!({"index": index, "relevance_score": score});
    let raw = |body: &str| Failure::Status(200, body.to_owned());
    let documents = connect(&settings(&double, RerankShape::Documents));
    for (failure, words) in [
        (list(json!([item(0, json!(0.5))])), "1 scores for 2 texts; that of text 1 is missing"),
        (list(json!([])), "0 scores for 2 texts"),
        (list(json!([item(0, json!(0.5)), item(0, json!(0.5))])), "text 0 twice"),
        (list(json!([item(0, json!(0.5)), item(2, json!(0.5))])), "text 2 of 2"),
        (list(json!([item(0, json!(null)), item(1, json!(0.5))])), "text 0 that is not a number"),
        (list(json!([item(0, json!(1e39)), item(1, json!(0.5))])), "text 0 that is not a number"),
        (raw(r#"{"results":[{"index":0,"relevance_score":NaN}]}"#), "not a number"),
        (raw(r#"[{"index":0,"score":0.5},{"index":1,"score":0.5}]"#), "its `shape` \"texts\""),
        (sent(json!({"data": []})), "no `results`"),
        (sent(json!({"error": {"message": "no such key", "code": 401}})), "key_env"),
        (Failure::TooLong, "too long"),
        (Failure::Unauthorized, "key_env"),
        (Failure::Refused, "not to my taste"),
    ] {
        double.fail([failure]);
        let error = documents.rerank(QUERY, &TEXTS[..2]).await.unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    assert_eq!(double.failures_left(), 0);
    let texts = connect(&settings(&double, RerankShape::Texts));
    double.fail([list(json!([item(0, json!(0.5)), item(1, json!(0.5))]))]);
    let error = texts.rerank(QUERY, &TEXTS[..2]).await;
    assert_eq!(kind(&error), "refused");
    assert!(error.unwrap_err().to_string().contains("its `shape` \"documents\""));
}

#[test]
fn settings_that_cannot_be_are_configuration_errors() {
    let endpoint = |url: &str, batch| RerankerSettings {
        kind: RerankerKind::Endpoint,
        url: url.into(),
        batch,
        ..RerankerSettings::default()
    };
    let onnx = RerankerSettings { kind: RerankerKind::Onnx, ..RerankerSettings::default() };
    let nowhere = RerankerSettings { path: Some("/nowhere".into()), ..onnx.clone() };
    for (settings, key, words) in [
        (endpoint("", 32), "url", "is not a valid URL"),
        (endpoint("http://me:pass@host/v1", 32), "url", "user name or password"),
        (endpoint("http://host/v1/rerank", 32), "url", "one call"),
        (endpoint("http://host/v1", 0), "batch", "`0`"),
        (onnx, "path", "not set"),
        (nowhere, "path", "model.onnx"),
    ] {
        let error = reranker(&settings, None, None).err().unwrap();
        assert_eq!((error.key.as_str(), error.file.as_str()), (key, ""));
        assert!(error.reason.contains(words) && !error.hint.is_empty(), "{error}");
        assert!(!error.to_string().contains("pass@"), "{error}");
    }
    assert!(reranker(&RerankerSettings::default(), None, None).unwrap().is_none());
    let unnamed = RerankerSettings { model: String::new(), ..endpoint("http://host/v1", 32) };
    let model = reranker(&unnamed, None, None).unwrap().unwrap();
    assert_eq!(model.name(), "http://host/v1/rerank");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    /// Whatever a server does with the key it was sent, no error shows it.
    #[test]
    fn no_error_ever_shows_the_key(key in "[a-zA-Z0-9_.~+/-]{12,40}", which in 0..5_usize) {
        let echo = format!(r#"{{"error":{{"message":"bad key {key}","code":"{key}"}}}}"#);
        let failure = match which {
            0 => Failure::Status(401, echo),
            1 => Failure::Status(400, echo),
            2 => Failure::Status(200, echo),
            3 => Failure::Status(200, format!("<p>{key}</p>")),
            _ => Failure::Status(200, format!(r#"{{"results":"{key}"}}"#)),
        };
        let double = Double::start(Behaviour::default());
        double.fail(vec![failure; 9]);
        let settings = settings(&double, RerankShape::Documents);
        let model = reranker(&settings, Some(key.clone()), None).unwrap().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let error: LlmError = runtime.block_on(model.rerank(QUERY, &TEXTS)).unwrap_err();
        prop_assert!(!format!("{error} {error:?}").contains(&key), "{error:?}");
    }
}
