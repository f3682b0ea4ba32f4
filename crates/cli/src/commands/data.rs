//! `halma data`: lists question sets and checks downloaded files.
use halma_eval::{check, entries};

use crate::args::{Data, DataCommand};
use crate::view;

pub(crate) fn run(args: Data) -> anyhow::Result<()> {
    match args.command {
        DataCommand::List { json } => list(json),
        DataCommand::Show { set, json } => {
            let entry = set.entry();
            if json { view::print_json(&entry.json()) } else { view::print(entry.page().trim()) }
        }
        DataCommand::Check { file, format, json } => {
            let checked = check(&file, format)?;
            if json { view::print_json(&checked) } else { view::print(&checked.lines().join("\n")) }
        }
    }
}

fn list(json: bool) -> anyhow::Result<()> {
    if json {
        let all: Vec<_> = entries().iter().map(halma_eval::DataSetEntry::json).collect();
        return view::print_json(&all);
    }
    let wide = entries().iter().map(|entry| entry.name.len()).max().unwrap_or_default();
    let line = |entry: &halma_eval::DataSetEntry| {
        let (name, title, metric) = (&entry.name, &entry.title, entry.metric.name());
        format!("{name:<wide$}  {title} ({metric})")
    };
    let lines: Vec<String> = entries().iter().map(line).collect();
    view::print(&format!(
        "{}\n\n`halma data show NAME` describes a set and its source; `halma data check FILE` checks \
         a downloaded file.",
        lines.join("\n")
    ))
}
