//! The tables of a toy base: no SQL is run, queries are looked up by their text.
use std::collections::HashMap;

use halma_core::{BoxError, ColumnSchema, SqlResult, SqlRow, TableSchema};
use serde_json::Value;

#[derive(Default)]
pub(super) struct Tables {
    tables: Vec<(TableSchema, Vec<Vec<Value>>)>,
    answers: HashMap<String, SqlResult>,
}

impl Tables {
    pub(super) fn add(
        &mut self,
        (name, document): (&str, &str),
        columns: &[(&str, &str)],
        rows: Vec<Vec<Value>>,
    ) {
        let column = |(name, kind): &(&str, &str)| ColumnSchema {
            name: (*name).to_owned(),
            kind: serde_json::from_value((*kind).into()).expect("a kind of columns"),
            unit: String::new(),
        };
        let table = TableSchema {
            name: name.to_owned(),
            caption: String::new(),
            document: document.to_owned(),
            rows: rows.len(),
            columns: columns.iter().map(column).collect(),
        };
        self.tables.push((table, rows));
    }

    pub(super) fn answer(&mut self, sql: &str, columns: &[&str], rows: Vec<(Vec<Value>, &[&str])>) {
        let row = |(values, sources): (Vec<Value>, &[&str])| SqlRow {
            values,
            sources: sources.iter().map(|id| (*id).into()).collect(),
        };
        let computed = SqlResult {
            columns: columns.iter().map(|name| (*name).to_owned()).collect(),
            rows: rows.into_iter().map(row).collect(),
            documents: self.tables.iter().map(|(table, _)| table.document.clone()).collect(),
            cut: false,
        };
        self.answers.insert(sql.to_owned(), computed);
    }

    pub(super) fn cut(&mut self, sql: &str) {
        if let Some(computed) = self.answers.get_mut(sql) {
            computed.cut = true;
        }
    }

    pub(super) fn schemas(&self) -> Vec<TableSchema> {
        self.tables.iter().map(|(table, _)| table.clone()).collect()
    }

    pub(super) fn run_sql(&self, sql: &str) -> Result<SqlResult, BoxError> {
        if self.tables.is_empty() {
            return Err("the toy base has no tables".into());
        }
        if let Some(computed) = self.answers.get(sql) {
            return Ok(computed.clone());
        }
        self.first_rows(sql).ok_or_else(|| format!("near `{sql}`: syntax error").into())
    }

    /// `SELECT * FROM name LIMIT n`.
    fn first_rows(&self, sql: &str) -> Option<SqlResult> {
        let (name, limit) = sql.strip_prefix("SELECT * FROM ")?.split_once(" LIMIT ")?;
        let limit: usize = limit.parse().ok()?;
        let (table, rows) = self.tables.iter().find(|(table, _)| table.name == name)?;
        let row = |(i, values): (usize, &Vec<Value>)| SqlRow {
            values: values.clone(),
            sources: vec![format!("{name}:{}", i + 1).as_str().into()],
        };
        Some(SqlResult {
            columns: table.columns.iter().map(|column| column.name.clone()).collect(),
            rows: rows.iter().enumerate().take(limit).map(row).collect(),
            documents: vec![table.document.clone()],
            cut: false,
        })
    }
}
