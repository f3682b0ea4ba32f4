//! `halma kb merges`: which entities were taken for one, why, and how to undo it.
use console::style;

use super::opened;
use crate::args::{Common, KbMerges};
use crate::view;

pub(super) fn run(args: &KbMerges, common: &Common) -> anyhow::Result<()> {
    let engine = opened(&args.kb.kb, common)?;
    if let Some(id) = &args.undo {
        engine.base().undo_merge(id)?;
        return view::say(&format!("Undone: {id}. It will not be merged again."));
    }
    let merges = engine.base().merges()?;
    if args.json {
        return view::say_json(&merges);
    }
    if merges.is_empty() {
        return view::say("No entities were merged.");
    }
    let mut lines = vec![];
    for merge in &merges {
        lines.push(format!(
            "{}  {}\n    {}",
            style(&merge.id).dim(),
            style(merge.names.join(" = ")).bold(),
            merge.evidence
        ));
    }
    view::say(&lines.join("\n"))
}
