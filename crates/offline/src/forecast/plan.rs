//! Task `forecast_plan`: what is forecast and for when, by cue words over the tables.
use std::collections::HashSet;

use halma_core::Question;
use serde::Deserialize;
use serde_json::json;

use super::when::read;
use crate::input::{Column, Table};
use crate::lexicon::Lexicon;
use crate::lists::cue;
use crate::sql::best_table;
use crate::words::split;

#[derive(Debug, Deserialize)]
pub(crate) struct PlanInput {
    question: Question,
    #[serde(default)]
    tables: Vec<Table>,
}

pub(crate) fn reply(lexicon: &Lexicon, input: &PlanInput) -> String {
    let when = read(&input.question.text);
    let (target, measure, thinking) = match table(&when.rest, &input.tables, lexicon) {
        Ok(table) => {
            let measure = measure(&input.question.text, table, lexicon);
            let thinking = format!("The rows of `{}` are dated.", table.name);
            (target(&when.rest), measure, thinking)
        }
        Err(reason) => (String::new(), "count", reason),
    };
    json!({
        "thinking": thinking, "target": target, "unit": "", "measure": measure,
        "granularity": when.granularity, "period": when.period, "horizon": when.horizon,
        "things": target, "queries": [], "question": "",
    })
    .to_string()
}

/// The table that the question is about.
pub(super) fn table<'t>(
    rest: &str,
    tables: &'t [Table],
    lexicon: &Lexicon,
) -> Result<&'t Table, String> {
    let stems: HashSet<String> = lexicon.content(rest).into_iter().collect();
    best_table(rest, &stems, tables, lexicon)
}

fn measure(question: &str, table: &Table, lexicon: &Lexicon) -> &'static str {
    if cue("likelihood", question).is_some() {
        return "event";
    }
    if cue("mean", question).is_some() {
        return "mean";
    }
    let numbers = amount_column(question, table, lexicon).is_some();
    match (numbers, cue("number", question).or_else(|| cue("amount", question)).is_some()) {
        (true, true) => "sum",
        (true, false) => "mean",
        (false, _) => "count",
    }
}

/// The column of amounts that the question names.
pub(super) fn amount_column<'t>(
    question: &str,
    table: &'t Table,
    lexicon: &Lexicon,
) -> Option<&'t Column> {
    let stems: HashSet<String> = lexicon.content(question).into_iter().collect();
    let shared = |column: &&Column| {
        lexicon.content(&column.name).iter().filter(|stem| stems.contains(*stem)).count()
    };
    let numbers = table.columns.iter().filter(|column| column.is_number());
    let numbers = numbers.filter(|column| !table.holds_years(column));
    numbers.filter(|column| shared(column) > 0).max_by_key(shared)
}

/// What stands between the question word and the verb.
fn target(rest: &str) -> String {
    let words: Vec<&str> = split(rest).into_iter().map(|range| &rest[range]).collect();
    let is = |word: &&&str, list: &str| crate::lists::is_listed(list, &word.to_lowercase());
    let named: Vec<&str> = words
        .iter()
        .skip_while(|word| is(word, "question words"))
        .take_while(|word| !is(word, "modals"))
        .copied()
        .collect();
    if named.is_empty() { words.join(" ") } else { named.join(" ") }
}

#[derive(Debug, Deserialize)]
pub(crate) struct AnswerInput {
    forecasts: Vec<Forecast>,
}

#[derive(Debug, Deserialize)]
struct Forecast {
    group: String,
    period: String,
    value: String,
    interval: String,
    method: String,
    direction: String,
}

pub(crate) fn answer_reply(input: &AnswerInput) -> String {
    // Several groups: the one with the largest value.
    let number = |forecast: &Forecast| -> f64 {
        forecast.value.trim_end_matches(" %").parse().unwrap_or(0.0)
    };
    let largest = input.forecasts.iter().rev().max_by(|a, b| number(a).total_cmp(&number(b)));
    let Some(Forecast { group, period, value, interval, method, direction }) = largest else {
        return json!({ "rationale": "There is no forecast.", "answer": "" }).to_string();
    };
    let group = if group.is_empty() { String::new() } else { format!("{group}: ") };
    let direction =
        if direction.is_empty() { String::new() } else { format!("; direction: {direction}") };
    json!({
        "rationale": format!("The series is continued to {period} by its {method}{direction}."),
        "answer": format!("{group}{value} ({interval})"),
        "outlook": "",
    })
    .to_string()
}
