//! Quantitative questions.
use std::sync::Arc;

use serde_json::json;

use super::*;

const QUESTION: &str = "How many towers opened before 1920?";
const COUNT: &str = "SELECT COUNT(*) AS towers FROM towers WHERE opened < 1920";
const WRITTEN: (&str, &str) = (
    "pike_l2/sql",
    r#"{"sql": "SELECT COUNT(*) AS towers FROM towers WHERE opened < 1920", "reason": "opening years"}"#,
);
const TWO: (&str, &str) = ("pike_l2/computed", r#"{"rationale": "Counted.", "answer": "2"}"#);
const BRIDGED: [(&str, &str); 2] = [("kar3/propose", ENOUGH), ("kar3/answer", NOTHING)];

fn towers() -> Toy {
    Toy::of(&[("note", "Note", "Some towers opened before others.", &[])])
        .with_table(
            "towers",
            &[("name", "text"), ("opened", "integer")],
            vec![
                vec![json!("Varn"), json!(1911)],
                vec![json!("Holm"), json!(1920)],
                vec![json!("Skarv"), json!(1890)],
                vec![json!("Ness"), json!(1931)],
            ],
        )
        .with_table("ships", &[("name", "text")], vec![vec![json!("Orca")]])
        .with_result(COUNT, &["towers"], vec![(vec![json!(2)], &["towers:1", "towers:3"])])
}

async fn run(name: &str, toy: Toy, model: Arc<Script>) {
    let run = Run { question: QUESTION, knowledge: Arc::new(toy), ..Run::new(model) };
    golden(name, &of(Reasoning::Quantitative), run).await;
}

#[tokio::test]
async fn a_query_counts_and_its_rows_are_cited() {
    run("pike_l2/quantitative", towers(), Script::new([WRITTEN, TWO])).await;
}

#[tokio::test]
async fn a_query_that_errs_is_given_back() {
    let wrong = ("pike_l2/sql", r#"{"sql": "SELECT COUNT(*) FROM tower", "reason": ""}"#);
    run("pike_l2/quantitative_repaired", towers(), Script::new([wrong, WRITTEN, TWO])).await;
}

#[tokio::test]
async fn a_query_that_errs_three_times_is_bridged() {
    let wrong = ("pike_l2/sql", r#"{"sql": "SELECT FROM", "reason": ""}"#);
    let model = Script::new([wrong, wrong, wrong, BRIDGED[0], BRIDGED[1]]);
    run("pike_l2/quantitative_always_errs", towers(), model).await;
}

#[tokio::test]
async fn no_table_that_answers_is_told_and_bridged() {
    let none = ("pike_l2/sql", r#"{"sql": "", "reason": "No table has heights."}"#);
    let model = Script::new([none, BRIDGED[0], BRIDGED[1]]);
    run("pike_l2/quantitative_no_table_answers", towers(), model).await;
}

#[tokio::test]
async fn a_base_without_tables_is_bridged() {
    let toy = Toy::of(&[("note", "Note", "Some towers opened early.", &[])]);
    run("pike_l2/quantitative_no_tables", toy, Script::new(BRIDGED)).await;
}

#[tokio::test]
async fn a_table_without_rows_gives_nothing_to_answer_from() {
    let sum = "SELECT SUM(opened) AS years FROM towers";
    let toy = Toy::default()
        .with_table("towers", &[("name", "text"), ("opened", "integer")], vec![])
        .with_result(sum, &["years"], vec![(vec![json!(null)], &[])]);
    let summed =
        ("pike_l2/sql", r#"{"sql": "SELECT SUM(opened) AS years FROM towers", "reason": ""}"#);
    let none = ("pike_l2/sql", r#"{"sql": "", "reason": "The table is empty."}"#);
    let model = Script::new([summed, none, BRIDGED[0], BRIDGED[1]]);
    run("pike_l2/quantitative_no_rows", toy, model).await;
}

#[tokio::test]
async fn a_long_result_is_said_to_be_cut() {
    let all = "SELECT name FROM towers";
    let rows = ["Varn", "Holm", "Skarv", "Ness"];
    let sources: [&[&str]; 4] = [&["towers:1"], &["towers:2"], &["towers:3"], &["towers:4"]];
    let rows = rows.iter().zip(sources).map(|(name, source)| (vec![json!(name)], source));
    let toy = towers().with_result(all, &["name"], rows.collect()).cut(all);
    let model = Script::new([
        ("pike_l2/sql", r#"{"sql": "SELECT name FROM towers", "reason": ""}"#),
        ("pike_l2/computed", r#"{"rationale": "", "answer": "Varn, Holm"}"#),
    ]);
    let pike = PikeL2 {
        quantitative: Quantitative { rows: 2, tables: 1, ..Quantitative::default() },
        ..of(Reasoning::Quantitative)
    };
    let run = Run { question: QUESTION, knowledge: Arc::new(toy), ..Run::new(model) };
    golden("pike_l2/quantitative_cut", &pike, run).await;
}

#[tokio::test]
async fn a_result_that_answers_something_else_is_bridged() {
    let model = Script::new([WRITTEN, ("pike_l2/computed", NOTHING), BRIDGED[0], BRIDGED[1]]);
    run("pike_l2/quantitative_irrelevant", towers(), model).await;
}

#[tokio::test]
async fn a_spent_budget_reads_the_result_with_what_is_kept_back() {
    let model = Script::new([WRITTEN, TWO]);
    let budget = Budget { calls: Some(2), ..Budget::default() };
    let run = Run { question: QUESTION, knowledge: Arc::new(towers()), budget, ..Run::new(model) };
    golden("pike_l2/quantitative_spent_budget", &of(Reasoning::Quantitative), run).await;
}
