//! Golden transcripts of routing, and its settings.
use std::sync::Arc;

use halma_core::{Budget, LlmError};
use halma_testkit::{Script, Toy};
use serde_json::json;

use super::*;
use crate::golden::{Run, golden};

const ARCHITECT: &str = "Who was the architect of the Varn lighthouse?";
const FACTUAL: (&str, &str) =
    ("auto/classify", r#"{"kind": "factual", "reason": "A passage states it."}"#);
const THORN: &str = r#"{"rationale": "Passage 1.", "answer": "Ilse Thorn"}"#;
const NOTHING: &str = r#"{"rationale": "No passage says.", "answer": ""}"#;
const SUPPORTED: (&str, &str) =
    ("auto/support", r#"{"supported": true, "score": 0.9, "reason": "Passage 1."}"#);
const UNSUPPORTED: (&str, &str) =
    ("auto/support", r#"{"supported": false, "score": 0.1, "reason": "Of another tower."}"#);
const BRIDGED: [(&str, &str); 4] = [
    ("kar3/propose", r#"{"sub_questions": ["Who was the architect of the Varn lighthouse?"]}"#),
    ("kar3/select", r#"{"candidate": 1}"#),
    ("kar3/propose", r#"{"sub_questions": []}"#),
    ("kar3/answer", THORN),
];

fn run(model: Arc<Script>) -> Run {
    Run { question: ARCHITECT, ..Run::new(model) }
}

#[tokio::test]
async fn a_factual_question_is_looked_up_and_checked() {
    let model = Script::new([FACTUAL, ("pike_l1/answer", THORN), SUPPORTED]);
    golden("auto/factual", &Auto::default(), run(model)).await;
}

#[tokio::test]
async fn an_abstention_and_an_answer_that_is_not_borne_out_go_up() {
    let auto = Auto { factual: Level::Naive, ..Auto::default() };
    let [first, second, third, fourth] = BRIDGED;
    let model = Script::new([
        FACTUAL,
        ("naive/answer", NOTHING),
        ("pike_l1/answer", THORN),
        UNSUPPORTED,
        first,
        second,
        third,
        fourth,
        SUPPORTED,
    ]);
    golden("auto/goes_up_twice", &auto, run(model)).await;

    let [first, second, third, fourth] = BRIDGED;
    let read = ("pike_l1/answer", THORN);
    let model =
        Script::new([FACTUAL, read, UNSUPPORTED, first, second, third, fourth, UNSUPPORTED]);
    golden("auto/unsupported_at_the_top", &Auto::default(), run(model)).await;
}

#[test]
fn a_question_that_must_be_answered_gets_the_unsupported_answer() {
    let answer = || Answer { text: "Ilse Thorn".into(), ..Answer::default() };
    let question = Question::new(ARCHITECT);
    assert!(unsupported(&question, answer()).abstained);
    let question = Question { abstain: false, ..question };
    assert_eq!(unsupported(&question, answer()).text, "Ilse Thorn");
}

#[tokio::test]
async fn unchecked_answers_are_taken() {
    let auto = Auto { factual: Level::Naive, check_support: false, ..Auto::default() };
    let model = Script::new([FACTUAL, ("naive/answer", THORN)]);
    golden("auto/unchecked", &auto, run(model)).await;
}

#[tokio::test]
async fn a_model_that_does_not_check_is_not_asked_twice() {
    let refused = LlmError::refused("the offline model does not do `support`");
    let model = Script::with_failures(vec![
        (FACTUAL.0, Ok(FACTUAL.1)),
        ("pike_l1/answer", Ok(THORN)),
        ("auto/support", Err(refused)),
    ]);
    golden("auto/no_checker", &Auto::default(), run(model)).await;
}

#[tokio::test]
async fn a_counting_question_goes_to_the_tables() {
    let count = "SELECT COUNT(*) AS n FROM towers";
    let toy = Toy::of(&[("varn", "Varn", "Varn is one of the towers.", &[])])
        .with_table("towers", &[("name", "text")], vec![vec![json!("Varn")]])
        .with_result(count, &["n"], vec![(vec![json!(1)], &["towers:1"])]);
    let model = Script::new([
        ("auto/classify", r#"{"kind": "quantitative", "reason": "It counts rows."}"#),
        ("pike_l2/sql", r#"{"sql": "SELECT COUNT(*) AS n FROM towers", "reason": ""}"#),
        ("pike_l2/computed", r#"{"rationale": "", "answer": "1"}"#),
    ]);
    let question = "How many towers are there?";
    let run = Run { question, knowledge: Arc::new(toy), ..Run::new(model) };
    golden("auto/quantitative", &Auto::default(), run).await;
}

#[tokio::test]
async fn a_creative_question_goes_to_level_4_which_may_summarize() {
    let model = Script::with_failures(vec![
        ("auto/classify", Ok(r#"{"kind": "creative", "reason": "It asks for ideas."}"#)),
        ("pike_l4/ask", Err(LlmError::refused("the offline model cannot do `ask`"))),
        ("pike_l2/summarise", Ok(r#"{"points": []}"#)),
    ]);
    let question = "What could the Varn lighthouse architect do?";
    golden("auto/creative", &Auto::default(), Run { question, ..Run::new(model) }).await;
}

#[tokio::test]
async fn a_predictive_question_goes_to_level_3_which_may_summarize() {
    let model = Script::new([
        ("auto/classify", r#"{"kind": "predictive", "reason": "It asks about next year."}"#),
        ("pike_l3/plan", r#"{"target": "", "measure": "count", "granularity": "year"}"#),
        ("pike_l2/summarise", r#"{"points": []}"#),
    ]);
    let question = "Will the Varn lighthouse architect open a lighthouse next year?";
    golden("auto/predictive", &Auto::default(), Run { question, ..Run::new(model) }).await;
}

#[tokio::test]
async fn a_question_about_the_collection_goes_to_the_communities_where_there_are_any() {
    let question = "Which themes run through these notes?";
    let kind = ("auto/classify", r#"{"reason": "It asks for themes.", "kind": "collection"}"#);
    let toy = Toy::of(&[("varn", "Varn", "The Varn lighthouse stands on a reef.", &[])])
        .with_entities(&[(("Varn", ""), &["varn"])])
        .with_communities(&[(("Towers", "Themes of the notes are reefs."), &["Varn"])]);
    let model = Script::new([
        kind,
        (
            "graph_global/rate",
            r#"{"points": [{"point": "Reefs.", "helpfulness": 1, "passages": [1]}]}"#,
        ),
        ("graph_global/combine", r#"{"rationale": "", "answer": "Reefs."}"#),
    ]);
    let run = Run { question, knowledge: Arc::new(toy), ..Run::new(model) };
    golden("auto/collection", &Auto::default(), run).await;

    let run = Run { question, ..Run::new(Script::new([kind])) };
    golden("auto/collection_without_communities", &Auto::default(), run).await;
}

#[tokio::test]
async fn a_spent_budget_does_not_make_an_unsupported_answer_one() {
    let closing = ("kar3/answer", NOTHING);
    let model = Script::new([FACTUAL, ("pike_l1/answer", THORN), UNSUPPORTED, closing]);
    let budget = Budget { calls: Some(4), ..Budget::default() };
    golden("auto/spent_above", &Auto::default(), Run { budget, ..run(model) }).await;

    let model = Script::new([FACTUAL, ("pike_l1/answer", THORN)]);
    let budget = Budget { calls: Some(2), ..Budget::default() };
    golden("auto/spent_before_checking", &Auto::default(), Run { budget, ..run(model) }).await;

    let model = Script::new([("naive/answer", THORN)]);
    let budget = Budget { calls: Some(1), ..Budget::default() };
    golden("auto/spent_before_routing", &Auto::default(), Run { budget, ..run(model) }).await;
}

#[tokio::test]
async fn an_empty_base_abstains_at_the_top() {
    let model = Script::new([FACTUAL, BRIDGED[0], ("kar3/answer", NOTHING)]);
    let run = Run { knowledge: Toy::empty(), ..run(model) };
    golden("auto/empty_base", &Auto::default(), run).await;
}

#[test]
fn wrong_settings_are_named_with_their_level() {
    let built = |text: &str| (ENTRY.build)(text.parse().unwrap()).map(|built| built.settings());
    assert_eq!(built("factual = \"naive\"").unwrap()["factual"], "naive");
    for (table, key) in [
        ("factual = \"kar3\"", "factual"),
        ("naive.chunks = 0", "`naive.chunks`"),
        ("pike_l1.chunks = 0", "`pike_l1.chunks`"),
        ("pike_l2.comparative.chunks = 0", "`pike_l2.comparative.chunks`"),
        ("check = true", "check"),
    ] {
        let error = built(table).unwrap_err();
        assert!(error.contains(key), "{table}: {error}");
    }
}

#[tokio::test]
async fn a_question_for_a_higher_level_is_answered_at_the_highest_allowed() {
    let creative = ("auto/classify", r#"{"kind": "creative", "reason": "It asks for ideas."}"#);
    let auto = Auto { highest: 1, ..Auto::default() };
    let model = Script::new([creative, ("pike_l1/answer", THORN)]);
    golden("auto/held_to_a_level", &auto, run(model)).await;
    let lowest = Auto { highest: 0, ..Auto::default() };
    let model = Script::new([FACTUAL, ("naive/answer", NOTHING)]);
    golden("auto/held_to_the_lowest_level", &lowest, run(model)).await;
    assert!(Auto { highest: 5, ..Auto::default() }.checked().is_err());
}
