//! What a writer of queries is shown: the tables nearest to the question with samples of their rows.
use std::collections::HashSet;

use halma_core::{ColumnKind, ColumnSchema, Cx, Error, Question, Result, TableSchema};
use serde::Serialize;
use serde_json::Value;

use super::Quantitative;
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
