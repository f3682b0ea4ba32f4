//! `halma kb tables` and `halma kb sql`: counting and comparing by a query instead of by eye.
use std::fmt::Write as _;
use std::time::Duration;

use console::style;
use halma_core::SqlResult;
use halma_engine::{SqlLimits, TableLine};

use super::opened;
use crate::args::{Common, KbSql, KbTables};
use crate::view::{self, plural, shorten, table::table};

pub(super) fn tables(args: &KbTables, common: &Common) -> anyhow::Result<()> {
    let tables = opened(&args.kb.kb, common)?.base().tables()?;
    if args.json {
        return view::say_json(&tables);
    }
    if tables.is_empty() {
        return view::say("There are no tables in this base.");
    }
    let mut rows = vec![];
    for line in &tables {
        let columns: Vec<String> =
            line.columns.iter().map(|column| format!("{} {}", column.name, column.kind)).collect();
        rows.push(vec![
            style(&line.name).bold().to_string(),
            plural(line.rows as u64, "row", "rows"),
            from(line),
        ]);
        rows.push(vec![format!("  {}", shorten(&columns.join(", "), 90))]);
    }
    view::say(&table(&rows))
}

pub(super) fn run(args: &KbSql, common: &Common) -> anyhow::Result<()> {
    let time = Duration::try_from_secs_f64(args.seconds).map_err(|_| {
        anyhow::anyhow!("--seconds {} is no time; write for example 5", args.seconds)
    })?;
    let limits = SqlLimits { time, rows: args.rows as usize };
    let computed = opened(&args.kb.kb, common)?.base().sql(&args.query, limits)?;
    if args.json {
        return view::say_json(&computed);
    }
    view::say(&shown(&computed))?;
    if computed.cut {
        view::warn("there are more rows; raise --rows or ask for less");
    }
    Ok(())
}

fn shown(computed: &SqlResult) -> String {
    let head = computed.columns.iter().map(|name| style(name).bold().to_string()).collect();
    let mut rows: Vec<Vec<String>> = vec![head];
    for row in &computed.rows {
        rows.push(row.values.iter().map(value).collect());
    }
    let mut text = table(&rows);
    let _ = write!(text, "\n{}", plural(computed.rows.len() as u64, "row", "rows"));
    if !computed.documents.is_empty() {
        let _ = write!(text, " from {}", computed.documents.join(", "));
    }
    text
}

fn value(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => shorten(text, 60),
        serde_json::Value::Null => "–".into(),
        other => other.to_string(),
    }
}

/// Where a table comes from, or why it cannot be asked.
fn from(line: &TableLine) -> String {
    if let Some(refused) = &line.refused {
        return style(format!("not in SQL: {}", shorten(refused, 60))).yellow().to_string();
    }
    match (&line.document, line.page) {
        (Some(document), Some(page)) => format!("{document}, page {page}"),
        (Some(document), None) => document.clone(),
        (None, _) if line.unites.is_empty() => "from facts".into(),
        (None, _) => format!("unites {}", line.unites.join(", ")),
    }
}
