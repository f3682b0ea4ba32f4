//! The sample of questions about the future, asked by `pike_l3` with no model at all, and the series of
//! a run as a table.
use std::path::PathBuf;

use serde_json::Value;

use crate::program::Program;

fn demo(path: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../demo").join(path);
    path.to_str().unwrap().to_owned()
}

fn program() -> Program {
    let program = Program::configured("[embedder]\nkind = \"none\"\n");
    assert_eq!(program.run(&["index", &demo("forecast/library")]).code, 0);
    program
}

/// Of every criterion its mean and its count.
fn criteria(report: &Value) -> Vec<(&str, f64, u64)> {
    let criteria = report["runs"][0]["assessed"][0]["criteria"].as_array().unwrap();
    let of = |one: &Value| (one["mean"].as_f64().unwrap(), one["n"].as_u64().unwrap());
    criteria.iter().map(|one| (one["name"].as_str().unwrap(), of(one).0, of(one).1)).collect()
}

#[test]
fn intervals_cover_what_came_and_forecasts_are_at_least_as_good_as_the_last_value() {
    let program = program();
    let questions = demo("forecast/questions.jsonl");
    let ran = program.run(&[
        "eval",
        &questions,
        "--kb",
        ".halma",
        "--strategy",
        "pike_l3",
        "--assess",
        "forecast",
        "--out",
        "out",
        "--json",
    ]);
    let report = ran.json();
    let criteria = criteria(&report);
    let of = |name: &str| criteria.iter().find(|(other, ..)| *other == name).copied().unwrap();
    // The tables; a language model reads the eight notes.
    let (_, covered, n) = of("interval_coverage");
    assert!(n >= 30, "{criteria:?}");
    assert!((0.7..=0.9).contains(&covered), "{criteria:?}");
    assert!(of("absolute_error").1 <= of("naive_error").1, "{criteria:?}");
    // What compares or rates needs a model, and says so before it asks.
    let refused = program.run(&[
        "eval",
        &questions,
        "--kb",
        ".halma",
        "--strategy",
        "pike_l3",
        "--assess",
        "creative,pairwise",
    ]);
    refused.fails(2, &["creative,pairwise", "language model"]);
}

#[test]
fn the_series_of_a_run_is_a_table() {
    let program = program();
    let question = "How many lighthouses should we expect to be automated in 2007?";
    let answer = program.run(&["ask", question, "--strategy", "pike_l3", "--json"]).json();
    assert!(answer["computation"].as_str().unwrap().contains("rows"), "{answer}");
    assert!(answer["citations"].as_array().unwrap().len() > 3, "{answer}");
    let run = answer["id"].as_str().unwrap();
    let sql = |query: &str| program.run(&["kb", "sql", "--run", run, query, "--json"]);
    let result =
        sql("SELECT period, low <= value AND value <= high FROM series WHERE state = 'forecast'");
    let result = result.json();
    assert_eq!(result["rows"][0]["values"], serde_json::json!(["2007", 1]), "{result}");
    // Together with a table of the base.
    let counted = sql("WITH n AS (SELECT COUNT(*) AS n FROM lighthouses_automated) \
         SELECT n.n - (SELECT SUM(value) FROM series WHERE state = 'counted') FROM n");
    assert_eq!(counted.json()["rows"][0]["values"][0].as_f64(), Some(0.0), "{}", counted.out);
    let other = program.run(&["kb", "sql", "--run", "none", "SELECT 1"]);
    other.fails(2, &["no run of this id"]);
}
