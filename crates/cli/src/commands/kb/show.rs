//! `halma kb show`: prints a node with its text and edges.
use console::style;
use halma_engine::{Shown, Unit};

use crate::args::{Common, KbShow};
use crate::commands::setup::open_base;
use crate::view::{self, page_suffix, shorten, table, thousands};

pub(super) fn run(args: &KbShow, common: &Common) -> anyhow::Result<()> {
    let engine = open_base(&args.kb, common)?;
    let inspector = engine.base().inspector();
    let shown = inspector.show(&inspector.find(&args.node)?)?;
    if args.json {
        return view::print_json(&shown);
    }
    view::print(&lines(&shown, args.edges as usize))
}

fn lines(shown: &Shown, max_edges: usize) -> String {
    let node = &shown.node;
    let mut lines = vec![format!(
        "{} {}  {}",
        style(node.layer.name()).cyan(),
        style(&node.title).bold(),
        style(&node.id.0).dim()
    )];
    let mut rows = vec![];
    if !node.document.is_empty() {
        let page = page_suffix(node.page);
        let (start, end) = (node.span.start, node.span.end);
        let place = format!("{}{page}, characters {start}–{end}", node.document);
        rows.push(vec!["document".into(), place]);
    }
    rows.extend(node.section.iter().map(|section| vec!["section".into(), section.clone()]));
    rows.extend(details(shown));
    for unit in &shown.units {
        rows.push(vec![unit.task.to_owned(), shorten(&state(unit), 100)]);
    }
    if !shown.vectors.is_empty() {
        rows.push(vec!["vectors".into(), shown.vectors.join(", ")]);
    }
    if !rows.is_empty() {
        lines.push(table(&rows));
    }
    let text = node.text.trim();
    if !text.is_empty() {
        lines.push(format!("\n{}", beginning(text, 1500)));
    }
    if !shown.edges.is_empty() {
        lines.push(String::new());
    }
    for edge in shown.edges.iter().take(max_edges) {
        let arrow = if edge.outgoing { "→" } else { "←" };
        let other = &edge.node;
        let text = if other.text.is_empty() { &other.title } else { &other.text };
        lines.push(format!(
            "{} {} {} {}  {}",
            style(arrow).dim(),
            style(edge.edge.name().replace('_', " ")).cyan(),
            other.layer.name(),
            shorten(text, 70),
            style(&other.id.0).dim()
        ));
    }
    if shown.edges.len() > max_edges {
        let more = thousands((shown.edges.len() - max_edges) as u64);
        lines.push(format!("… and {more} more (--edges)"));
    }
    lines.join("\n")
}

/// The beginning of a text, with its line breaks.
fn beginning(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// The properties of this kind of node, one per row.
fn details(shown: &Shown) -> Vec<Vec<String>> {
    let details = serde_json::to_value(&shown.details).unwrap_or_default();
    let mut rows = vec![];
    for (name, value) in details.as_object().into_iter().flatten() {
        let empty = value.is_null()
            || value.as_array().is_some_and(Vec::is_empty)
            || value.as_str().is_some_and(str::is_empty);
        // The kind is in the first line already.
        if empty
            || name == "layer"
            || name == "kind" && value.as_str() == Some(shown.node.layer.name())
        {
            continue;
        }
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        rows.push(vec![name.replace('_', " "), shorten(&value, 100)]);
    }
    rows
}

fn state(unit: &Unit) -> String {
    let value = serde_json::to_value(unit).unwrap_or_default();
    let fields = value.as_object().into_iter().flatten();
    let values = fields.filter(|(name, value)| *name != "task" && !value.is_null());
    values
        .map(|(_, value)| value.as_str().map_or_else(|| value.to_string(), str::to_owned))
        .collect::<Vec<_>>()
        .join(", ")
}
