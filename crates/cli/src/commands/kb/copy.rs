//! `halma kb copy`: copies a base into a database, or out of one.
use crate::args::{Common, KbCopy, KbDir};
use crate::commands::setup::{create_or_open, load_config, open_base};
use crate::view::{self, plural};

pub(super) fn run(args: &KbCopy, common: &Common) -> anyhow::Result<()> {
    let from = open_base(&args.from, common)?;
    let to = create_or_open(load_config(common, vec![])?.config, &args.to)?;
    let copied = to.base().copy_from(from.base())?;
    if args.json {
        return view::print_json(&copied);
    }
    let [one, other] = [&args.from, &args.to].map(|kb| KbDir { kb: kb.clone() });
    view::print(&format!(
        "Copied {} to {}: {} with {} in {:.1} s.",
        one.shown()?,
        other.shown()?,
        plural(copied.documents, "document", "documents"),
        plural(copied.chunks, "chunk", "chunks"),
        copied.elapsed_ms / 1e3,
    ))
}
