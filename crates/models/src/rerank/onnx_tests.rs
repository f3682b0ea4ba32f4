//! On the tiny models of `tests/fixtures`, which score a pair by the share of the query's words
//! that the text has.
use std::path::PathBuf;

use super::*;

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures")).join(name)
}

fn open(name: &str, label: Option<&str>) -> Result<CrossEncoder, OnnxError> {
    CrossEncoder::open(&fixture(name), label, Some(2))
}

fn close(actual: &[f32], expected: &[f32]) -> bool {
    actual.len() == expected.len()
        && actual.iter().zip(expected).all(|(actual, expected)| (actual - expected).abs() < 1e-5)
}

#[tokio::test]
async fn one_output_passes_a_sigmoid() {
    let model = open("cross_encoder", None).unwrap();
    assert_eq!(model.name(), "cross_encoder");
    let texts = [
        "The stone bridge of the river.",
        "A bridge.",
        "Salt and salt and salt again and salt.",
        "",
    ];
    let scores = model.rerank("River bridge?", &texts).await.unwrap();
    assert!(close(&scores, &[4.0, 0.0, -4.0, -4.0].map(sigmoid)), "{scores:?}");
    // Two texts the other way round would be judged by the words of the text.
    let scores = model.rerank("bridge", &["the stone bridge of the river"]).await.unwrap();
    assert!(close(&scores, &[sigmoid(4.0)]), "{scores:?}");
    assert!(model.rerank("bridge", &[]).await.unwrap().is_empty());
    let alone = CrossEncoder::open(&fixture("cross_encoder/model.onnx"), None, Some(1)).unwrap();
    assert_eq!(alone.name(), "cross_encoder");
}

#[tokio::test]
async fn the_entailing_class_makes_the_score_and_the_text_stands_first() {
    let softmax = |share: f32| {
        let [no, yes, so_so] = [-2.0 * share, 6.0 * share - 3.0, 1.0].map(f32::exp);
        (yes / (no + yes + so_so), no / (no + yes + so_so))
    };
    let texts = ["The stone bridge of the river.", "A bridge.", "Salt."];
    let model = open("entailment", None).unwrap();
    let scores = model.rerank("River bridge", &texts).await.unwrap();
    assert!(close(&scores, &[1.0, 0.5, 0.0].map(|share| softmax(share).0)), "{scores:?}");
    // Another class is read as a cross-encoder's, the query first.
    for label in ["Contradiction", "0"] {
        let model = open("entailment", Some(label)).unwrap();
        let scores = model.rerank("bridge harbour", &["river bridge mill salt"]).await.unwrap();
        assert!(close(&scores, &[softmax(0.25).1]), "{scores:?}");
    }
}

#[tokio::test]
async fn a_score_is_the_same_in_every_company_and_long_texts_are_cut() {
    let model = open("cross_encoder", None).unwrap();
    let long = "salt ".repeat(500);
    let late = format!("{long} bridge");
    let mut texts = vec!["bridge", "river", &long, &late];
    texts.extend(vec!["mill stone"; 600]);
    let scores = model.rerank("bridge", &texts).await.unwrap();
    assert_eq!(scores.len(), texts.len());
    let expected = [4.0, -4.0, -4.0, -4.0, -4.0].map(sigmoid);
    assert!(close(&scores[..5], &expected), "{:?}", &scores[..5]);
    // A query that alone is too long is cut as well.
    let query = "bridge ".repeat(500);
    let scores = model.rerank(&query, &["bridge"]).await.unwrap();
    assert!(close(&scores, &[sigmoid(4.0)]), "{scores:?}");
}

#[test]
fn the_class_that_counts_is_found_or_asked_for() {
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    let class = |at, entails| Ok(Head::Class { at, entails });
    assert_eq!(head(1, &[], None), Ok(Head::One));
    assert_eq!(head(2, &names(&["LABEL_0", "LABEL_1"]), None), class(1, false));
    assert_eq!(head(2, &names(&["entailment", "not_entailment"]), None), class(0, true));
    let three = names(&["LABEL_0", "LABEL_1", "LABEL_2"]);
    assert_eq!(head(3, &three, Some("label_2")), class(2, false));
    for (classes, wanted) in [(3, None), (3, Some("3")), (2, Some("yes"))] {
        let error = head(classes, &three, wanted).unwrap_err();
        assert!(error.contains("LABEL_1") && error.contains("set `label`"), "{error}");
    }
}

#[test]
fn what_is_missing_or_wrong_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let told = || CrossEncoder::open(folder.path(), None, Some(1)).err().unwrap().to_string();
    assert!(told().contains("model.onnx"));
    std::fs::create_dir(folder.path().join("onnx")).unwrap();
    let graph = folder.path().join("onnx/model.onnx");
    std::fs::copy(fixture("cross_encoder/model.onnx"), &graph).unwrap();
    assert!(told().contains("tokenizer.json"));
    for name in ["tokenizer.json", "config.json"] {
        std::fs::copy(fixture("cross_encoder").join(name), folder.path().join(name)).unwrap();
    }
    // The graph in a folder of its own, as exporters put it.
    assert!(CrossEncoder::open(folder.path(), None, Some(1)).is_ok());
    std::fs::copy(fixture("token_classifier/model.onnx"), &graph).unwrap();
    assert!(told().contains("[pairs, classes]"), "{}", told());
    std::fs::write(&graph, "no graph").unwrap();
    assert!(told().contains("cannot use the graph"), "{}", told());
    std::fs::write(folder.path().join("config.json"), "{").unwrap();
    assert!(told().contains("config.json"), "{}", told());
    std::fs::write(folder.path().join("config.json"), r#"{"max_position_embeddings": 2}"#).unwrap();
    assert!(told().contains("takes 2 tokens"), "{}", told());
}
