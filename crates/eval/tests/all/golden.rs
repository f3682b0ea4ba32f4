//! Figures that others have published, recomputed: `AtomR`'s scores from its recorded predictions,
//! `ProbTree`'s winners from its released trees. A cut of our own where the files are not at hand.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
use std::path::{Path, PathBuf};

use halma_eval::metrics::{Cover, Profile, cover_em, score};
use serde::Deserialize;
use serde_json::Value;

fn recorded(name: &str) -> PathBuf {
    let folder = std::env::var_os("HALMA_DATA").expect("HALMA_DATA names the folder");
    PathBuf::from(folder).join("recorded").join(name)
}

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

#[derive(Deserialize)]
struct Prediction {
    predicted: String,
    gold: Vec<String>,
}

/// EM, `CoverEM` and F1 over a file, to four places as they are published.
fn figures(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    let all: Vec<Prediction> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let count = f64::from(u32::try_from(all.len()).unwrap());
    let mean = |value: &dyn Fn(&Prediction) -> f64| all.iter().map(value).sum::<f64>() / count;
    let em = mean(&|one| score(Profile::Atomr, &one.predicted, &one.gold).em);
    let f1 = mean(&|one| score(Profile::Atomr, &one.predicted, &one.gold).f1);
    let cover = mean(&|one| cover_em(Cover::Characters, Profile::Atomr, &one.predicted, &one.gold));
    format!("{em:.4} {cover:.4} {f1:.4}")
}

#[test]
fn the_recorded_predictions_of_atomr_recompute() {
    assert_eq!(figures(&fixture("atomr_predictions.jsonl")), "0.5000 0.7500 0.6429");
}

#[test]
#[ignore = "needs HALMA_DATA: the recorded predictions of AtomR's authors"]
fn the_published_predictions_of_atomr_recompute() {
    for (name, wanted) in [
        ("hotpotqa_test_500", "0.5620 0.6400 0.7127"),
        ("2Wiki_test_500", "0.6640 0.8280 0.7872"),
        ("musique_test_500", "0.2040 0.3260 0.3611"),
        ("crag_test_500", "0.6200 0.6700 0.7139"),
        ("blendqa_445", "0.2494 0.3371 0.4263"),
    ] {
        let path = recorded(&format!("atomr_{name}_predictions.jsonl"));
        assert_eq!(figures(&path), wanted, "{name}");
    }
}

/// A node of a released tree; the first child before its parent.
#[derive(Deserialize)]
struct Node {
    idx: usize,
    sons: Vec<usize>,
    qd_logprob: Option<f64>,
    cb_answer: Candidate,
    ob_answer: Candidate,
    child_answer: Option<Candidate>,
    answer: Candidate,
}

/// An answer, its confidence, and in one of the two releases its reasoning.
#[derive(Deserialize, Clone)]
#[serde(from = "Vec<Value>")]
struct Candidate {
    text: String,
    confidence: f64,
}

impl From<Vec<Value>> for Candidate {
    fn from(parts: Vec<Value>) -> Self {
        let text = parts[0].as_str().unwrap().to_owned();
        Self { text, confidence: parts[1].as_f64().unwrap() }
    }
}

/// What an open-collector reader that does not know is worth, as in the release.
const NOTHING: f64 = -100.0;

/// The most confident of closed collector, open collector and children. The children's answer is worth the
/// mean of its own reasoning, the decomposition and each child's answer; the `MuSiQue` release
/// holds that mean already, the `HotpotQA` release what goes into it.
fn winner(node: &Node, tree: &[Node], averaged: bool) -> Candidate {
    let mut open = node.ob_answer.clone();
    if open.text.to_lowercase().contains("unknown") {
        open.confidence = NOTHING;
    }
    let mut all = vec![node.cb_answer.clone(), open];
    if let Some(child) = &node.child_answer {
        let of = |son: &usize| tree.iter().find(|n| n.idx == *son).unwrap().answer.confidence;
        let sons: f64 = node.sons.iter().map(of).sum();
        let parts = f64::from(u32::try_from(node.sons.len()).unwrap()) + 2.0;
        let mean = (child.confidence + node.qd_logprob.unwrap() + sons) / parts;
        let confidence = if averaged { child.confidence } else { mean };
        all.push(Candidate { confidence, ..child.clone() });
    }
    let mut best = all[0].clone();
    for candidate in &all[1..] {
        if candidate.confidence > best.confidence {
            best = candidate.clone();
        }
    }
    best
}

/// Checks every node of every tree; how many there are.
fn trees_agree(path: &Path, averaged: bool) -> usize {
    let trees: Vec<Vec<Node>> =
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    for (i, tree) in trees.iter().enumerate() {
        for node in tree {
            let winner = winner(node, tree, averaged);
            let place = format!("{}: tree {i}, node {}", path.display(), node.idx);
            assert_eq!(winner.text, node.answer.text, "{place}");
            assert!((winner.confidence - node.answer.confidence).abs() < 1e-12, "{place}");
        }
    }
    trees.iter().map(Vec::len).sum()
}

#[test]
fn the_released_trees_of_probtree_give_their_recorded_winners() {
    assert_eq!(trees_agree(&fixture("probtree.json"), false), 4);
}

#[test]
#[ignore = "needs HALMA_DATA: the released trees of ProbTree's authors"]
fn the_published_trees_of_probtree_give_their_recorded_winners() {
    for (name, averaged, nodes) in [("hotpotqa", false, 1_493), ("musique", true, 1_869)] {
        let path = recorded(&format!("probtree_{name}_released.json"));
        assert_eq!(trees_agree(&path, averaged), nodes, "{name}");
    }
}
