//! `halma kb tables` and `halma kb sql`: queries over the tables of a base.
use std::fmt::Write as _;
use std::time::Duration;

use console::style;
use halma_core::{ConfigError, SqlResult};
use halma_engine::{Engine, SqlLimits, TableLine, over_series};

use crate::args::{Common, KbSql, KbTables};
use crate::commands::setup::open_base;
use crate::view::{self, page_suffix, plural, shorten, table};

pub(super) fn tables(args: &KbTables, common: &Common) -> anyhow::Result<()> {
    let tables = open_base(&args.kb, common)?.base().tables()?;
    if args.json {
        return view::print_json(&tables);
    }
    if tables.is_empty() {
        return view::print("The base has no tables.");
    }
    let head = |line: &TableLine| {
        vec![
            style(&line.name).bold().to_string(),
            plural(line.rows as u64, "row", "rows"),
            source(line),
        ]
    };
    let heads = table(&tables.iter().map(head).collect::<Vec<_>>());
    let mut lines = vec![];
    for (head, line) in heads.lines().zip(&tables) {
        let columns: Vec<String> = line
            .columns
            .iter()
            .map(|column| format!("{} {}", column.name, column.kind.name()))
            .collect();
        lines.push(head.to_owned());
        lines.push(wrapped(&columns, terminal_width()));
    }
    view::print(&lines.join("\n"))
}

/// The columns of a terminal; `None` where the output goes elsewhere.
fn terminal_width() -> Option<usize> {
    let terminal = console::Term::stdout();
    terminal.is_term().then(|| usize::from(terminal.size().1))
}

/// A list of columns below the name of their table, on as many lines as its width asks for. No name
/// is cut, since queries need all of them.
fn wrapped(columns: &[String], width: Option<usize>) -> String {
    const INDENT: &str = "  ";
    let mut lines = vec![INDENT.to_owned()];
    for (at, column) in columns.iter().enumerate() {
        let column = shorten(column, usize::MAX);
        let part = if at + 1 < columns.len() { format!("{column},") } else { column };
        let Some(line) = lines.last_mut() else { continue };
        let is_first = line.len() == INDENT.len();
        let length = console::measure_text_width(line) + 1 + console::measure_text_width(&part);
        match width {
            Some(width) if !is_first && length > width => lines.push(format!("{INDENT}{part}")),
            _ if is_first => line.push_str(&part),
            _ => {
                line.push(' ');
                line.push_str(&part);
            }
        }
    }
    lines.join("\n")
}

pub(super) fn run(args: &KbSql, common: &Common) -> anyhow::Result<()> {
    let time = Duration::try_from_secs_f64(args.seconds).map_err(|_| ConfigError {
        file: "--seconds".into(),
        key: args.seconds.to_string(),
        reason: "it is not a valid duration".into(),
        hint: "give seconds, as in --seconds 5".into(),
    })?;
    let limits = SqlLimits { time, rows: args.rows as usize, bytes: 64_000_000 };
    let engine = open_base(&args.kb, common)?;
    let query = match &args.run {
        Some(run) => with_series(&engine, run, &args.query)?,
        None => args.query.clone(),
    };
    let result = engine.base().sql(&query, limits)?;
    if args.json {
        return view::print_json(&result);
    }
    view::print(&render(&result))?;
    if result.cut {
        view::warn("there are more rows; raise --rows or narrow the query");
    }
    Ok(())
}

/// The query with the series of a run as a table.
fn with_series(engine: &Engine, run: &str, query: &str) -> Result<String, ConfigError> {
    let refuse = |reason: &str, hint: &str| ConfigError {
        file: "--run".into(),
        key: run.to_owned(),
        reason: reason.to_owned(),
        hint: hint.to_owned(),
    };
    let stored = engine.traces().get(run).ok_or_else(|| {
        refuse(
            "the base has no run of this id",
            "`halma ask` prints the id below the series, and with `--json` as `id`",
        )
    })?;
    over_series(&stored.body.trace, query).ok_or_else(|| {
        refuse(
            "the run made no series",
            "ask a question about the future with `--strategy pike_l3`, or leave `--run` out",
        )
    })
}

fn render(result: &SqlResult) -> String {
    let head = result.columns.iter().map(|name| style(name).bold().to_string()).collect();
    let mut rows: Vec<Vec<String>> = vec![head];
    for row in &result.rows {
        rows.push(row.values.iter().map(value).collect());
    }
    let mut text = table(&rows);
    let _ = write!(text, "\n{}", plural(result.rows.len() as u64, "row", "rows"));
    if !result.documents.is_empty() {
        let _ = write!(text, " from {}", result.documents.join(", "));
    }
    text
}

/// The most characters of a text in a table: all where the output is not a terminal.
fn max_chars(on_terminal: usize) -> usize {
    if terminal_width().is_some() { on_terminal } else { usize::MAX }
}

fn value(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => shorten(text, max_chars(60)),
        serde_json::Value::Null => "–".into(),
        other => other.to_string(),
    }
}

/// Where a table comes from, or why it cannot be queried.
fn source(line: &TableLine) -> String {
    if let Some(refused) = &line.refused {
        let refused = shorten(refused, max_chars(60));
        return style(format!("not in SQL: {refused}")).yellow().to_string();
    }
    match (&line.document, line.page) {
        (Some(document), page) => document.clone() + &page_suffix(page),
        (None, _) if line.unites.is_empty() => "from facts".into(),
        (None, _) => format!("union of {}", line.unites.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_of_columns_are_wrapped_and_never_cut() {
        let columns: Vec<String> = (0..30).map(|i| format!("column_{i} text")).collect();
        let wrapped_at = |width| wrapped(&columns, width);
        assert_eq!(wrapped_at(None), format!("  {}", columns.join(", ")));
        let narrow = wrapped_at(Some(40));
        assert!(narrow.lines().all(|line| line.chars().count() <= 40), "{narrow}");
        assert!(columns.iter().all(|column| narrow.contains(column)), "{narrow}");
        assert_eq!(wrapped(&[], Some(40)), "  ");
    }
}
