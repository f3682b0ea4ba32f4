//! Task `forecast_sql`: a query for the dated rows of one table.
use std::collections::HashSet;

use halma_core::{ColumnKind, Question};
use serde::Deserialize;
use serde_json::json;

use super::plan::{amount_column, table};
use super::when::read;
use crate::input::{Column, Table};
use crate::lexicon::Lexicon;
use crate::sql::conditions::conditions;
use crate::sql::{FailedQuery, TableQuestion, quote_name};
use crate::words::split;

#[derive(Debug, Deserialize)]
pub(crate) struct RowsInput {
    question: Question,
    plan: Plan,
    #[serde(default)]
    tables: Vec<Table>,
    failed: Option<FailedQuery>,
}

#[derive(Debug, Deserialize)]
struct Plan {
    measure: String,
}

struct Query {
    sql: String,
    window: String,
    reason: String,
}

pub(crate) fn reply(lexicon: &Lexicon, input: &RowsInput) -> String {
    let query = query(lexicon, input).unwrap_or_else(|reason| Query {
        sql: String::new(),
        window: String::new(),
        reason,
    });
    json!({ "reason": query.reason, "sql": query.sql, "window": query.window }).to_string()
}

/// The query, or why there is none: in doubt there is none.
fn query(lexicon: &Lexicon, input: &RowsInput) -> Result<Query, String> {
    if let Some(failed) = &input.failed {
        return Err(format!(
            "There is no other query to try: {}.",
            failed.reason.trim_end_matches('.')
        ));
    }
    let rest = read(&input.question.text).rest;
    let table = table(&rest, &input.tables, lexicon)?;
    let stems: HashSet<String> = lexicon.content(&rest).into_iter().collect();
    let words = split(&rest).into_iter().map(|range| rest[range].to_lowercase()).collect();
    let table_question = TableQuestion { text: &rest, words, stems: stems.clone(), table, lexicon };
    let date = date_column(table, &stems, lexicon)?;
    let mut filters = conditions(&table_question)?.conditions;
    filters.insert(0, format!("{} IS NOT NULL", quote_name(&date.name)));
    let label = table.columns.iter().find(|column| column.kind == ColumnKind::Text);
    let thing =
        label.map_or(String::new(), |label| format!("{} AS thing, ", quote_name(&label.name)));
    let value = match input.plan.measure.as_str() {
        "sum" | "mean" => {
            let column = amount_column(&rest, table, lexicon);
            let column =
                column.ok_or_else(|| format!("No column of `{}` has the amounts.", table.name))?;
            format!(", {} AS value", quote_name(&column.name))
        }
        _ => String::new(),
    };
    let (name, dated) = (quote_name(&table.name), quote_name(&date.name));
    let filters = filters.join(" AND ");
    Ok(Query {
        sql: format!("SELECT {thing}{dated} AS date{value} FROM {name} WHERE {filters}"),
        window: if input.plan.measure == "mean" { String::new() } else { window(table, date) },
        reason: format!("The words of the question match the table `{}`.", table.name),
    })
}

/// A query for the dates that the table covers: those of a column that every row may have.
fn window(table: &Table, date: &Column) -> String {
    let days = table.columns.iter().find(|column| column.kind == ColumnKind::Date);
    let column = quote_name(&days.unwrap_or(date).name);
    format!("SELECT MIN({column}), MAX({column}) FROM {}", quote_name(&table.name))
}

/// The column of dates that shares most words with the question, or the only one.
fn date_column<'t>(
    table: &'t Table,
    stems: &HashSet<String>,
    lexicon: &Lexicon,
) -> Result<&'t Column, String> {
    let shared = |column: &Column| {
        lexicon
            .content(&column.name)
            .iter()
            .filter(|part| stems.iter().any(|stem| akin(stem, part)))
            .count()
    };
    let dates = table
        .columns
        .iter()
        .filter(|column| column.kind == ColumnKind::Date || table.holds_years(column));
    let mut scored: Vec<(usize, &Column)> = dates.map(|column| (shared(column), column)).collect();
    scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    match scored.as_slice() {
        [] => Err(format!("`{}` has no dates.", table.name)),
        [(first, _), (second, _), ..] if first == second => {
            Err(format!("`{}` has several dates, and the question names none.", table.name))
        }
        [(_, column), ..] => Ok(column),
    }
}

