//! A query over tables: what its writer is shown, and how it is written, run, and written again where
//! it cannot be used or counts nothing.
use std::collections::HashSet;
use std::fmt::Write as _;

use halma_core::text::similarity::edit_distance;
use halma_core::{
    ColumnKind, ColumnSchema, Cx, Error, Prompt, Question, Result, SqlResult, TableSchema,
    UnlessFailed as _,
};
use minijinja::context;
use minijinja::value::Serde;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Quantitative;
use super::rows::{counts_nothing, says_nothing};
use crate::shared::kinds::with_nearest_tables;

/// Longer values of samples are cut here.
const SAMPLE_CHARS: usize = 60;

/// A table as a writer of queries sees it.
#[derive(Debug, Serialize)]
pub(crate) struct Offered {
    #[serde(flatten)]
    pub(crate) table: TableSchema,
    samples: Vec<Vec<Value>>,
}

impl Quantitative {
    /// The tables nearest to the question, with samples of their rows.
    pub(crate) async fn offered(&self, question: &Question, cx: &Cx) -> Result<Vec<Offered>> {
        let catalog = cx.catalog().await?;
        let tables = catalog.tables.len();
        if tables > self.tables {
            cx.note(format!("{} of {tables} tables are offered", self.tables));
        }
        let tables = with_nearest_tables(catalog, question, self.tables).tables;
        // One after the other, so that the trace has them in one order every time.
        let mut offered = vec![];
        for table in tables {
            offered.push(self.sampled(question, table, cx).await?);
        }
        Ok(offered)
    }

    /// A table with its first rows, before them those with a value that the question names: a
    /// query has to spell it as the table does.
    async fn sampled(
        &self,
        question: &Question,
        mut table: TableSchema,
        cx: &Cx,
    ) -> Result<Offered> {
        let mut named = vec![];
        if let Some(sql) = naming(question, &table, self.samples) {
            match cx.run_sql(&sql).await {
                Ok(computed) => named = computed.rows,
                // The first rows will do.
                Err(Error::Knowledge(_)) => {}
                Err(error) => return Err(error),
            }
        }
        let sql = format!("SELECT * FROM {} LIMIT {}", table.name, self.samples);
        let rows = match cx.run_sql(&sql).await {
            Ok(computed) => computed.rows,
            Err(Error::Knowledge(reason)) => {
                cx.note(format!("no samples of `{}`: {reason}", table.name));
                vec![]
            }
            Err(error) => return Err(error),
        };
        table.columns.truncate(self.columns);
        let short = |value: Value| match value {
            Value::String(text) => Value::String(text.chars().take(SAMPLE_CHARS).collect()),
            value => value,
        };
        let sample =
            |values: Vec<Value>| values.into_iter().take(self.columns).map(short).collect();
        let rows = named.into_iter().chain(rows);
        let mut samples: Vec<Vec<Value>> = rows.map(|row| sample(row.values)).collect();
        let mut seen = HashSet::new();
        samples.retain(|row| seen.insert(format!("{row:?}")));
        Ok(Offered { table, samples })
    }
}

/// Rows of a table with a text that stands in the question, at most this many; `None` for a table
/// without texts.
fn naming(question: &Question, table: &TableSchema, limit: usize) -> Option<String> {
    let text = question.text.to_lowercase().replace('\'', "''");
    let stands = |column: &ColumnSchema| {
        let name = column.name.replace('"', "\"\"");
        // Short texts stand in everything; `Chairs` stands in `the cheapest chair`.
        format!("(length(\"{name}\") > 2 AND instr('{text}', rtrim(lower(\"{name}\"), 's')) > 0)")
    };
    let texts = table.columns.iter().filter(|column| column.kind == ColumnKind::Text);
    let any: Vec<String> = texts.map(stands).collect();
    let (name, any) = (&table.name, any.join(" OR "));
    (!any.is_empty()).then(|| format!("SELECT * FROM {name} WHERE {any} LIMIT {limit}"))
}

const SQL: Prompt<Written> = Prompt::json("pike_l2/sql");

/// A query; empty when no table has what is asked.
#[derive(Debug, Deserialize)]
struct Written {
    #[serde(default)]
    reason: String,
    sql: String,
}

/// A query that was run in vain.
#[derive(Debug, Serialize)]
pub(crate) struct FailedQuery {
    pub(crate) sql: String,
    pub(crate) reason: String,
}

