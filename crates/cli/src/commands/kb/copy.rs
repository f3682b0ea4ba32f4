//! `halma kb copy`: copies a base into a database, or out of one.
use crate::args::place::shown;
use crate::args::{Common, KbCopy};
use crate::commands::setup::{create_or_open, load_config, open};
use crate::view::{self, plural};

pub(super) fn run(args: &KbCopy, common: &Common) -> anyhow::Result<()> {
    let config = load_config(common, vec![])?.config;
    let from = open(config.clone(), &args.from)?;
    let to = create_or_open(config, &args.to)?;
    let copied = to.base().copy_from(from.base())?;
    if args.json {
        return view::print_json(&copied);
    }
    view::print(&format!(
        "Copied {} to {}: {} with {} in {:.1} s.",
        shown(&args.from)?,
        shown(&args.to)?,
        plural(copied.documents, "document", "documents"),
        plural(copied.chunks, "chunk", "chunks"),
        copied.elapsed_ms / 1e3,
    ))
}
