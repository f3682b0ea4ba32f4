//! `halma kg load` and `halma kg unload`.
use halma_engine::{Engine, KgLoad, KgLoaded};

use super::{loaded, opened};
use crate::args::{Common, KgLoadArgs, KgUnload};
use crate::view::{self, plural};

/// Each file by itself: those before a broken one stay loaded, and what was done is told.
pub(super) fn load(args: &KgLoadArgs, common: &Common) -> anyhow::Result<()> {
    let engine = Engine::create_or_open(loaded(common, vec![])?.config, &args.kb.kb)?;
    let mut done = vec![];
    for (at, file) in args.files.iter().enumerate() {
        // Of several files for one graph only the first makes room.
        let replace = args.replace && (args.graph.is_none() || at == 0);
        let format = args.format.map(Into::into);
        let how = KgLoad { format, graph: args.graph.clone(), replace };
        match engine.load_kg(file, &how) {
            Ok(loaded) => done.push(loaded),
            Err(error) => {
                for loaded in &done {
                    view::note(&told(loaded));
                }
                return Err(error.into());
            }
        }
    }
    if args.json {
        return view::say_json(&done);
    }
    view::say(&done.iter().map(told).collect::<Vec<_>>().join("\n"))
}

fn told(loaded: &KgLoaded) -> String {
    let KgLoaded { graph, read, added, removed, facts } = loaded;
    let count = |number: usize| plural(number as u64, "fact", "facts");
    if *added == 0 && *removed == 0 {
        return format!("{graph}: {} read, nothing new; it holds {}.", count(*read), count(*facts));
    }
    let gone = if *removed > 0 { format!(", {} removed", count(*removed)) } else { String::new() };
    format!(
        "{graph}: {} read, {} added{gone}; it holds {}.",
        count(*read),
        count(*added),
        count(*facts)
    )
}

pub(super) fn unload(args: &KgUnload, common: &Common) -> anyhow::Result<()> {
    let engine = opened(&args.kb.kb, common)?;
    let gone = engine.unload_kg(args.graph.as_deref())?;
    if args.json {
        return view::say_json(&gone);
    }
    if gone.is_empty() {
        return view::say("No graph is loaded.");
    }
    view::say(&format!("Removed {}.", gone.join(", ")))
}
