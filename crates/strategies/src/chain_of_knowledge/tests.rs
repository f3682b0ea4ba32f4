//! Golden transcripts of Chain-of-Knowledge, and its settings.
use std::sync::Arc;

use halma_core::{Budget, Facts};
use halma_testkit::{Script, Timed, Toy, ToyFacts, ToySource};

use super::*;
use crate::golden::{Run, golden, timed};

const TRY: &str = "chain_of_knowledge/rationale";
const CORRECT: &str = "chain_of_knowledge/correct";
const ANSWER: &str = "chain_of_knowledge/answer";

const DENMARK: &str = r#"{"steps": ["The architect of the Varn lighthouse was Ilse Thorn.", "Ilse Thorn was born in Denmark."], "answer": "Denmark"}"#;
const THE_NORWAY: &str = r#"{"steps": ["Ilse Thorn was born in Norway."], "answer": "The Norway"}"#;
const NORWAY: &str = r#"{"steps": ["Ilse Thorn was born in Norway."], "answer": "norway."}"#;
const SWEDEN: &str = r#"{"steps": ["Ilse Thorn was born in Sweden."], "answer": "Sweden"}"#;
const NOTHING: &str = r#"{"steps": [], "answer": ""}"#;
const HOLDS: &str = r#"{"thinking": "Passage 1 says so.", "step": "The architect of the Varn lighthouse was Ilse Thorn.", "next": "Ilse Thorn was born in Denmark."}"#;
const RIGHT: &str = r#"{"thinking": "Passage 1 says Norway.", "step": "Ilse Thorn was born in Norway.", "next": ""}"#;
const READ: &str = r#"{"rationale": "The second step.", "answer": "Norway"}"#;

fn strategy() -> ChainOfKnowledge {
    ChainOfKnowledge { tries: 3, chunks: 1, ..ChainOfKnowledge::default() }
}

#[tokio::test]
async fn tries_that_agree_need_no_search() {
    let model = Script::new([(TRY, DENMARK), (TRY, THE_NORWAY), (TRY, NORWAY)]);
    golden("chain_of_knowledge/agree", &strategy(), Run::new(model)).await;
}

#[tokio::test]
async fn tries_that_disagree_are_put_right_step_by_step() {
    let model = Script::new([
        (TRY, DENMARK),
        (TRY, SWEDEN),
        (TRY, NOTHING),
        (CORRECT, HOLDS),
        (CORRECT, RIGHT),
        (ANSWER, READ),
    ]);
    golden("chain_of_knowledge/disagree", &strategy(), Run::new(model)).await;
}

#[tokio::test]
async fn steps_are_looked_up_in_every_source_that_is_named() {
    let model = Script::new([
        (TRY, DENMARK),
        (TRY, SWEDEN),
        (TRY, NOTHING),
        (CORRECT, HOLDS),
        (CORRECT, RIGHT),
        (ANSWER, READ),
    ]);
    let web = ToySource::new("web", &[("page", "Ilse Thorn", "Ilse Thorn was an architect.")]);
    let web = web.failing_at(2, "timed out").shared();
    let named = ["text", "web"].map(str::to_owned).to_vec();
    let both = ChainOfKnowledge { sources: named, select: false, ..strategy() };
    let run = Run { sources: vec![web], ..Run::new(model) };
    golden("chain_of_knowledge/sources", &both, run).await;
}

#[tokio::test]
async fn a_step_that_was_put_right_changes_what_the_next_one_searches_for() {
    let wrong = r#"{"steps": ["The architect of the Varn lighthouse was Per Moe.", "Per Moe was born in Denmark."], "answer": "Denmark"}"#;
    let right = r#"{"thinking": "", "step": "The architect of the Varn lighthouse was Ilse Thorn.", "next": "Ilse Thorn was born in Denmark."}"#;
    let model = Script::new([
        (TRY, wrong),
        (TRY, SWEDEN),
        (TRY, NOTHING),
        (CORRECT, right),
        (CORRECT, RIGHT),
        (ANSWER, READ),
    ]);
    golden("chain_of_knowledge/follows", &strategy(), Run::new(model)).await;
}

#[tokio::test]
async fn without_a_single_step_the_question_is_looked_up() {
    let model = Script::new([
        (TRY, NOTHING),
        (TRY, NOTHING),
        (TRY, NOTHING),
        (CORRECT, RIGHT),
        (ANSWER, READ),
    ]);
    golden("chain_of_knowledge/no_steps", &strategy(), Run::new(model)).await;
}

