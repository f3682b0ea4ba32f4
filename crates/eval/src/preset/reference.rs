//! The reference page of the presets, made of their data.
use std::fmt::Write as _;

use super::{Block, Preset, PresetRow, WARNING, presets};
use crate::report::{escaped, markdown_row};

const HEAD: &str = "\
# Presets: the papers' tables

This page is generated from `crates/eval/presets`; a test checks that it is current. To regenerate it: \
`HALMA_WRITE_REFERENCE=1 cargo test -p halma-eval --test presets`.

`halma eval preset run NAME` runs the strategies and settings of one table on its question files \
and prints our figures next to the paper's.

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
    for preset in presets() {
        let Preset { name, paper, table, title, .. } = preset;
        let on = if preset.not_run.is_some() { "not run".to_owned() } else { preset.on() };
        let _ = writeln!(page, "| `{name}` | {paper} | {table}: {title} | {on} |");
    }
    page.push_str(RULES);
    for preset in presets() {
        section(preset, &mut page);
    }
    page
}

fn section(preset: &Preset, page: &mut String) {
    let Preset { name, paper, table, title, protocol, .. } = preset;
    let _ = write!(page, "\n## `{name}`\n\n{paper}, {table}: {title}.\n\n");
    if let Some(reason) = &preset.not_run {
        let _ = writeln!(page, "Not run: {reason}.");
        return;
    }
    for (what, text) in protocol.parts() {
        let _ = writeln!(page, "- {what}: {text}");
    }
    if let Some(flag) = preset.judge_flag() {
        let _ = writeln!(page, "- judge: `{flag}`");
    }
    for (what, text) in preset.requirements() {
        let _ = writeln!(page, "- {what}: {text}");
    }
    for note in &preset.notes {
        let _ = writeln!(page, "- note: {note}");
    }
    page.push_str("\n| row | strategy | settings |\n|---|---|---|\n");
    for row in &preset.rows {
        let (strategy, settings) = stands_for(row);
        markdown_row([escaped(&row.label), strategy, settings].into_iter(), page);
    }
    for (place, block) in preset.columns.iter().enumerate() {
        figures(preset, place, block, page);
    }
}

fn stands_for(row: &PresetRow) -> (String, String) {
    let Some(strategy) = &row.strategy else {
        return ("-".into(), format!("not run: {}", row.not_run.as_deref().unwrap_or_default()));
    };
    let settings =
        row.settings.iter().chain(&row.config).map(|(key, value)| format!("`{key}={value}`"));
    let settings = settings.collect::<Vec<_>>().join(" ");
    (format!("`{strategy}`"), if settings.is_empty() { "-".into() } else { settings })
}

/// What the paper gives for one data set and one model.
fn figures(preset: &Preset, place: usize, block: &Block, page: &mut String) {
    let _ = write!(page, "\n{}, {}:\n\n", block.data_set.title(), block.model);
    let names = block.figures.iter().map(|figure| escaped(&figure.name()));
    markdown_row(std::iter::once("row".to_owned()).chain(names), page);
    let _ = writeln!(page, "|{}", "---|".repeat(block.figures.len() + 1));
    for row in &preset.rows {
        let cell = |value: &f64| if value.is_finite() { format!("{value:.2}") } else { "-".into() };
        let values = row.figures.get(place).into_iter().flatten().map(cell);
        markdown_row(std::iter::once(escaped(&row.label)).chain(values), page);
    }
}
