//! `halma data`: what is known of the question sets, and whether a downloaded file is right.
use halma_eval::{check, entries};

use crate::args::{Data, DataCommand};
use crate::view;

pub(crate) fn run(args: Data) -> anyhow::Result<()> {
    match args.command {
        DataCommand::List { json } => list(json),
        DataCommand::Show { set, json } => {
            let entry = set.entry();
            if json { view::say_json(&entry.json()) } else { view::say(entry.page().trim()) }
        }
        DataCommand::Check { file, format, json } => {
            let checked = check(&file, format)?;
            if json { view::say_json(&checked) } else { view::say(&checked.lines().join("\n")) }
        }
    }
}

fn list(json: bool) -> anyhow::Result<()> {
    if json {
        let all: Vec<_> = entries().iter().map(halma_eval::DataSetEntry::json).collect();
        return view::say_json(&all);
    }
    let wide = entries().iter().map(|entry| entry.name.len()).max().unwrap_or_default();
    let line = |entry: &halma_eval::DataSetEntry| {
        let (name, title, metric) = (&entry.name, &entry.title, entry.metric.name());
        format!("{name:<wide$}  {title} ({metric})")
    };
    let lines: Vec<String> = entries().iter().map(line).collect();
    view::say(&format!(
        "{}\n\n`halma data show NAME` says where to get one, `halma data check FILE` whether it is \
         right.",
        lines.join("\n")
    ))
}
