//! `halma kg show`: what is loaded.
use halma_engine::KgShown;

use super::opened;
use crate::args::{Common, KgShow};
use crate::view::{self, plural, table::table, thousands};

pub(super) fn run(args: &KgShow, common: &Common) -> anyhow::Result<()> {
    let shown = opened(&args.kb.kb, common)?.show_kg()?;
    if args.json {
        return view::say_json(&shown);
    }
    view::say(&lines(&shown))
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
        row("such as", loaded.some_relations.join(", "));
    }
    if shown.base_facts > 0 {
        row("of the documents", plural(shown.base_facts, "fact", "facts"));
    }
    let asked = match &shown.asked {
        Some(about) => format!("Questions are answered from: {about}"),
        None => "No graph is asked. `halma kg load FILE` loads one.".to_owned(),
    };
    if rows.is_empty() { asked } else { format!("{}\n\n{asked}", table(&rows)) }
}
