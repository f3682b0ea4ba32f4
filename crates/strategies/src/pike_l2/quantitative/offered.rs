//! What a writer of queries is shown: the tables nearest to the question with samples of their rows.
use std::collections::HashSet;

use halma_core::UnlessFailed as _;
use halma_core::{
    ColumnKind, ColumnSchema, Cx, Error, Prompt, Question, Result, SqlResult, TableSchema,
};
use minijinja::context;
use minijinja::value::Serde;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Quantitative;
use super::rows::{counts_nothing, says_nothing};
use super::similar_values::similar_values;
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
        let held = catalog.tables.len();
        if held > self.tables {
            cx.note(format!("{} of {held} tables are offered", self.tables));
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
fn naming(question: &Question, table: &TableSchema, most: usize) -> Option<String> {
    let asked = question.text.to_lowercase().replace('\'', "''");
    let stands = |column: &ColumnSchema| {
        let name = column.name.replace('"', "\"\"");
        // Short texts stand in everything; `Chairs` stands in `the cheapest chair`.
        format!("(length(\"{name}\") > 2 AND instr('{asked}', rtrim(lower(\"{name}\"), 's')) > 0)")
    };
    let texts = table.columns.iter().filter(|column| column.kind == ColumnKind::Text);
    let any: Vec<String> = texts.map(stands).collect();
    let (name, any) = (&table.name, any.join(" OR "));
    (!any.is_empty()).then(|| format!("SELECT * FROM {name} WHERE {any} LIMIT {most}"))
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
struct FailedQuery {
    sql: String,
    reason: String,
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
