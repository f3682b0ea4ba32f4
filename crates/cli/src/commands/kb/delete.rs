//! `halma kb delete`: deletes documents with everything derived from them.
use crate::args::{Common, KbDelete};
use crate::commands::setup::open_base;
use crate::view::{self, plural};

pub(super) fn run(args: &KbDelete, common: &Common) -> anyhow::Result<()> {
    let engine = open_base(&args.kb, common)?;
    let deleted = engine.delete(&args.documents)?;
    if args.json {
        return view::print_json(&deleted);
    }
    let nodes: u64 = deleted.nodes.values().sum();
    let mut lines = vec![format!(
        "Deleted {} with {} from {}.",
        plural(deleted.names.len() as u64, "document", "documents"),
        plural(nodes, "node", "nodes"),
        args.kb.shown(engine.config())?,
    )];
    lines.extend(deleted.names.iter().map(|name| format!("  {name}")));
    for name in &deleted.kept {
        lines.push(format!("  (the same text remains as {name})"));
    }
    view::print(&lines.join("\n"))
}
