//! `docs/reference/config.md` and the `halma.toml` of `halma init`.
use std::fmt::Write as _;

use halma_core::Entry;
use halma_engine::{Config, strategies};
use serde_json::Value;

use super::keys::{Key, TABLES, Table, Texts, expected, literal};
use super::{cell, check};

const INTRODUCTION: &str = "# Configuration\n\n\
    One file, `halma.toml`, in the current folder, or named by `--config`. `halma init` writes one \
    with every key and its default. Every key is optional unless it says `required`. An unknown key \
    is an error that names its line.\n\n\
    Order: defaults, then the file, then flags. The environment names what differs between \
    machines: keys of models (the variable that `key_env` names), the base (`HALMA_KB`, which the flag \
    `--kb` overrides), the folders of weights (`HALMA_HOME`) and of replicas of shared bases \
    (`HALMA_REPLICAS`), what is logged (`HALMA_LOG`), the user and password of a database (`PGUSER`, \
    `PGPASSWORD`) and the collector of traces (`OTEL_…`). \
    `halma config show` prints what differs from the defaults, `--all` every value with its origin.\n";
const TEMPLATE_INTRODUCTION: &str = "# The configuration of Halma. Every key is optional; keys that \
    are commented out show their\n# default, or an example where there is none. `halma config show` \
    prints the values\n# that differ, with their origin; docs/reference/config.md describes all keys.\n";
const STRATEGIES: &str = "The settings of each strategy; its page describes them, and `halma.toml` of \
    `halma init` has them with their defaults. `--set NAME.KEY=VALUE` overrides one for a single run. \
    Every strategy also takes `abstain = false`, with which it always answers, \
    `demonstrations = false`, with which models are not shown the worked examples next to its \
    prompts, and `own_knowledge = true`, with which readers may use what they know themselves.";

#[test]
fn the_reference_describes_every_key() {
    let texts = Texts::read();
    let mut page = INTRODUCTION.to_owned();
    for table in TABLES {
        let heading = if table.path.is_empty() {
            "Top level".to_owned()
        } else {
            format!("[{}]", table.path)
        };
        let _ = write!(page, "\n## {heading}\n\n");
        if !texts.about(table).is_empty() {
            let _ = write!(page, "{}\n\n", texts.about(table));
        }
        page.push_str("| key | default | meaning |\n|---|---|---|\n");
        for key in texts.keys(table) {
            let default = match &key.default {
                Some(default) => format!("`{default}`"),
                None if key.required => "required".into(),
                None => "–".into(),
            };
            let _ = writeln!(page, "| `{}` | {} | {} |", key.name, cell(&default), cell(&key.text));
        }
    }
    let _ = write!(page, "\n## [strategy.NAME]\n\n{STRATEGIES}\n");
    page.push_str("\n| table | strategy |\n|---|---|\n");
    for entry in strategies() {
        let (name, summary) = (entry.name, cell(entry.summary.trim_end_matches('.')));
        let _ =
            writeln!(page, "| `strategy.{name}` | [{name}](../strategies/{name}.md): {summary} |");
    }
    check("docs/reference/config.md", &page);
}

#[test]
fn the_template_has_every_key_and_is_valid_with_and_without_its_comments() {
    let texts = Texts::read();
    let mut template = TEMPLATE_INTRODUCTION.to_owned();
    for table in TABLES {
        template.push('\n');
        template.push_str(&comment(texts.about(table)));
        if !table.path.is_empty() {
            let mark = if table.optional { "# " } else { "" };
            let _ = writeln!(template, "{mark}[{}]", name(table));
        }
        for key in texts.keys(table) {
            template.push_str(&comment(&key.text));
            let _ = writeln!(template, "# {} = {}", key.name, value(&key));
        }
    }
    let _ = write!(template, "\n{}", comment(STRATEGIES));
    for entry in strategies() {
        let settings = settings(entry).into_iter().filter_map(|(key, value)| Some((key, value?)));
        let _ = writeln!(template, "\n[strategy.{}]", entry.name);
        for (key, value) in settings {
            let _ = writeln!(template, "# {key} = {value}");
        }
    }
    let parse = |text: &str| toml::from_str::<Config>(text).unwrap_or_else(|e| panic!("{e}"));
    let plain = serde_json::to_value(parse(&template)).unwrap();
    let mut default = serde_json::to_value(Config::default()).unwrap();
    default["strategy"] = plain["strategy"].clone();
    assert_eq!(plain, default, "without changes it is the default");
    let uncommented = parse(&uncommented(&template));
    for entry in strategies() {
        entry.build_from(uncommented.strategy[entry.name].clone()).map(drop).unwrap();
    }
    check("crates/cli/src/halma.toml", &template);
}

fn uncommented(template: &str) -> String {
    let line = |line: &str| {
        let text = line.strip_prefix("# ").unwrap_or(line);
        let key = text.split(" = ").next().unwrap_or_default();
        let is_key = key.chars().all(|c| c.is_ascii_lowercase() || "_.0123456789".contains(c));
        let is_code = text.starts_with('[') || (text.contains(" = ") && is_key);
        if is_code { format!("{text}\n") } else { String::new() }
    };
    template.lines().map(line).collect()
}

fn name(table: &Table) -> String {
    table.path.replace("NAME", "main")
}

/// The value in the template: the default, or an example.
fn value(key: &Key) -> &str {
    let value = key.default.as_ref().or(key.example.as_ref());
    value.expect("a key without a default has an example")
}

/// The settings of a strategy with their defaults, in the order of its type; those of an inner
/// table are dotted.
fn settings(entry: &Entry) -> Vec<(String, Option<String>)> {
    let unknown: toml::Table = [("__".to_owned(), toml::Value::Integer(0))].into_iter().collect();
    let error = entry.build_from(unknown).err().unwrap();
    let strategy = entry.build_from(toml::Table::new()).unwrap();
    let defaults = strategy.settings();
    if error.contains("there are no fields") {
        return vec![];
    }
    let mut settings = vec![];
    for key in expected(&error) {
        flatten(key.clone(), &defaults[&key], &mut settings);
    }
    settings
}

fn flatten(key: String, value: &Value, settings: &mut Vec<(String, Option<String>)>) {
    match value.as_object() {
        Some(fields) => {
            for (name, value) in fields {
                flatten(format!("{key}.{name}"), value, settings);
            }
        }
        None => settings.push((key, literal(value))),
    }
}

/// A text as lines of a comment, with paths in place of Markdown's links.
fn comment(text: &str) -> String {
    const WIDTH: usize = 98;
    let mut lines = vec![String::new()];
    for word in without_links(text).split_whitespace() {
        let line = lines.last_mut().expect("there is a first line");
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > WIDTH {
            lines.push(word.to_owned());
        } else {
            let space = if line.is_empty() { "" } else { " " };
            let _ = write!(line, "{space}{word}");
        }
    }
    lines.retain(|line| !line.is_empty());
    lines.iter().fold(String::new(), |out, line| out + "# " + line + "\n")
}

/// `[text](../page.md)` as `docs/page.md`.
fn without_links(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('[') {
        out.push_str(before);
        match after.split_once("](").map(|(label, rest)| (label, rest.split_once(')'))) {
            Some((label, Some((address, tail)))) if !label.contains(']') => {
                let page = address.split('#').next().unwrap_or_default();
                out.push_str(&page.replace("../", "docs/"));
                rest = tail;
            }
            _ => {
                out.push('[');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}
