use halma_core::Budget;
use halma_testkit::{Script, Toy};

use super::*;
use crate::golden::{Run, golden};

const DEDUCE: &str = "gen_ground/deduce";
const GROUND: &str = "gen_ground/ground";
const ANSWER: &str = "gen_ground/answer";

const WHO: &str = r#"{"thinking": "the architect first", "question": "Who was the architect of the Varn lighthouse?", "answer": "Per Moe"}"#;
const THORN: &str = r#"{"rationale": "Passage 1 names her.", "answer": "Ilse Thorn"}"#;
const WHERE: &str = r#"{"thinking": "then her birth", "question": "Where was Ilse Thorn born?", "answer": "Sweden"}"#;
const NONE: &str = r#"{"rationale": "These are about something else.", "answer": ""}"#;
const NORWAY: &str = r#"{"rationale": "She was born in Norway.", "answer": "Norway"}"#;
const ENOUGH: &str = r#"{"thinking": "all is known", "question": "", "answer": ""}"#;

fn gen_ground() -> GenGround {
    GenGround { batch: 1, batches: 2, ..GenGround::default() }
}

#[tokio::test]
async fn a_guess_is_corrected_by_the_first_batch_that_tells() {
    let model = Script::new([
        (DEDUCE, WHO),
        (GROUND, THORN),
        (DEDUCE, WHERE),
        (GROUND, NONE),
        (GROUND, NORWAY),
        (DEDUCE, ENOUGH),
        (ANSWER, NORWAY),
    ]);
    golden("gen_ground/two_rounds", &gen_ground(), Run::new(model)).await;
}

#[tokio::test]
async fn an_answer_that_no_batch_bears_out_is_kept_or_not() {
    for (from_memory, name) in [(true, "gen_ground/from_memory"), (false, "gen_ground/not_found")] {
        let model = Script::new([
            (DEDUCE, WHERE),
            (GROUND, NONE),
            (GROUND, NONE),
            (DEDUCE, ENOUGH),
            (ANSWER, if from_memory { NORWAY } else { NONE }),
        ]);
        let gen_ground = GenGround { from_memory, ..gen_ground() };
        golden(name, &gen_ground, Run::new(model)).await;
    }
}

#[tokio::test]
async fn a_model_that_never_stops_is_stopped_after_n_rounds() {
    let sub_questions: Vec<String> = (1..=5)
        .map(|i| format!(r#"{{"question": "Where was Ilse Thorn in {i}?", "answer": "here"}}"#))
        .collect();
    let mut steps = vec![];
    for sub_question in &sub_questions {
        steps.extend([(DEDUCE, Ok(sub_question.as_str())), (GROUND, Ok(NORWAY))]);
    }
    steps.push((ANSWER, Ok(NORWAY)));
    golden("gen_ground/never_stops", &gen_ground(), Run::new(Script::with_failures(steps))).await;
}

#[tokio::test]
async fn a_question_that_was_asked_ends_the_rounds() {
    let again = r#"{"question": "who was the architect of the Varn lighthouse", "answer": "x"}"#;
    let model = Script::new([(DEDUCE, WHO), (GROUND, THORN), (DEDUCE, again), (ANSWER, NONE)]);
    golden("gen_ground/repeats", &gen_ground(), Run::new(model)).await;
}

#[tokio::test]
async fn a_question_with_nothing_simpler_is_read_from_its_own_passages() {
    let question = "Where was Ilse Thorn born?";
    let model = Script::new([(DEDUCE, ENOUGH), (ANSWER, NORWAY)]);
    golden("gen_ground/nothing_simpler", &gen_ground(), Run { question, ..Run::new(model) }).await;
}

#[tokio::test]
async fn the_question_itself_may_be_asked() {
    let question = "Where was Ilse Thorn born?";
    let model = Script::new([(DEDUCE, WHERE), (GROUND, NORWAY), (DEDUCE, WHERE), (ANSWER, NORWAY)]);
    golden("gen_ground/the_same_question", &gen_ground(), Run { question, ..Run::new(model) })
        .await;
}

#[tokio::test]
async fn an_empty_base_abstains_without_reading() {
    let model = Script::new([(DEDUCE, WHO), (DEDUCE, WHERE), (DEDUCE, ENOUGH)]);
    let run = Run { knowledge: Toy::empty(), ..Run::new(model) };
    golden("gen_ground/empty_base", &gen_ground(), run).await;
}

#[tokio::test]
async fn a_spent_budget_closes_with_the_history() {
    for (calls, name) in [(1, "gen_ground/last_call"), (3, "gen_ground/spent_budget")] {
        let budget = Budget { calls: Some(calls), ..Budget::default() };
        let question = "Where was Ilse Thorn born?";
        let model = match calls {
            1 => Script::new([(ANSWER, NORWAY)]),
            _ => Script::new([(DEDUCE, WHERE), (GROUND, NONE), (ANSWER, NORWAY)]),
        };
        golden(name, &gen_ground(), Run { question, budget, ..Run::new(model) }).await;
    }
}

#[tokio::test]
async fn without_a_sub_question_the_passages_near_the_question_are_read() {
    let bad = (DEDUCE, r#"{"answer": "Per Moe"}"#);
    let model = Script::new([
        bad,
        bad,
        bad,
        (ANSWER, r#"{"rationale": "Passage 1.", "answer": "Norway"}"#),
    ]);
    golden("gen_ground/always_malformed", &gen_ground(), Run::new(model)).await;
}

#[test]
fn settings_that_cannot_work_are_refused() {
    let refused = |table: &str| (ENTRY.build)(table.parse().unwrap()).err().unwrap();
    assert!(refused("batches = 0").contains("`batches`"));
    assert!(refused("rounds = 5").contains("`rounds`"));
}
