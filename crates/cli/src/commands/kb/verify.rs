//! `halma kb verify`: whether everything in a base fits together.
use super::opened;
use crate::args::{Common, KbVerify};
use crate::view::{self, plural};

pub(super) fn run(args: &KbVerify, common: &Common) -> anyhow::Result<()> {
    let verified = opened(&args.kb.kb, common)?.base().verify()?;
    if args.json {
        view::say_json(&verified)?;
    } else {
        let checked: Vec<String> =
            verified.checked.iter().map(|(what, count)| format!("{count} {what}")).collect();
        view::say(&format!("Checked {}.", checked.join(", ")))?;
        for problem in &verified.problems {
            view::say(&format!("{}: {}", problem.what, problem.hint))?;
        }
    }
    if verified.problems.is_empty() {
        if !args.json {
            view::say("Everything fits together.")?;
        }
        return Ok(());
    }
    anyhow::bail!("{} found", plural(verified.problems.len() as u64, "problem", "problems"))
}
