//! `halma kb delete`: documents out of a base, with every trace of them.
use super::opened;
use crate::args::{Common, KbDelete};
use crate::view::{self, plural};

pub(super) fn run(args: &KbDelete, common: &Common) -> anyhow::Result<()> {
    let engine = opened(&args.kb.kb, common)?;
    let deleted = engine.delete(&args.documents)?;
    if args.json {
        return view::say_json(&deleted);
    }
    let nodes: u64 = deleted.nodes.values().sum();
    let mut lines = vec![format!(
        "Removed {} with {} from {}.",
        plural(deleted.names.len() as u64, "document", "documents"),
        plural(nodes, "node", "nodes"),
        args.kb.kb.display(),
    )];
    lines.extend(deleted.names.iter().map(|name| format!("  {name}")));
    for name in &deleted.kept {
        lines.push(format!("  (the same text stays under the name {name})"));
    }
    view::say(&lines.join("\n"))
}
