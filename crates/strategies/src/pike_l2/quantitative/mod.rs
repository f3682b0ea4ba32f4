//! Quantitative questions: a query that counts all that fits, never the nearest by eye.
mod rows;

use std::collections::HashSet;

use halma_core::{
    Answer, ColumnSchema, Cx, Error, Prompt, Question, Result, SqlResult, TableSchema,
};
use minijinja::context;
use minijinja::value::Serde;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use self::rows::{cited, says_nothing, shown};
use crate::shared::kinds::with_nearest_tables;
use crate::shared::settings::at_least_one;
use crate::shared::steps::{Reading, answer_from};

const SQL: Prompt<Written> = Prompt::json("pike_l2/sql");
const COMPUTED: Prompt<Reading> = Prompt::json("pike_l2/computed");

/// Longer values of samples are cut here.
const SAMPLE_CHARS: usize = 60;

/// How tables are asked; the paper names no constants.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Quantitative {
    /// The most tables that are offered, those with most of the question's words.
    pub(crate) tables: usize,
    /// The most columns of each.
    pub(crate) columns: usize,
    /// Rows of each that are shown as samples.
    pub(crate) samples: usize,
    /// How often a query that cannot be used is given back.
    pub(crate) retries: usize,
    /// The most rows of a result that are read, and the most that are cited.
    pub(crate) rows: usize,
}

impl Default for Quantitative {
    fn default() -> Self {
        Self { tables: 8, columns: 40, samples: 3, retries: 2, rows: 50 }
    }
}

/// A query; empty when no table has what is asked.
#[derive(Debug, Deserialize)]
struct Written {
    sql: String,
    #[serde(default)]
    reason: String,
}

/// A query that was run in vain.
#[derive(Debug, Serialize)]
struct FailedQuery {
    sql: String,
    reason: String,
}

/// A table as a writer of queries sees it.
#[derive(Debug, Serialize)]
struct Offered {
    #[serde(flatten)]
    table: TableSchema,
    samples: Vec<Vec<Value>>,
}

impl Quantitative {
    /// `None` when no table answers.
    pub(super) async fn answer(&self, question: &Question, cx: &Cx) -> Result<Option<Answer>> {
        let cx = cx.span("quantitative");
        let tables = self.offered(question, &cx).await?;
        if tables.is_empty() {
            cx.note("the knowledge base has no tables");
            return Ok(None);
        }
        let Some((sql, computed)) = self.run_sql(question, &tables, &cx).await? else {
            return Ok(None);
        };
        let rows = shown(&computed, &tables, self.rows);
        if computed.rows.len() > rows.len() || computed.cut {
            cx.note(format!("the result is longer: its first {} rows are read", rows.len()));
        }
        let variables = context! { question => Serde(question), context => Serde(&rows), sql };
        let answer = answer_from(cx.reserve().ask(&COMPUTED, variables).await?, &[]);
        if answer.abstained {
            cx.note(format!("the result does not answer: {}", answer.reason));
            return Ok(None);
        }
        let citations = cited(&computed, self.rows, &cx).await?;
        Ok(Some(Answer { citations, ..answer }))
    }

    /// The tables nearest to the question, with samples of their rows.
    async fn offered(&self, question: &Question, cx: &Cx) -> Result<Vec<Offered>> {
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

    /// A query and its result; the error of one is given to the writer of the next.
    async fn run_sql(
        &self,
        question: &Question,
        tables: &[Offered],
        cx: &Cx,
    ) -> Result<Option<(String, SqlResult)>> {
        let mut failed: Option<FailedQuery> = None;
        for _ in 0..=self.retries {
            let variables = context! {
                question => Serde(question),
                tables => Serde(tables),
                failed => Serde(&failed),
            };
            let Written { sql, reason } = cx.ask(&SQL, variables).await?;
            let sql = sql.trim().to_owned();
            if sql.is_empty() {
                cx.note(format!("no table answers: {}", reason.trim()));
                return Ok(None);
            }
            let reason = match cx.run_sql(&sql).await {
                Ok(computed) if says_nothing(&computed) => "no row fits it".to_owned(),
                Ok(computed) => return Ok(Some((sql, computed))),
                Err(Error::Knowledge(reason)) => reason.to_string(),
                Err(error) => return Err(error),
            };
            cx.note(format!("the query cannot be used: {reason}"));
            failed = Some(FailedQuery { sql, reason });
        }
        cx.note(format!("no query could be used in {} tries", self.retries + 1));
        Ok(None)
    }

    pub(super) fn check(&self) -> std::result::Result<(), String> {
        at_least_one("tables", self.tables)?;
        at_least_one("columns", self.columns)?;
        at_least_one("rows", self.rows)
    }
}

/// Rows of a table with a text that stands in the question, at most this many; `None` for a table
/// without texts.
fn naming(question: &Question, table: &TableSchema, most: usize) -> Option<String> {
    let asked = question.text.to_lowercase().replace('\'', "''");
    let stands = |column: &ColumnSchema| {
        let name = column.name.replace('"', "\"\"");
        // Short texts stand in everything.
        format!("(length(\"{name}\") > 2 AND instr('{asked}', lower(\"{name}\")) > 0)")
    };
    let texts = table.columns.iter().filter(|column| column.kind == "text");
    let any: Vec<String> = texts.map(stands).collect();
    let (name, any) = (&table.name, any.join(" OR "));
    (!any.is_empty()).then(|| format!("SELECT * FROM {name} WHERE {any} LIMIT {most}"))
}
