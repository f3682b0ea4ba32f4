//! The embedder as a whole: on a tiny random BERT always, on the real weights where they are.
use std::fs;
use std::path::{Path, PathBuf};

use halma_core::{EmbedRole, Embedder, Vector};

use super::tiny::{POSITIONS, Tiny};
use super::tokens::Tokens;
use super::{LocalOptions, MiniLm, NAME, Precision, WeightsError, locate};
use crate::embed::Pooling;

fn close(actual: &[f32], expected: &[f32]) -> bool {
    actual.len() == expected.len()
        && actual.iter().zip(expected).all(|(actual, expected)| (actual - expected).abs() < 1e-5)
}

async fn embed(model: &MiniLm, texts: &[&str]) -> Vec<Vector> {
    model.embed(texts, EmbedRole::Passage).await.unwrap()
}

/// A folder with a tiny model, and its tokenizer.
fn tiny(layers: usize) -> (tempfile::TempDir, Tiny, Tokens) {
    let folder = tempfile::tempdir().unwrap();
    let tiny = Tiny::new(layers);
    tiny.write(folder.path());
    let tokens = Tokens::open(&folder.path().join("tokenizer.json"), POSITIONS).unwrap();
    (folder, tiny, tokens)
}

#[tokio::test]
async fn the_exported_graph_computes_what_the_model_means() {
    for layers in [1, 3] {
        let (folder, tiny, tokens) = tiny(layers);
        let model = MiniLm::open(folder.path(), Some(2)).unwrap();
        for text in ["Salt rivers.", "bridge", "", "unheard of . . salt"] {
            let ids = tokens.ids(text).unwrap();
            let actual = embed(&model, &[text]).await.remove(0);
            let expected = tiny.embed(&ids);
            assert!(close(&actual, &expected), "{text}: {actual:?}, but {expected:?}");
        }
    }
}

#[tokio::test]
async fn a_text_has_the_same_vector_in_every_company() {
    let (folder, ..) = tiny(2);
    let model = MiniLm::open(folder.path(), Some(3)).unwrap();
    let long = "salt river bridges . ".repeat(20);
    let mut texts = vec!["salt", "rivers", &long, "bridge . bridge", ""];
    // Enough for several concurrent runs.
    texts.extend(vec!["river . salt"; 400]);
    let together = embed(&model, &texts).await;
    assert_eq!(together.len(), texts.len());
    let alone = MiniLm::open(folder.path(), Some(1)).unwrap();
    for (text, vector) in texts.iter().zip(&together).take(6) {
        // To the last bit: bases of the same documents are the same.
        assert_eq!(vector, &embed(&model, &[text]).await[0], "{text}");
        assert_eq!(vector, &embed(&alone, &[text, "salt . river"]).await[0], "{text}");
        assert!((vector.iter().map(|value| value * value).sum::<f32>() - 1.0).abs() < 1e-5);
    }
    assert!(embed(&model, &[]).await.is_empty());
}

fn in_bytes(folder: &Path, threads: usize) -> MiniLm {
    let (threads, precision) = (Some(threads), Precision::Int8);
    MiniLm::open_with(folder, LocalOptions { threads, precision, ..Default::default() }).unwrap()
}

#[tokio::test]
async fn weights_of_bytes_give_nearly_the_same_vectors_in_every_company() {
    let (folder, tiny, tokens) = tiny(3);
    let model = in_bytes(folder.path(), 3);
    assert!(model.model().ends_with("-int8"));
    let long = "salt river bridges . ".repeat(20);
    let texts = ["salt", "rivers", &long, "bridge . bridge", "", "rivers", "river . salt"];
    let together = embed(&model, &texts).await;
    let alone = in_bytes(folder.path(), 1);
    for (text, vector) in texts.iter().zip(&together) {
        assert_eq!(vector, &embed(&alone, &[text]).await[0], "{text}");
        let expected = tiny.embed(&tokens.ids(text).unwrap());
        let cosine: f32 = vector.iter().zip(&expected).map(|(a, b)| a * b).sum();
        assert!(cosine > 0.999, "{text}: {cosine}");
    }
    // A graph of others has no weights that could be rounded.
    let graph = folder.path().join("model.onnx");
    let options = LocalOptions { precision: Precision::Int8, ..Default::default() };
    let error = MiniLm::open_with(&graph, options).err().unwrap().to_string();
    assert!(error.contains("precision = \"f32\""), "{error}");
}

