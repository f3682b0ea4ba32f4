//! `halma kg load` and `halma kg unload`: load and remove graphs.
use halma_engine::{Engine, KgLoad, KgLoaded};

use crate::args::{Common, KgLoadArgs, KgUnload};
use crate::commands::setup::{load_config, open_base};
use crate::view::{self, plural};

/// Loads each file on its own: files before an invalid one stay loaded and are reported.
pub(super) fn load(args: &KgLoadArgs, common: &Common) -> anyhow::Result<()> {
    let config = load_config(common, vec![])?.config;
    let kb = args.kb.chosen(&config);
    let engine = Engine::create_or_open(config, &kb)?;
    if engine.shared().is_some() {
        view::warn("graphs are not shared: these are loaded for this machine only");
    }
    let mut done = vec![];
    for (at, file) in args.files.iter().enumerate() {
        // Of several files for one graph, only the first replaces its content.
        let replace = args.replace && (args.graph.is_none() || at == 0);
        let format = args.format;
        let how = KgLoad { format, graph: args.graph.clone(), replace };
        match engine.load_kg(file, &how) {
            Ok(loaded) => done.push(loaded),
            Err(error) => {
                for loaded in &done {
                    view::note(&summary(loaded));
                }
                return Err(error.into());
            }
        }
    }
    if args.json {
        return view::print_json(&done);
    }
    view::print(&done.iter().map(summary).collect::<Vec<_>>().join("\n"))
}

fn summary(loaded: &KgLoaded) -> String {
    let KgLoaded { graph, read, added, removed, facts } = loaded;
    let count = |number: usize| plural(number as u64, "fact", "facts");
    if *added == 0 && *removed == 0 {
        return format!(
            "{graph}: {} read, nothing new; the graph has {}.",
            count(*read),
            count(*facts)
        );
    }
    let deleted =
        if *removed > 0 { format!(", {} removed", count(*removed)) } else { String::new() };
    format!(
        "{graph}: {} read, {} added{deleted}; the graph has {}.",
        count(*read),
        count(*added),
        count(*facts)
    )
}

pub(super) fn unload(args: &KgUnload, common: &Common) -> anyhow::Result<()> {
    let engine = open_base(&args.kb, common)?;
    let removed = engine.unload_kg(args.graph.as_deref())?;
    if args.json {
        return view::print_json(&removed);
    }
    if removed.is_empty() {
        return view::print("There is no loaded graph.");
    }
    view::print(&format!("Removed {}.", removed.join(", ")))
}
