//! Golden transcripts of level 3, and its settings.
mod odd;
mod passages;

use std::sync::Arc;

use halma_core::Budget;
use halma_testkit::{Script, Toy};
use serde_json::{Value, json};

use super::*;
use crate::golden::{Run, golden};

const QUESTION: &str = "How many towers should we expect to open in 1918?";
const SQL: &str = "SELECT name AS thing, opened AS date FROM towers";
const WINDOW: &str = "SELECT MIN(opened), MAX(opened) FROM towers";
const PLANNED: (&str, &str) = (
    "pike_l3/plan",
    r#"{"target": "towers", "measure": "count", "granularity": "year", "period": "1918"}"#,
);
const WRITTEN: (&str, &str) = (
    "pike_l3/sql",
    r#"{"reason": "", "sql": "SELECT name AS thing, opened AS date FROM towers;",
     "window": "SELECT MIN(opened), MAX(opened) FROM towers"}"#,
);

/// Towers with the year of each.
fn towers(years: &[Value]) -> Toy {
    let sources = ["towers:1", "towers:2", "towers:3", "towers:4", "towers:5", "towers:6"];
    let row = |at: usize, year: &Value| -> (Vec<Value>, &[&str]) {
        let source = at % sources.len();
        (vec![json!(format!("Tower {at}")), year.clone()], &sources[source..=source])
    };
    let rows = years.iter().enumerate().map(|(at, year)| row(at, year)).collect();
    let mut table: Vec<Vec<Value>> =
        years.iter().enumerate().map(|(at, year)| row(at, year).0).collect();
    table.resize(6, vec![json!("Old"), json!(null)]);
    Toy::of(&[("note", "Towers", "In 1918 towers should open as expected.", &[])])
        .with_table("towers", &[("name", "text"), ("opened", "integer")], table)
        .with_result(SQL, &["thing", "date"], rows)
        .with_result(WINDOW, &["a", "b"], vec![(vec![json!(1911), json!(1917)], &[])])
}

/// 1, 1, 2, 2, 3, 3, 4 from 1911 to 1917.
fn rising() -> Toy {
    let years = [1911, 1912, 1913, 1913, 1914, 1914, 1915, 1915, 1915, 1916, 1916, 1916, 1917];
    let mut years = years.map(|year| json!(year)).to_vec();
    years.extend([json!(1917), json!(1917), json!(1917)]);
    towers(&years)
}

fn run(toy: Toy, model: Arc<Script>) -> Run {
    Run { question: QUESTION, knowledge: Arc::new(toy), ..Run::new(model) }
}

#[tokio::test]
async fn a_series_is_continued_and_its_number_is_the_answer() {
    let model = Script::new([
        PLANNED,
        WRITTEN,
        (
            "pike_l3/answer",
            r#"{"rationale": "It rises.", "answer": "4.45", "outlook": "No sign."}"#,
        ),
    ]);
    golden("pike_l3/table", &PikeL3::default(), run(rising(), Arc::clone(&model))).await;
    let shown = &model.shown("pike_l3/answer")[0];
    assert!(shown.contains("Series: 1911: 1, 1912: 1, 1913: 2"), "{shown}");
    assert!(shown.contains("Direction: up"), "{shown}");
}

#[tokio::test]
async fn an_answer_with_another_number_is_asked_again_and_then_replaced() {
    let wrong = ("pike_l3/answer", r#"{"rationale": "I feel more.", "answer": "About 9"}"#);
    let model = Script::new([PLANNED, WRITTEN, wrong, wrong, wrong]);
    golden("pike_l3/other_number", &PikeL3::default(), run(rising(), model)).await;
}

#[tokio::test]
async fn a_query_that_errs_is_given_back() {
    let wrong = ("pike_l3/sql", r#"{"sql": "SELECT name FROM tower", "window": ""}"#);
    let right = (
        "pike_l3/answer",
        r#"{"rationale": "It rises.", "answer": "4.45 (80 % interval 2 to 7)", "outlook": ""}"#,
    );
    let model = Script::new([PLANNED, wrong, WRITTEN, right]);
    golden("pike_l3/repaired_sql", &PikeL3::default(), run(rising(), model)).await;
}

#[tokio::test]
async fn a_model_may_forecast_by_itself() {
    let guess = ("pike_l3/guess", r#"{"rationale": "A guess.", "answer": "5"}"#);
    let model = Forecaster::Model;
    let alone = PikeL3 { forecast: model, ..PikeL3::default() };
    let script = Script::new([PLANNED, WRITTEN, guess]);
    golden("pike_l3/forecast_by_model", &alone, run(rising(), script)).await;
    let unstructured = PikeL3 { structure: false, ..PikeL3::default() };
    golden("pike_l3/unstructured", &unstructured, run(rising(), Script::new([guess]))).await;
}

#[tokio::test]
async fn a_period_that_is_recorded_is_counted() {
    let recorded = (
        "pike_l3/plan",
        r#"{"target": "towers", "measure": "count", "granularity": "year", "period": "1914"}"#,
    );
    let sql = (
        "pike_l2/sql",
        r#"{"sql": "SELECT name AS thing, opened AS date FROM towers", "reason": ""}"#,
    );
    let two = ("pike_l2/computed", r#"{"rationale": "Counted.", "answer": "2"}"#);
    let model = Script::new([recorded, WRITTEN, sql, two]);
    golden("pike_l3/recorded", &PikeL3::default(), run(rising(), model)).await;
}

#[tokio::test]
async fn a_spent_budget_still_gives_the_number() {
    let answer = ("pike_l3/answer", r#"{"rationale": "It rises.", "answer": "4.45"}"#);
    let budget = Budget { calls: Some(3), ..Budget::default() };
    let model = Script::new([PLANNED, WRITTEN, answer]);
    golden("pike_l3/small_budget", &PikeL3::default(), Run { budget, ..run(rising(), model) })
        .await;
}

#[tokio::test]
async fn without_a_forecast_to_make_it_is_summarized() {
    let none = ("pike_l3/plan", r#"{"target": "", "measure": "count", "granularity": "auto"}"#);
    let model = Script::new([
        none,
        ("pike_l2/summarise", r#"{"points": [{"point": "Towers open.", "passages": [1]}]}"#),
        ("pike_l2/combine", r#"{"rationale": "", "answer": "Towers open."}"#),
    ]);
    golden("pike_l3/no_plan", &PikeL3::default(), run(rising(), model)).await;
}

#[test]
fn wrong_settings_are_named() {
    let built = |text: &str| (ENTRY.build)(text.parse().unwrap()).map(|built| built.settings());
    assert_eq!(built("granularity = \"month\"").unwrap()["granularity"], "month");
    for (table, key) in [
        ("min_points = 0", "`min_points`"),
        ("level = 1.0", "`level`"),
        ("granularity = \"week\"", "granularity"),
        ("cells.chunks = 0", "`cells.chunks`"),
        ("hops = 3", "hops"),
    ] {
        let error = built(table).unwrap_err();
        assert!(error.contains(key), "{table}: {error}");
    }
}
