//! `halma kb stats`: prints statistics of a base.
use chrono::{DateTime, SecondsFormat};
use halma_engine::{Stats, VectorStats};

use crate::args::{Common, KbStats};
use crate::commands::setup::open_base;
use crate::view::{self, table, thousands};

pub(super) fn run(args: &KbStats, common: &Common) -> anyhow::Result<()> {
    let stats = open_base(&args.kb, common)?.base().inspector().stats()?;
    if args.json {
        return view::print_json(&stats);
    }
    view::print(&lines(&stats)?)
}

/// The keys of times, in seconds since 1970.
const TIMES: [&str; 2] = ["created", "updated"];

/// One line per value; the values of a group are indented below its name.
fn lines(stats: &Stats) -> anyhow::Result<String> {
    let value = serde_json::to_value(stats)?;
    let mut rows = vec![];
    for (key, value) in value.as_object().into_iter().flatten() {
        let name = key.replace('_', " ");
        match value {
            serde_json::Value::Object(group) => {
                rows.push(vec![name, String::new()]);
                for (key, value) in group {
                    rows.push(vec![format!("  {}", key.replace('_', " ")), render(value)]);
                }
            }
            _ if key == "vectors" => rows.extend(vectors(stats)),
            value if TIMES.contains(&key.as_str()) => rows.push(vec![name, time(value)]),
            value => rows.push(vec![name, render(value)]),
        }
    }
    Ok(table(&rows))
}

/// For each embedder, of how many nodes there are vectors.
fn vectors(stats: &Stats) -> Vec<Vec<String>> {
    let of = |count: u64, all: u64, what: &str| {
        format!("{} of {} {what}", thousands(count), thousands(all))
    };
    let row = |one: &VectorStats| {
        let mut parts = vec![
            format!("{} dimensions", one.dimensions),
            of(one.chunks, stats.chunks, "chunks"),
            of(one.atoms, stats.atoms, "atoms"),
        ];
        // Not each of these needs one: the text of many is that of their only chunk.
        let others = one.others.iter();
        parts
            .extend(others.map(|(layer, count)| format!("{} {}", thousands(*count), layer.name())));
        vec![format!("  {}", one.embedder), parts.join(", ")]
    };
    let name = vec!["vectors".to_owned(), String::new()];
    std::iter::once(name).chain(stats.vectors.iter().map(row)).collect()
}

fn time(value: &serde_json::Value) -> String {
    let time = value.as_i64().and_then(|seconds| DateTime::from_timestamp(seconds, 0));
    time.map_or_else(|| render(value), |time| time.to_rfc3339_opts(SecondsFormat::Secs, true))
}

fn render(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Number(number) => {
            number.as_u64().map_or_else(|| number.to_string(), thousands)
        }
        serde_json::Value::Null => "–".into(),
        serde_json::Value::Object(states) => {
            let states = states.iter().map(|(state, count)| format!("{state} {}", render(count)));
            states.collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_shown_as_such() {
        assert_eq!(time(&1_795_671_234.into()), "2026-11-26T05:33:54Z");
        assert_eq!(time(&serde_json::Value::Null), "–");
    }
}
