//! `halma kb merges`: lists merged entities with the evidence, and undoes a merge.
use std::fmt::Write as _;

use console::style;
use halma_engine::{Merge, MergeSide};

use crate::args::{Common, KbMerges};
use crate::commands::setup::open_base;
use crate::view::{self, shorten};

pub(super) fn run(args: &KbMerges, common: &Common) -> anyhow::Result<()> {
    let engine = open_base(&args.kb, common)?;
    if let Some(id) = &args.undo {
        engine.base().undo_merge(id)?;
        return view::print(&format!("Undid the merge {id} permanently."));
    }
    let merges = engine.base().merges()?;
    if args.json {
        return view::print_json(&merges);
    }
    if merges.is_empty() {
        return view::print("No entities were merged.");
    }
    let lines: Vec<String> = merges.iter().map(line).collect();
    view::print(&lines.join("\n"))
}

fn line(merge: &Merge) -> String {
    let mut text = format!("{}  {}", style(&merge.id).dim(), style(&merge.name).bold());
    for part in [side(&merge.one), side(&merge.two)] {
        let _ = write!(text, "\n    {part}");
    }
    let rule = serde_json::to_value(merge.rule).unwrap_or_default();
    let rule = rule.as_str().unwrap_or_default().replace('_', " ");
    let _ = write!(text, "\n    rule: {rule}; similarity of descriptions: {:.2}", merge.score);
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
