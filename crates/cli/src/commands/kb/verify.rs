//! `halma kb verify`: whether everything in a base fits together.
use super::opened;
use crate::args::{Common, KbVerify};
use crate::view::{self, plural};

pub(super) fn run(args: &KbVerify, common: &Common) -> anyhow::Result<()> {
    let verified = opened(&args.kb.kb, common)?.base().inspector().verify()?;
    if args.json {
        view::say_json(&verified)?;
    } else {
        view::say(&format!(
            "Checked {}, {}, {} and {} of the lexical index.",
            plural(verified.nodes, "node", "nodes"),
            plural(verified.edges, "edge", "edges"),
            plural(verified.vectors, "vector", "vectors"),
            plural(verified.index_entries, "entry", "entries"),
        ))?;
        for problem in &verified.problems {
            let document = problem.document.as_ref().map(|name| format!(" in {name}"));
            let document = document.unwrap_or_default();
            view::say(&format!("{}{document}: {} ({})", problem.id, problem.what, problem.hint))?;
        }
    }
    if verified.is_sound() {
        if !args.json {
            view::say("Everything fits together.")?;
        }
        return Ok(());
    }
    let found = verified.problems.len() as u64 + verified.more;
    anyhow::bail!("{} found", plural(found, "problem", "problems"))
}
