//! `halma kg`: loads and queries the knowledge graph.
mod ask;
mod load;

use halma_engine::KgShown;

use super::setup::open_base;
use crate::args::{Common, Kg, KgCommand, KgShow};
use crate::view::{self, plural, table, thousands};

pub(crate) async fn run(args: Kg, common: &Common) -> anyhow::Result<()> {
    match args.command {
        KgCommand::Load(args) => load::load(&args, common),
        KgCommand::Unload(args) => load::unload(&args, common),
        KgCommand::Show(args) => show(&args, common),
        KgCommand::Find(args) => ask::find(&args, common).await,
        KgCommand::Relate(args) => ask::relate(&args, common).await,
        KgCommand::Filter(args) => ask::filter(&args, common).await,
    }
}

/// `halma kg show`: prints statistics of the loaded graphs.
fn show(args: &KgShow, common: &Common) -> anyhow::Result<()> {
    let shown = open_base(&args.kb, common)?.show_kg()?;
    if args.json {
        return view::print_json(&shown);
    }
    view::print(&lines(&shown))
}

fn lines(shown: &KgShown) -> String {
    let mut rows = vec![];
    let mut row = |name: &str, value: String| rows.push(vec![name.to_owned(), value]);
    for graph in &shown.graphs {
        row("graph", format!("{} ({} kB)", graph.name, thousands(graph.bytes.div_ceil(1000))));
    }
    if let Some(loaded) = &shown.loaded {
        row("facts", thousands(loaded.facts as u64));
        row("entities", thousands(loaded.entities as u64));
        row("without a label", thousands(loaded.unlabelled as u64));
        row("relations", thousands(loaded.relations as u64));
        let classes: Vec<String> = loaded
            .classes
            .iter()
            .map(|(name, members)| format!("{name} ({})", thousands(*members as u64)))
            .collect();
        row("classes", classes.join(", "));
        row("for example", loaded.some_relations.join(", "));
    }
    if shown.base_facts > 0 {
        row("from the documents", plural(shown.base_facts, "fact", "facts"));
    }
    let source = match &shown.source {
        Some(about) => format!("Questions are answered from: {about}"),
        None => "There is no knowledge graph. Load one with `halma kg load FILE`.".to_owned(),
    };
    if rows.is_empty() { source } else { format!("{}\n\n{source}", table(&rows)) }
}
