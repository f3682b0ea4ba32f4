//! The reference page of the presets, made of their data.
use std::fmt::Write as _;

use super::{Preset, WARNING, presets};

const HEAD: &str = "\
# Presets: the papers' tables

This page is generated from `crates/eval/presets`; a test checks that it is current. To regenerate it: \
`HALMA_WRITE_REFERENCE=1 cargo test -p halma-eval --test all reference`.

`halma eval preset run NAME` runs the strategies and settings of one table on its question files \
and prints our figures next to the paper's. `halma eval preset show NAME` prints the rows, the settings \
and the paper's figures; `halma eval preset list` also names the tables that are not run, with the reason.

";

const RULES: &str = "
What holds for all of them:

- A row sets what its paper gives a number or a variant for; all else is the strategy's default. \
Thresholds are never taken over: the papers' are on other scales, ours are the embedder's own.
- A run belongs to a row by its label, which names the strategy and the settings. Rows without a \
run, questions that failed or were not asked, and figures over fewer questions than the row's are \
reported with their numbers.
- Figures are in percent; counts (#SQA, tokens, calls, searches) are as they are. Acc is a model judge's; without one there is \
none of ours.
- No difference of the two columns is shown, for the reason in bold.
";

/// The page as Markdown.
pub fn preset_reference() -> String {
    let mut page = format!("{HEAD}**{WARNING}**\n\n");
    page.push_str("| name | paper | table | data sets |\n|---|---|---|---|\n");
    for preset in presets().iter().filter(|preset| preset.not_run.is_none()) {
        let Preset { name, paper, table, title, .. } = preset;
        let on: Vec<String> = preset.formats().iter().map(|set| format!("`{set}`")).collect();
        let on = on.join(", ");
        let _ = writeln!(page, "| `{name}` | {paper} | {table}: {title} | {on} |");
    }
    page.push_str(RULES);
    page
}
