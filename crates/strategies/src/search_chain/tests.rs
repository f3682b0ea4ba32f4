//! Golden transcripts of `SearChain`, and its settings.
use halma_core::Budget;
use halma_testkit::{Script, Toy};

use super::*;
use crate::golden::{Run, golden};

const CHAIN: &str = "search_chain/chain";
const VERIFY: &str = "search_chain/verify";
const ANSWER: &str = "search_chain/answer";

const BOTH: &str = r#"{"nodes": ["Who was the architect of the Varn lighthouse? -> Ilse Thorn", "Where was #1 born? -> Denmark"]}"#;
const UNSOLVED: &str = r#"{"nodes": ["Who was the architect of the Varn lighthouse? -> ?"]}"#;
const BORN: &str = r#"{"nodes": ["Where was Ilse Thorn born? -> Norway"]}"#;
const COMPLETE: &str = r#"{"nodes": []}"#;
const THORN: &str =
    r#"{"rationale": "Passage 1.", "answer": "Ilse Thorn", "agrees": true, "sure": true}"#;
const NEW_THORN: &str =
    r#"{"rationale": "Passage 1.", "answer": "Ilse Thorn", "agrees": false, "sure": true}"#;
const NOT_DENMARK: &str =
    r#"{"rationale": "Passage 1.", "answer": "Norway", "agrees": false, "sure": true}"#;
const PERHAPS: &str =
    r#"{"rationale": "Passage 1.", "answer": "Norway", "agrees": false, "sure": false}"#;
const SILENT: &str =
    r#"{"rationale": "They do not say.", "answer": "", "agrees": false, "sure": false}"#;
const NORWAY_HOLDS: &str =
    r#"{"rationale": "Passage 1.", "answer": "Norway", "agrees": true, "sure": true}"#;
const NORWAY: &str = r#"{"rationale": "Her birthplace.", "answer": "Norway"}"#;
const NOTHING: &str = r#"{"rationale": "The chain does not tell.", "answer": ""}"#;

fn strategy() -> SearchChain {
    SearchChain::default()
}

#[tokio::test]
async fn a_wrong_answer_is_corrected_and_the_chain_goes_on_from_there() {
    let model = Script::new([
        (CHAIN, BOTH),
        (VERIFY, THORN),
        (VERIFY, NOT_DENMARK),
        (CHAIN, COMPLETE),
        (ANSWER, NORWAY),
    ]);
    golden("search_chain/correction", &strategy(), Run::new(model)).await;
}

#[tokio::test]
async fn an_unsolved_node_is_completed() {
    let model = Script::new([
        (CHAIN, UNSOLVED),
        (VERIFY, NEW_THORN),
        (CHAIN, BORN),
        (VERIFY, NORWAY_HOLDS),
        (ANSWER, NORWAY),
    ]);
    golden("search_chain/completion", &strategy(), Run::new(model)).await;
}

#[tokio::test]
async fn a_reader_that_is_not_sure_changes_nothing() {
    let model = Script::new([(CHAIN, BOTH), (VERIFY, THORN), (VERIFY, PERHAPS), (ANSWER, NOTHING)]);
    golden("search_chain/unsure", &strategy(), Run::new(model)).await;
}

#[tokio::test]
async fn what_the_passages_do_not_say_stays_unchecked() {
    let model =
        Script::new([(CHAIN, BOTH), (VERIFY, SILENT), (VERIFY, NORWAY_HOLDS), (ANSWER, NORWAY)]);
    golden("search_chain/silent", &strategy(), Run::new(model)).await;
}

