//! Golden transcripts of `ReAct`, and its settings.
use halma_core::Budget;
use halma_testkit::{Script, Toy};

use super::*;
use crate::golden::{Run, golden};

const STEP: &str = "react/step";
const ANSWER: &str = "react/answer";

const VARN: &str =
    r#"{"thought": "First the lighthouse.", "action": "search", "argument": "Varn lighthouse"}"#;
const ITS: &str =
    r#"{"thought": "Who was the architect?", "action": "lookup", "argument": "architect"}"#;
const THORN: &str =
    r#"{"thought": "Now Ilse Thorn.", "action": "search", "argument": "Ilse Thorn"}"#;
const FINISH: &str =
    r#"{"thought": "Ilse Thorn was born in Norway.", "action": "finish", "argument": "Norway"}"#;
const GIVE_UP: &str = r#"{"thought": "It is not told.", "action": "finish", "argument": ""}"#;
const NORWAY: &str = r#"{"rationale": "Passage 2.", "answer": "Norway"}"#;

fn strategy() -> React {
    React { chunks: 1, ..React::default() }
}

#[tokio::test]
async fn it_searches_looks_up_and_finishes() {
    let model = Script::new([(STEP, VARN), (STEP, ITS), (STEP, THORN), (STEP, FINISH)]);
    golden("react/finishes", &strategy(), Run::new(model)).await;
}

#[tokio::test]
async fn looking_up_again_shows_the_next_sentence() {
    let again = r#"{"thought": "More.", "action": "lookup", "argument": "It"}"#;
    let model = Script::new([
        (STEP, again),
        (STEP, VARN),
        (STEP, again),
        (STEP, ITS),
        (STEP, again),
        (STEP, GIVE_UP),
    ]);
    golden("react/looks_up", &strategy(), Run::new(model)).await;
}

#[tokio::test]
async fn a_model_that_never_finishes_is_stopped_and_what_was_seen_is_read() {
    let model = Script::new([(STEP, VARN), (STEP, ITS), (STEP, THORN), (ANSWER, NORWAY)]);
    let react = React { n: 3, ..strategy() };
    golden("react/never_finishes", &react, Run::new(model)).await;
}

#[tokio::test]
async fn the_same_search_and_unknown_actions_are_asked_for_again() {
    let dance = r#"{"thought": "", "action": "dance", "argument": "Varn"}"#;
    let nothing = r#"{"thought": "", "action": "search", "argument": " "}"#;
    let steps =
        [(STEP, VARN), (STEP, VARN), (STEP, dance), (STEP, THORN), (STEP, nothing), (STEP, FINISH)];
    golden("react/repeats", &strategy(), Run::new(Script::new(steps))).await;
}

#[tokio::test]
async fn an_empty_base_abstains_without_reading() {
    let model = Script::new([(STEP, VARN), (STEP, THORN)]);
    let run = Run { knowledge: Toy::empty(), ..Run::new(model) };
    golden("react/empty_base", &React { n: 2, ..strategy() }, run).await;
}

#[tokio::test]
async fn a_spent_budget_closes_with_what_was_seen() {
    let budget = Budget { calls: Some(3), ..Budget::default() };
    let model = Script::new([(STEP, VARN), (STEP, THORN), (ANSWER, NORWAY)]);
    golden("react/spent_budget", &strategy(), Run { budget, ..Run::new(model) }).await;
}

#[tokio::test]
async fn without_a_step_the_passages_near_the_question_are_read() {
    let bad = (STEP, "search Varn");
    let model = Script::new([
        bad,
        bad,
        bad,
        (ANSWER, r#"{"rationale": "Passage 1.", "answer": "Norway"}"#),
    ]);
    golden("react/always_malformed", &strategy(), Run::new(model)).await;
}

#[test]
fn settings_that_cannot_work_are_refused() {
    let refused = |table: &str| (ENTRY.build)(table.parse().unwrap()).err().unwrap();
    assert!(refused("n = 0").contains("`n`"));
    assert!(refused("min_score = 2.0").contains("`min_score`"));
    assert!(refused("steps = 3").contains("`steps`"));
}
