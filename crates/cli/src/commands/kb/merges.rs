//! `halma kb merges`: which entities were taken for one, why, and how to undo it.
use std::fmt::Write as _;

use console::style;
use halma_engine::{Merge, MergeSide};

use super::opened;
use crate::args::{Common, KbMerges};
use crate::view::{self, shorten};

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
    let lines: Vec<String> = merges.iter().map(line).collect();
    view::say(&lines.join("\n"))
}

fn line(merge: &Merge) -> String {
    let mut text = format!("{}  {}", style(&merge.id).dim(), style(&merge.name).bold());
    for part in [side(&merge.one), side(&merge.two)] {
        let _ = write!(text, "\n    {part}");
    }
    let rule = serde_json::to_value(merge.rule).unwrap_or_default();
    let rule = rule.as_str().unwrap_or_default().replace('_', " ");
    let _ = write!(text, "\n    because of: {rule}, descriptions agree {:.2}", merge.score);
    if !merge.reason.is_empty() {
        let _ = write!(text, "; {}", shorten(&merge.reason, 100));
    }
    text
}

fn side(side: &MergeSide) -> String {
    let kind = if side.kind.is_empty() { String::new() } else { format!(" ({})", side.kind) };
    let from = side.documents.join(", ");
    format!("{}{kind}: {} [{from}]", side.name, shorten(&side.description, 90))
}