#[tokio::test]
async fn forty_steps_are_cut() {
    let steps: Vec<String> = (1..=40).map(|i| format!("Thorn is number {i}.")).collect();
    let many = serde_json::json!({ "steps": steps, "answer": "Norway" }).to_string();
    let model = Script::new([
        (TRY, many.as_str()),
        (TRY, SWEDEN),
        (TRY, DENMARK),
        (CORRECT, RIGHT),
        (CORRECT, RIGHT),
        (ANSWER, READ),
    ]);
    let strategy = ChainOfKnowledge { max_steps: 2, min_score: Some(0.3), ..strategy() };
    golden("chain_of_knowledge/forty", &strategy, Run::new(model)).await;
}

#[tokio::test]
async fn a_step_that_is_emptied_is_asked_for_again() {
    let empty = r#"{"thinking": "", "step": " ", "next": ""}"#;
    let model = Script::new([
        (TRY, NORWAY),
        (TRY, SWEDEN),
        (TRY, DENMARK),
        (CORRECT, empty),
        (CORRECT, RIGHT),
        (ANSWER, READ),
    ]);
    golden("chain_of_knowledge/empty_step", &strategy(), Run::new(model)).await;
}

#[tokio::test]
async fn an_empty_base_abstains_without_reading() {
    let model = Script::new([(TRY, NORWAY), (TRY, SWEDEN), (TRY, DENMARK)]);
    let run = Run { knowledge: Toy::empty(), ..Run::new(model) };
    golden("chain_of_knowledge/empty_base", &strategy(), run).await;
}

#[tokio::test]
async fn a_spent_budget_closes_with_what_was_found() {
    let five = [(TRY, DENMARK), (TRY, SWEDEN), (TRY, NORWAY), (CORRECT, HOLDS), (ANSWER, READ)];
    let budget = Budget { calls: Some(5), ..Budget::default() };
    let run = Run { budget, ..Run::new(Script::new(five)) };
    golden("chain_of_knowledge/spent_budget", &strategy(), run).await;
    let budget = Budget { calls: Some(1), ..Budget::default() };
    let run = Run { budget, ..Run::new(Script::new([(ANSWER, READ)])) };
    golden("chain_of_knowledge/last_call", &strategy(), run).await;
}

#[tokio::test]
async fn without_an_attempt_the_question_is_looked_up() {
    let model = Script::new([(TRY, "?"), (TRY, "?"), (TRY, "?"), (CORRECT, RIGHT), (ANSWER, READ)]);
    let strategy = ChainOfKnowledge { tries: 1, ..strategy() };
    golden("chain_of_knowledge/always_malformed", &strategy, Run::new(model)).await;
}

#[tokio::test(start_paused = true)]
async fn all_tries_cost_one_round_trip() {
    let replies = [DENMARK, SWEDEN, NORWAY, NORWAY, NORWAY];
    let model = Timed::new(&[(TRY, &replies)]);
    let (transcript, trips) = timed(&ChainOfKnowledge::default(), Run::new(model)).await;
    assert_eq!(trips, 1, "{transcript}");
}

#[tokio::test]
async fn the_graph_is_asked_for_a_thing_and_a_relation_where_it_is_chosen() {
    let chosen = r#"{"rationale": "A birthplace.", "sources": ["KG"]}"#;
    let query = r#"{"entity": "Ilse Thorn", "relation": "country of birth"}"#;
    let model = Script::new([
        (TRY, SWEDEN),
        (TRY, DENMARK),
        (TRY, NORWAY),
        ("chain_of_knowledge/domains", chosen),
        ("chain_of_knowledge/query", query),
        (CORRECT, RIGHT),
        (ANSWER, READ),
    ]);
    let facts = ToyFacts::new(&[
        ("thorn", "Ilse Thorn", "architect", "person"),
        ("no", "Norway", "country", "country"),
    ])
    .with_facts(&[("thorn", "country of birth", "no")]);
    let sources = vec!["text".to_owned(), "kg".to_owned()];
    let strategy = ChainOfKnowledge { sources, max_steps: 1, ..strategy() };
    let facts = Some(facts.shared() as Arc<dyn Facts>);
    golden("chain_of_knowledge/graph", &strategy, Run { facts, ..Run::new(model) }).await;
}

#[test]
fn settings_that_cannot_work_are_refused() {
    let refused = |table: &str| (ENTRY.build)(table.parse().unwrap()).err().unwrap();
    assert!(refused("tries = 0").contains("`tries`"));
    assert!(refused("agreement = -0.5").contains("`agreement`"));
    assert!(refused("steps = 3").contains("`steps`"));
}
