//! Golden transcripts of `ProbTree`, and its settings.
use halma_core::Budget;
use halma_testkit::{Script, Timed, Toy};

use super::*;
use crate::golden::{Run, golden, timed};

const TREE: &str = "prob_tree/tree";
const CLOSED: &str = "prob_tree/closed";
const OPEN: &str = "prob_tree/open";
const PARTS: &str = "prob_tree/parts";

const WHOLE: &str = "In which country was the architect of the Varn lighthouse born?";
const TWO: &str = r#"{"nodes": [{"question": "In which country was the architect of the Varn lighthouse born?", "sub_questions": ["Who was the architect of the Varn lighthouse?", "In which country was #1 born?"]}]}"#;
const NO_TREE: &str = r#"{"nodes": [{"question": "It", "sub_questions": []}]}"#;
const THORN: &str = r#"{"rationale": "It was Ilse Thorn.", "answer": "Ilse Thorn"}"#;
const MOE: &str = r#"{"rationale": "It was Per Moe.", "answer": "Per Moe"}"#;
const NORWAY: &str = r#"{"rationale": "She was born in Norway.", "answer": "Norway"}"#;
const DENMARK: &str = r#"{"rationale": "He was born in Denmark.", "answer": "Denmark"}"#;
const NOTHING: &str = r#"{"rationale": "It is not told.", "answer": ""}"#;

fn tree() -> ProbTree {
    ProbTree { chunks: 1, ..ProbTree::default() }
}

/// A plan of one list.
fn list(sub_questions: &[&str]) -> String {
    let nodes = [serde_json::json!({ "question": WHOLE, "sub_questions": sub_questions })];
    serde_json::json!({ "nodes": nodes }).to_string()
}

#[tokio::test]
async fn each_node_believes_what_it_is_surest_of() {
    // The root's closed book is wrong and unsure; the first part's open book beats its closed one.
    let model = Script::scored(&[
        (TREE, TWO, -0.1),
        (CLOSED, DENMARK, -0.6),
        (OPEN, NOTHING, -0.01),
        (CLOSED, MOE, -0.5),
        (OPEN, THORN, -0.1),
        (CLOSED, DENMARK, -0.4),
        (OPEN, NORWAY, -0.1),
        (PARTS, NORWAY, -0.1),
    ]);
    golden("prob_tree/two_parts", &tree(), Run::new(model)).await;
}

#[tokio::test]
async fn unsure_parts_lose_to_a_sure_reading_of_the_whole() {
    let model = Script::scored(&[
        (TREE, TWO, -2.0),
        (CLOSED, NOTHING, -0.1),
        (OPEN, NORWAY, -0.3),
        (CLOSED, MOE, -0.5),
        (OPEN, NOTHING, -0.1),
        (CLOSED, DENMARK, -0.4),
        (PARTS, DENMARK, -0.1),
    ]);
    golden("prob_tree/open_book", &tree(), Run::new(model)).await;
}

#[tokio::test]
async fn without_a_tree_the_question_is_a_leaf() {
    let model =
        Script::scored(&[(TREE, NO_TREE, -0.1), (CLOSED, DENMARK, -0.1), (OPEN, NORWAY, -0.2)]);
    golden("prob_tree/leaf", &tree(), Run::new(model)).await;
}

#[tokio::test]
async fn without_the_closed_book_only_passages_answer() {
    let model = Script::scored(&[(TREE, NO_TREE, -0.1), (OPEN, NORWAY, -0.2)]);
    let tree = ProbTree { closed_book: false, ..tree() };
    golden("prob_tree/no_closed_book", &tree, Run::new(model)).await;
}

#[tokio::test]
async fn a_part_may_have_parts_of_its_own() {
    let plan = serde_json::json!({ "nodes": [
        { "question": "the question", "sub_questions": ["Where was the architect of the Varn lighthouse born?", "In which country is <1>?"] },
        { "question": "Where was the architect of the Varn lighthouse born?", "sub_questions": ["Who was the architect of the Varn lighthouse?", "Where was [1] born?"] },
        { "question": "Who sails?", "sub_questions": ["Who?", "When?"] },
    ]});
    let plan = plan.to_string();
    let model = Script::scored(&[
        (TREE, plan.as_str(), -0.1),
        (OPEN, NOTHING, -0.1),
        (OPEN, NOTHING, -0.1),
        (OPEN, THORN, -0.1),
        (OPEN, NORWAY, -0.1),
        (PARTS, NORWAY, -0.1),
        (OPEN, NORWAY, -0.1),
        (PARTS, NORWAY, -0.1),
    ]);
    let tree = ProbTree { closed_book: false, ..tree() };
    golden("prob_tree/deep", &tree, Run::new(model)).await;
}

#[tokio::test]
async fn several_answers_fan_out_and_the_limit_is_said() {
    let all_three = r#"{"rationale": "Three.", "answer": "Ilse Thorn | Per Moe | Ann Lie"}"#;
    let model = Script::scored(&[
        (TREE, TWO, -0.1),
        (OPEN, NOTHING, -0.1),
        (OPEN, all_three, -0.1),
        (OPEN, NORWAY, -0.1),
        (OPEN, DENMARK, -0.1),
        (PARTS, NORWAY, -0.1),
    ]);
    let knowledge = Toy::new(&[
        ("varn", "Varn", "The architect of the Varn lighthouse was born in a country.", &[]),
        ("born", "Births", "In this country Ilse Thorn and Per Moe were born.", &[]),
    ]);
    let tree = ProbTree { closed_book: false, fan_out: 2, ..tree() };
    golden("prob_tree/fan_out", &tree, Run { knowledge, ..Run::new(model) }).await;
}

