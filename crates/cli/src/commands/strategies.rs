//! `halma strategies`: lists strategies with their papers, requirements and typical cost.
use console::style;
use halma_core::{Entry, Need};
use halma_engine::strategies;
use serde_json::{Value, json};

use crate::args::Strategies;
use crate::view;

pub(crate) fn run(args: &Strategies) -> anyhow::Result<()> {
    if args.json {
        let all: Vec<Value> = strategies().iter().map(as_json).collect();
        return view::print_json(&all);
    }
    let wide = strategies().iter().map(|entry| entry.name.len()).max().unwrap_or_default();
    let entries: Vec<String> = strategies().iter().map(|entry| lines(entry, wide)).collect();
    view::print(&format!(
        "{}\n\nCalls are calls to a model for one question with the default settings. Settings and \
         measured costs: docs/strategies/NAME.md.",
        entries.join("\n")
    ))
}

fn as_json(entry: &Entry) -> Value {
    json!({
        "name": entry.name,
        "summary": entry.summary,
        "paper": entry.paper,
        "needs": entry.needs.iter().map(describe).collect::<Vec<_>>(),
        "calls": entry.calls,
    })
}

fn lines(entry: &Entry, wide: usize) -> String {
    let needs: Vec<String> = entry.needs.iter().map(describe).collect();
    let needs =
        if needs.is_empty() { String::new() } else { format!("; needs {}", needs.join(", ")) };
    let indent = " ".repeat(wide + 2);
    format!(
        "{:<wide$}  {}\n{indent}{}\n{indent}{}",
        style(entry.name).bold(),
        entry.summary,
        style(entry.paper).dim(),
        style(format!("calls: {}{needs}", entry.calls)).dim(),
    )
}

fn describe(need: &Need) -> String {
    match need {
        Need::LogProbs(role) => format!("log-probabilities from the model of the role `{role}`"),
        Need::Reranker => "a reranker".into(),
        Need::Tagger => "a tagger".into(),
    }
}