#[tokio::test]
async fn long_texts_are_cut_at_what_the_model_can_take() {
    let (folder, _, tokens) = tiny(1);
    let words = "salt ".repeat(2 * POSITIONS);
    assert_eq!(tokens.ids(&words).unwrap().len(), POSITIONS);
    let model = MiniLm::open(folder.path(), Some(1)).unwrap();
    let fits = "salt ".repeat(POSITIONS - 2);
    let vectors = embed(&model, &[&words, &fits]).await;
    assert!(close(&vectors[0], &vectors[1]));
}

#[tokio::test]
async fn the_graph_is_made_once_and_again_when_it_is_outdated() {
    let (folder, ..) = tiny(1);
    let graph = folder.path().join("model.onnx");
    let before = embed(&MiniLm::open(folder.path(), Some(1)).unwrap(), &["salt"]).await;
    let bytes = fs::read(&graph).unwrap();
    let made = fs::metadata(&graph).unwrap().modified().unwrap();
    MiniLm::open(folder.path(), Some(1)).unwrap();
    assert_eq!(fs::metadata(&graph).unwrap().modified().unwrap(), made, "made only once");

    let version = [b"\x1a\x01".as_slice(), super::export::EXPORT_VERSION.as_bytes()].concat();
    let at = bytes.windows(version.len()).position(|window| window == version).unwrap();
    let mut old = bytes.clone();
    old[at + 2] = b'0';
    fs::write(&graph, old).unwrap();
    let after = embed(&MiniLm::open(folder.path(), Some(1)).unwrap(), &["salt"]).await;
    assert_eq!(fs::read(&graph).unwrap(), bytes, "an old version is replaced");
    assert_eq!(before, after);
}

#[test]
fn other_encoders_bear_the_names_of_their_folder_and_weights() {
    let folder = tempfile::tempdir().unwrap();
    let encoder_folder = folder.path().join("my-encoder");
    fs::create_dir(&encoder_folder).unwrap();
    Tiny::new(1).prefixed().write(&encoder_folder);
    let name = MiniLm::open(&encoder_folder, Some(1)).unwrap().model().to_owned();
    assert!(name.starts_with("my-encoder#"), "{name}");
    let graph = encoder_folder.join("model.onnx");
    assert_eq!(MiniLm::open(&graph, Some(1)).unwrap().model(), name);
    fs::remove_file(&graph).unwrap();
    Tiny::new(2).write(&encoder_folder);
    let other = MiniLm::open(&encoder_folder, Some(1)).unwrap().model().to_owned();
    assert!(other.starts_with("my-encoder#") && other != name, "{other}");
    let pooling = Some(Pooling::First);
    let first = LocalOptions { pooling, ..Default::default() };
    assert_eq!(
        MiniLm::open_with(&encoder_folder, first).unwrap().model(),
        format!("{other}-first")
    );
}

#[tokio::test]
async fn vectors_are_made_of_the_tokens_that_the_model_wants() {
    let (folder, tiny, tokens) = tiny(2);
    let ids = tokens.ids("salt rivers.").unwrap();
    let states = tiny.states(&ids, ids.len());
    for (pooling, expected) in
        [(Pooling::First, states.first().unwrap()), (Pooling::Last, states.last().unwrap())]
    {
        let length = expected.iter().map(|value| value * value).sum::<f32>().sqrt();
        let expected: Vec<f32> = expected.iter().map(|value| value / length).collect();
        let options = LocalOptions { pooling: Some(pooling), ..Default::default() };
        let model = MiniLm::open_with(folder.path(), options).unwrap();
        // Together with a longer text, so that there is padding.
        let vectors = embed(&model, &["salt rivers.", "salt river bridges . salt"]).await;
        assert!(close(&vectors[0], &expected), "{pooling:?}: {vectors:?}, but {expected:?}");
    }
}