impl Quantitative {
    /// A query and its result; what is wrong with one is given to the writer of the next. A count
    /// of 0 under a filter on text is not accepted at once: the text may be spelled differently there.
    pub(super) async fn run_sql(
        &self,
        question: &Question,
        tables: &[Offered],
        cx: &Cx,
    ) -> Result<Option<(String, SqlResult)>> {
        let mut failed: Option<FailedQuery> = None;
        let mut empty: Option<(String, SqlResult)> = None;
        for _ in 0..=self.retries {
            let variables = context! {
                question => Serde(question),
                tables => Serde(tables),
                failed => Serde(&failed),
            };
            let written = cx.ask(&SQL, variables).await;
            let Some(Written { sql, reason }) = written.unless_failed(cx, "no query is written")?
            else {
                break;
            };
            let sql = sql.trim().to_owned();
            if sql.is_empty() {
                cx.note(format!("no table answers: {}", reason.trim()));
                break;
            }
            let reason = match cx.run_sql(&sql).await {
                Ok(computed) if says_nothing(&computed) => {
                    format!("no row fits it{}", similar_values(&sql, tables, cx).await?)
                }
                Ok(computed) if counts_nothing(&computed) && empty.is_none() => {
                    let values = similar_values(&sql, tables, cx).await?;
                    if values.is_empty() {
                        return Ok(Some((sql, computed)));
                    }
                    empty = Some((sql.clone(), computed));
                    format!("it counts 0{values}")
                }
                Ok(computed) => return Ok(Some((sql, computed))),
                Err(Error::Knowledge(reason)) => reason.to_string(),
                Err(error) => return Err(error),
            };
            cx.note(format!("the query cannot be used: {reason}"));
            failed = Some(FailedQuery { sql, reason });
        }
        match &empty {
            Some(_) => cx.note("no other query counts more: the count of 0 stands"),
            None => cx.note("no query could be used"),
        }
        Ok(empty)
    }
}

/// Values of a column that are compared with a text, and those that are shown, the most similar
/// first; longer ones are cut.
const COMPARED: usize = 500;
const SHOWN: usize = 8;
const CHARS: usize = 60;

/// For each text that a query compares with: what the columns it names hold instead. Empty when it
/// compares with no text.
pub(super) async fn similar_values(sql: &str, tables: &[Offered], cx: &Cx) -> Result<String> {
    let texts = texts(sql);
    let mut out = String::new();
    if texts.is_empty() {
        return Ok(out);
    }
    let names = |name: &str| sql.to_lowercase().contains(&name.to_lowercase());
    for table in tables.iter().map(|offered| &offered.table).filter(|table| names(&table.name)) {
        let columns = table.columns.iter().filter(|column| column.kind == ColumnKind::Text);
        for column in columns.filter(|column| names(&column.name)) {
            let values = values(&table.name, &column.name, cx).await?;
            if let Some(values) = most_similar(values, &texts) {
                let _ = write!(out, "; `{}` holds {values}", column.name);
            }
        }
    }
    Ok(out)
}

async fn values(table: &str, column: &str, cx: &Cx) -> Result<Vec<String>> {
    let (table, column) = (table.replace('"', "\"\""), column.replace('"', "\"\""));
    let sql = format!("SELECT DISTINCT \"{column}\" FROM \"{table}\" LIMIT {COMPARED}");
    let rows = match cx.run_sql(&sql).await {
        Ok(computed) => computed.rows,
        Err(Error::Knowledge(_)) => return Ok(vec![]),
        Err(error) => return Err(error),
    };
    let text = |value: Value| value.as_str().map(str::to_owned);
    Ok(rows.into_iter().flat_map(|row| row.values).filter_map(text).collect())
}

/// The values most like one of the texts; `None` where the column holds none.
fn most_similar(mut values: Vec<String>, texts: &[String]) -> Option<String> {
    let distance = |value: &String| {
        let value = value.to_lowercase();
        let within = |text: &String| value.contains(text) || text.contains(&value);
        let to = |text: &String| if within(text) { 0 } else { edit_distance(&value, text) };
        texts.iter().map(to).min()
    };
    values.sort_by_cached_key(distance);
    let short = |value: &String| format!("'{}'", value.chars().take(CHARS).collect::<String>());
    let shown: Vec<String> = values.iter().take(SHOWN).map(short).collect();
    (!shown.is_empty()).then(|| shown.join(", "))
}

/// The texts in quotation marks, in lower case and without wildcards; a date or a number is spelled
/// in one way only.
fn texts(sql: &str) -> Vec<String> {
    let mut texts = vec![];
    // A quotation mark in a text is written twice, so that the text is two texts here.
    for text in sql.split('\'').skip(1).step_by(2) {
        let text = text.trim_matches(['%', '_', ' ']).to_lowercase();
        if text.chars().any(char::is_alphabetic) && !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_a_filter_are_found_and_dates_are_not() {
        let sql = "SELECT COUNT(*) FROM t WHERE LOWER(a) LIKE '%Sea Fog%' AND d < '2020-01-31' \
                   AND b = 'x'";
        assert_eq!(texts(sql), ["sea fog", "x"]);
        assert_eq!(texts("SELECT 1"), Vec::<String>::new());
    }

    #[test]
    fn the_most_similar_values_come_first() {
        let values = ["Dry dock", "Lighthouse", "Light house (old)"].map(str::to_owned).to_vec();
        let shown = most_similar(values, &["light-house".into()]).unwrap();
        assert_eq!(shown, "'Lighthouse', 'Light house (old)', 'Dry dock'");
        assert_eq!(most_similar(vec![], &["a".into()]), None);
    }
}