/// Whether two stems are of one family: `approv` and `approval`.
fn akin(a: &str, b: &str) -> bool {
    let shared = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    a == b || (shared >= 5 && shared + 3 >= a.len().max(b.len()))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::super::plan::{self, PlanInput};
    use super::*;

    fn mills() -> Value {
        json!({
            "name": "mills", "caption": "Mills of the valley", "document": "m.csv", "rows": 40,
            "columns": [
                { "name": "mill", "kind": "text" },
                { "name": "town", "kind": "text" },
                { "name": "opening date", "kind": "date" },
                { "name": "electric", "kind": "boolean" },
                { "name": "electric since", "kind": "integer" },
                { "name": "wheels", "kind": "integer" }
            ],
            "samples": [["Upper Mill", "Varn", "1874-01-01", 1, 1921, 2], ["Low Mill", "Holm", "1880-02-02", 0, null, 3]]
        })
    }

    fn planned(question: &str) -> Value {
        let input = json!({ "question": Question::new(question), "tables": [mills()] });
        let input: PlanInput = serde_json::from_value(input).unwrap();
        serde_json::from_str(&plan::reply(&Lexicon::new(), &input)).unwrap()
    }

    fn sql(question: &str) -> (String, String) {
        let input = json!({
            "question": Question::new(question), "tables": [mills()], "plan": planned(question),
            "failed": null,
        });
        let input: RowsInput = serde_json::from_value(input).unwrap();
        let reply: Value = serde_json::from_str(&reply(&Lexicon::new(), &input)).unwrap();
        let text = |key: &str| reply[key].as_str().unwrap().to_owned();
        (text("sql"), text("window"))
    }

    #[test]
    fn a_question_is_a_plan() {
        let plan = planned("How many electric mills of the valley should we expect in 1931?");
        assert_eq!(plan["target"], "electric mills of the valley");
        assert_eq!((&plan["measure"], &plan["period"]), (&json!("count"), &json!("1931")));
        let measures = |question: &str| planned(question)["measure"].clone();
        assert_eq!(measures("How many wheels will mills of the valley have next year?"), "sum");
        assert_eq!(measures("What will the average wheels of the mills be next year?"), "mean");
        assert_eq!(measures("How likely is a new mill in the valley next year?"), "event");
        assert_eq!(planned("Will it rain in Oslo next year?")["target"], "");
    }

    #[test]
    fn rows_are_those_of_the_date_that_is_named() {
        let (query, window) = sql(
            "How many electric mills of the valley should we expect in 1931, judging by the years before?",
        );
        assert_eq!(
            query,
            "SELECT \"mill\" AS thing, \"electric since\" AS date FROM \"mills\" WHERE \
             \"electric since\" IS NOT NULL AND \"electric\" = 1"
        );
        assert_eq!(window, "SELECT MIN(\"opening date\"), MAX(\"opening date\") FROM \"mills\"");
        let (query, _) =
            sql("How many mills of the valley will open in the town of Varn next year?");
        assert!(
            query.contains("\"opening date\" AS date") && query.contains("\"town\" = 'Varn'"),
            "{query}"
        );
        let (query, window) = sql(
            "What will be the average number of wheels of mills of the valley opened next year?",
        );
        assert!(query.contains(", \"wheels\" AS value"), "{query}");
        assert_eq!(window, "");
    }

    #[test]
    fn in_doubt_there_is_no_query() {
        for question in [
            "How many mills of the valley will there be?",
            "How many mills of the valley will open in Oslo in 1931?",
        ] {
            assert_eq!(sql(question).0, "", "{question}");
        }
    }
}