#[tokio::test]
async fn references_that_lead_nowhere_and_in_a_circle_are_repaired() {
    let plan = list(&["Who was the architect #3?", "Where is #9?", "When was #1 born?", WHOLE]);
    let model = Script::scored(&[
        (TREE, plan.as_str(), -0.1),
        (CLOSED, NOTHING, -0.1),
        (CLOSED, THORN, -0.1),
        (CLOSED, NOTHING, -0.1),
        (CLOSED, NORWAY, -0.1),
        (PARTS, NORWAY, -0.1),
    ]);
    let run = Run { knowledge: Toy::empty(), ..Run::new(model) };
    golden("prob_tree/bad_references", &tree(), run).await;
}

#[tokio::test]
async fn forty_parts_are_cut() {
    let forty: Vec<String> = (1..=40).map(|i| format!("Who is number {i}?")).collect();
    let plan = list(&forty.iter().map(String::as_str).collect::<Vec<_>>());
    let model = Script::scored(&[
        (TREE, plan.as_str(), -0.1),
        (CLOSED, NORWAY, -0.5),
        (CLOSED, THORN, -0.1),
        (CLOSED, MOE, -0.1),
        (PARTS, NOTHING, -0.1),
    ]);
    let tree = ProbTree { max_parts: 2, ..tree() };
    golden("prob_tree/forty", &tree, Run { knowledge: Toy::empty(), ..Run::new(model) }).await;
}

#[tokio::test]
async fn a_plan_of_the_question_alone_is_no_plan() {
    for plan in [list(&[WHOLE, WHOLE]), r#"{"nodes": []}"#.to_owned()] {
        let model = Script::scored(&[
            (TREE, plan.as_str(), -0.1),
            (CLOSED, NOTHING, -0.1),
            (OPEN, NOTHING, -0.1),
        ]);
        let name = if plan.len() < 20 { "prob_tree/empty_plan" } else { "prob_tree/same_question" };
        golden(name, &tree(), Run::new(model)).await;
    }
}

#[tokio::test]
async fn an_empty_base_and_an_empty_memory_abstain() {
    let model = Script::scored(&[
        (TREE, TWO, -0.1),
        (CLOSED, NOTHING, -0.1),
        (CLOSED, NOTHING, -0.1),
        (CLOSED, NOTHING, -0.1),
    ]);
    let run = Run { knowledge: Toy::empty(), ..Run::new(model) };
    golden("prob_tree/empty_base", &tree(), run).await;
}

#[tokio::test]
async fn a_spent_budget_closes_with_what_was_found() {
    let steps = [
        (TREE, TWO, -0.1),
        (CLOSED, NOTHING, -0.1),
        (OPEN, NOTHING, -0.1),
        (CLOSED, MOE, -0.5),
        (OPEN, THORN, -0.1),
        (PARTS, NORWAY, -0.1),
    ];
    for (calls, name, script) in [
        (6, "prob_tree/spent_budget", &steps[..]),
        (2, "prob_tree/two_calls", &[(TREE, TWO, -0.1), (OPEN, NORWAY, -0.1)]),
        (1, "prob_tree/last_call", &[(OPEN, NORWAY, -0.1)]),
    ] {
        let budget = Budget { calls: Some(calls), ..Budget::default() };
        let run = Run { budget, ..Run::new(Script::scored(script)) };
        golden(name, &tree(), run).await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_needs_no_other_answer_costs_no_round_trip_of_its_own() {
    let apart = list(&["Who was the architect of the Varn lighthouse?", "What is a reef?"]);
    for (plan, wanted) in [(apart.as_str(), 3), (TWO, 4)] {
        let model = Timed::new(&[
            (TREE, &[plan]),
            (CLOSED, &[NOTHING; 3]),
            (OPEN, &[THORN; 3]),
            (PARTS, &[NORWAY]),
        ]);
        let (transcript, trips) = timed(&tree(), Run::new(model)).await;
        assert_eq!(trips, wanted, "{transcript}");
    }
}

#[tokio::test]
async fn a_model_without_log_probabilities_is_refused() {
    let model = Script::new([(TREE, TWO)]);
    golden("prob_tree/no_logprobs", &tree(), Run::new(model)).await;
    assert!(ENTRY.needs.contains(&Need::LogProbs("reader")));
}

#[tokio::test]
async fn without_a_tree_the_question_is_its_only_node() {
    let bad = (TREE, "no tree", -0.1);
    let model = Script::scored(&[bad, bad, bad, (CLOSED, DENMARK, -0.5), (OPEN, NORWAY, -0.1)]);
    golden("prob_tree/always_malformed", &tree(), Run::new(model)).await;
}

#[test]
fn settings_that_cannot_work_are_refused() {
    let refused = |table: &str| (ENTRY.build)(table.parse().unwrap()).err().unwrap();
    assert!(refused("max_parts = 0").contains("`max_parts`"));
    assert!(refused("fan_out = 0").contains("`fan_out`"));
    assert!(refused("min_score = 2.0").contains("`min_score`"));
    assert!(refused("parts = 3").contains("`parts`"));
}
