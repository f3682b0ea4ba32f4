//! `halma strategies`: the ways of answering, what each needs and what it takes.
use console::style;
use halma_core::{Entry, Need};
use halma_engine::{StrategyCost, cost, strategies};
use serde_json::{Value, json};

use crate::args::Strategies;
use crate::view;

pub(crate) fn run(args: &Strategies) -> anyhow::Result<()> {
    if args.json {
        let all: Vec<Value> = strategies().iter().map(as_json).collect();
        return view::say_json(&all);
    }
    let wide = strategies().iter().map(|entry| entry.name.len()).max().unwrap_or_default();
    let shown: Vec<String> = strategies().iter().map(|entry| shown(entry, wide)).collect();
    view::say(&format!(
        "{}\n\nCalls and tokens are means a question, measured offline (docs/results.md). A \
         strategy's settings: docs/strategies/NAME.md.",
        shown.join("\n")
    ))
}

fn as_json(entry: &Entry) -> Value {
    let cost = cost(entry.name);
    json!({
        "name": entry.name,
        "summary": entry.summary,
        "paper": entry.paper,
        "needs": entry.needs.iter().map(in_words).collect::<Vec<_>>(),
        "calls": cost.map(|cost| cost.calls),
        "tokens": cost.map(|cost| cost.tokens),
    })
}

fn shown(entry: &Entry, wide: usize) -> String {
    let taken = match cost(entry.name) {
        Some(StrategyCost { calls, tokens }) => {
            let call = if *calls < 1.05 { "call" } else { "calls" };
            format!("{calls} {call}, {} tokens", view::thousands(u64::from(*tokens)))
        }
        None => "not measured: offline it cannot answer".to_owned(),
    };
    let needs: Vec<String> = entry.needs.iter().map(in_words).collect();
    let needs =
        if needs.is_empty() { String::new() } else { format!("; needs {}", needs.join(", ")) };
    let indent = " ".repeat(wide + 2);
    format!(
        "{:<wide$}  {}\n{indent}{}\n{indent}{}",
        style(entry.name).bold(),
        entry.summary,
        style(entry.paper).dim(),
        style(format!("{taken}{needs}")).dim(),
    )
}

fn in_words(need: &Need) -> String {
    match need {
        Need::LogProbs(role) => format!("log-probabilities of the model for `{role}`"),
        Need::Reranker => "a reranker".into(),
        Need::Tagger => "a tagger".into(),
    }
}
