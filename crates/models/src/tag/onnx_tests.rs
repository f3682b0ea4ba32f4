//! On the tiny model of `tests/fixtures`, which knows a few names and labels each piece by itself.
use std::path::PathBuf;

use super::*;

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures")).join(name)
}

fn mentions(mentions: &[Mention]) -> Vec<(&str, &str, usize, usize)> {
    mentions.iter().map(|m| (m.text.as_str(), m.kind.as_str(), m.span.start, m.span.end)).collect()
}

#[tokio::test]
async fn pieces_become_words_and_words_entities() {
    let model = TokenClassifier::open(&fixture("token_classifier"), Some(2)).unwrap();
    assert_eq!(model.name(), "token_classifier");
    let text = "é Ada Lovelace wrote to the Royal  Society, Oslo, in May 1843. Ada Ada";
    let entities = model.entities(text).await.unwrap();
    assert_eq!(
        mentions(&entities),
        [
            ("Ada Lovelace", "person", 2, 14),
            ("Royal  Society", "organisation", 28, 42),
            ("Oslo", "place", 44, 48),
            ("May 1843", "date", 53, 61),
            ("Ada", "person", 63, 66),
            ("Ada", "person", 67, 70),
        ]
    );
    // Of the three pieces of `Lovelace` one is unsure, which `Ada` is not.
    assert!(entities[0].score < entities[2].score && entities[0].score > 0.7, "{entities:?}");
    assert!(model.entities(" \n").await.unwrap().is_empty());
}

#[tokio::test]
async fn a_long_text_is_read_to_its_end_and_nothing_is_found_twice() {
    let model = TokenClassifier::open(&fixture("token_classifier"), Some(2)).unwrap();
    // Every 4 tokens an entity of two words, at all places of the windows of 24.
    let text = "Ada Lovelace wrote , ".repeat(40);
    let entities = model.entities(&text).await.unwrap();
    assert_eq!(entities.len(), 40);
    assert!(entities.iter().all(|mention| mention.text == "Ada Lovelace"), "{entities:?}");
    let starts: Vec<usize> = entities.iter().map(|mention| mention.span.start).collect();
    assert_eq!(starts, (0..40).map(|n| n * 21).collect::<Vec<_>>());
}

#[test]
fn a_model_of_another_kind_is_told_from_a_token_classifier() {
    let error = TokenClassifier::open(&fixture("cross_encoder"), Some(1)).err().unwrap();
    assert!(error.to_string().contains("[texts, tokens, classes]"), "{error}");
    let folder = tempfile::tempdir().unwrap();
    for name in ["model.onnx", "tokenizer.json"] {
        let from = fixture("token_classifier").join(name);
        std::fs::copy(from, folder.path().join(name)).unwrap();
    }
    let message = || TokenClassifier::open(folder.path(), Some(1)).err().unwrap().to_string();
    assert!(message().contains("id2label"), "{}", message());
    for (config, words) in [
        (r#"{"id2label": {"0": "O", "1": "B-PER"}}"#, "names 2 classes"),
        (r#"{"id2label": {"0": "O", "7": "B-PER"}}"#, "the key `7`"),
        (r#"{"id2label": {"0": "O", "00": "B-PER"}}"#, "twice"),
    ] {
        std::fs::write(folder.path().join("config.json"), config).unwrap();
        assert!(message().contains(words), "{}", message());
    }
}
