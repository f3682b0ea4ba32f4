//! `halma kb verify`: checks the consistency of a base.
use crate::args::{Common, KbVerify};
use crate::commands::setup::open_base;
use crate::view::{self, plural};

pub(super) fn run(args: &KbVerify, common: &Common) -> anyhow::Result<()> {
    let verified = open_base(&args.kb, common)?.base().inspector().verify()?;
    if args.json {
        view::print_json(&verified)?;
    } else {
        view::print(&format!(
            "Checked {}, {}, {} and {} of the BM25 index.",
            plural(verified.nodes, "node", "nodes"),
            plural(verified.edges, "edge", "edges"),
            plural(verified.vectors, "vector", "vectors"),
            plural(verified.index_entries, "entry", "entries"),
        ))?;
        for problem in &verified.problems {
            let document = problem.document.as_ref().map(|name| format!(" in {name}"));
            let document = document.unwrap_or_default();
            view::print(&format!("{}{document}: {} ({})", problem.id, problem.what, problem.hint))?;
        }
    }
    if verified.is_sound() {
        if !args.json {
            view::print("No problems found.")?;
        }
        return Ok(());
    }
    let found = verified.problems.len() as u64 + verified.more;
    anyhow::bail!("{} found", plural(found, "problem", "problems"))
}