#[tokio::test]
async fn a_model_that_never_solves_anything_is_stopped() {
    let ask = |i| format!(r#"{{"nodes": ["Who is Thorn {i}? -> ?"]}}"#);
    let chains: Vec<String> = (1..=3).map(ask).collect();
    let mut steps = vec![];
    for chain in &chains {
        steps.extend([(CHAIN, Ok(chain.as_str())), (VERIFY, Ok(SILENT))]);
    }
    steps.push((ANSWER, Ok(NOTHING)));
    let model = Script::with_failures(steps);
    let strategy = SearchChain { n: 3, ..strategy() };
    golden("search_chain/never_solved", &strategy, Run::new(model)).await;
}

#[tokio::test]
async fn what_was_checked_is_not_checked_again() {
    let model =
        Script::new([(CHAIN, UNSOLVED), (VERIFY, NEW_THORN), (CHAIN, UNSOLVED), (ANSWER, NOTHING)]);
    golden("search_chain/repeats", &strategy(), Run::new(model)).await;
}

#[tokio::test]
async fn references_that_lead_forward_nowhere_and_in_a_circle_are_repaired() {
    let nodes = r#"{"nodes": ["Where was #2 born? -> Norway", "Who built #9? -> Ilse Thorn", "Is #4 a reef? -> yes", "Is #3 true of a reef? -> yes"]}"#;
    let model = Script::new([
        (CHAIN, nodes),
        (VERIFY, NORWAY_HOLDS),
        (VERIFY, THORN),
        (VERIFY, SILENT),
        (ANSWER, NORWAY),
    ]);
    golden("search_chain/bad_references", &strategy(), Run::new(model)).await;
}

#[tokio::test]
async fn forty_nodes_are_cut() {
    let node = |i| serde_json::json!(format!("Who is number {i}? -> Bo"));
    let nodes: Vec<serde_json::Value> = (1..=40).map(node).collect();
    let nodes = serde_json::json!({ "nodes": nodes }).to_string();
    let model = Script::new([(CHAIN, nodes.as_str())]);
    let strategy = SearchChain { max_nodes: 2, ..strategy() };
    golden("search_chain/forty", &strategy, Run::new(model)).await;
}

#[tokio::test]
async fn an_empty_chain_and_the_question_alone_are_chains() {
    let model = Script::new([(CHAIN, COMPLETE), (ANSWER, NOTHING)]);
    golden("search_chain/empty", &strategy(), Run::new(model)).await;
    let whole = r#"{"nodes": ["In which country was the architect of the Varn lighthouse born? -> Norway"]}"#;
    let model = Script::new([(CHAIN, whole), (VERIFY, SILENT), (ANSWER, NORWAY)]);
    golden("search_chain/same_question", &strategy(), Run::new(model)).await;
}

#[tokio::test]
async fn an_empty_base_abstains_without_reading() {
    let model = Script::new([(CHAIN, BOTH)]);
    let run = Run { knowledge: Toy::empty(), ..Run::new(model) };
    golden("search_chain/empty_base", &strategy(), run).await;
}

#[tokio::test]
async fn a_spent_budget_closes_with_what_was_checked() {
    let budget = Budget { calls: Some(3), ..Budget::default() };
    let model = Script::new([(CHAIN, BOTH), (VERIFY, THORN), (ANSWER, NOTHING)]);
    golden("search_chain/spent_budget", &strategy(), Run { budget, ..Run::new(model) }).await;
}

#[tokio::test]
async fn an_answer_whose_check_cannot_be_read_stays_unchecked() {
    let bad = (VERIFY, "?");
    let model = Script::new([
        (CHAIN, BOTH),
        bad,
        bad,
        bad,
        (VERIFY, NOT_DENMARK),
        (CHAIN, COMPLETE),
        (ANSWER, NORWAY),
    ]);
    golden("search_chain/always_malformed", &strategy(), Run::new(model)).await;
}

#[test]
fn settings_that_cannot_work_are_refused() {
    let refused = |table: &str| (ENTRY.build)(table.parse().unwrap()).err().unwrap();
    assert!(refused("n = 0").contains("`n`"));
    assert!(refused("max_nodes = 0").contains("`max_nodes`"));
    assert!(refused("rounds = 3").contains("`rounds`"));
}
