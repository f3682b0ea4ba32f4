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
    let mut lines = vec![format!(
        "Removed {} from {}: nothing of {} is left there.",
        plural(deleted.documents.len() as u64, "document", "documents"),
        args.kb.kb.display(),
        if deleted.documents.len() == 1 { "it" } else { "them" },
    )];
    lines.extend(deleted.documents.iter().map(|name| format!("  {name}")));
    view::say(&lines.join("\n"))
}