#[test]
fn what_is_missing_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let error = locate(Some(folder.path())).unwrap_err();
    assert!(matches!(&error, WeightsError::Absent { path } if path == folder.path()), "{error}");
    let missing = "encoder.layer.0.output.dense.bias";
    Tiny::new(1).without(missing).write(folder.path());
    let error = MiniLm::open(folder.path(), Some(1)).err().unwrap().to_string();
    assert!(error.contains(missing), "{error}");
    let left: Vec<PathBuf> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(left.len(), 3, "no drafts remain: {left:?}");

    let config = folder.path().join("config.json");
    for (from, to, told) in [
        ("\"gelu\"", "\"relu\"", "`hidden_act` is `relu`"),
        ("\"vocab_size\":9", "\"vocab_size\":8", "word_embeddings"),
        ("\"num_attention_heads\":2", "\"num_attention_heads\":3", "heads"),
    ] {
        let changed = Tiny::new(1).config().replace(from, to);
        assert!(changed.contains(to), "{changed}");
        fs::write(&config, changed).unwrap();
        let error = MiniLm::open(folder.path(), Some(1)).err().unwrap().to_string();
        assert!(error.contains(told), "{error}");
    }
}

/// The published weights, from `HALMA_MINILM_DIR` or the cache.
fn real() -> Option<MiniLm> {
    let given = std::env::var_os("HALMA_MINILM_DIR").map(PathBuf::from);
    match locate(given.as_deref()) {
        Ok(path) => Some(MiniLm::open(&path, Some(2)).unwrap()),
        Err(error) => {
            #[expect(clippy::print_stderr, reason = "a skipped test says so")]
            {
                eprintln!("skipped: {error}");
            }
            None
        }
    }
}

/// First dimensions as a plain double-precision BERT computes them from the same weights.
#[tokio::test]
async fn known_sentences_have_their_known_vectors() {
    let Some(model) = real() else { return };
    assert_eq!(model.model(), NAME);
    let long = "The history of the city is long. ".repeat(60);
    let published: [(&str, [f32; 6]); 3] = [
        (
            "Who directed the film Jaws?",
            [-0.098_659, 0.009_726, -0.038_315, 0.019_699, -0.067_364, -0.014_739],
        ),
        (
            "Zürich liegt am Zürichsee; naïve café façade.",
            [0.030_228, 0.107_139, 0.047_744, 0.005_860, 0.005_301, -0.014_421],
        ),
        (&long, [0.028_626, 0.116_107, 0.019_895, -0.006_834, -0.029_930, 0.091_862]),
    ];
    let texts = published.map(|(text, _)| text);
    let embedded = embed(&model, &texts).await;
    for ((text, expected), embedded) in published.iter().zip(&embedded) {
        assert_eq!(embedded.len(), 384);
        assert!(close(&embedded[..6], expected), "{text}: {:?}, but {expected:?}", &embedded[..6]);
    }
}

#[tokio::test]
async fn a_question_is_nearest_to_the_passage_that_answers_it() {
    let Some(model) = real() else { return };
    let passages = [
        "Steven Spielberg was born in Cincinnati, Ohio.",
        "Jaws is a 1975 thriller film directed by Steven Spielberg.",
        "The Danube flows through ten countries.",
    ];
    let passages = embed(&model, &passages).await;
    let query = model.embed(&["Who directed Jaws?"], EmbedRole::Query).await.unwrap().remove(0);
    let score = |passage: &Vector| passage.iter().zip(&query).map(|(a, b)| a * b).sum::<f32>();
    let scores: Vec<f32> = passages.iter().map(score).collect();
    assert!(scores[1] > 0.6 && scores[1] > scores[0] && scores[0] > scores[2], "{scores:?}");
}
