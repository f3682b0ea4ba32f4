//! An estimate for people.
use std::fmt::Write as _;

use console::style;
use halma_engine::{Estimate, StageEstimate};

use super::{duration, plural, table, thousands};

pub(crate) fn lines(estimate: &Estimate) -> String {
    let mut documents =
        vec![plural(estimate.documents_new as u64, "new document", "new documents")];
    if estimate.documents_replaced > 0 {
        documents.push(format!("{} changed", thousands(estimate.documents_replaced as u64)));
    }
    if estimate.documents_unchanged > 0 {
        documents.push(format!("{} unchanged", thousands(estimate.documents_unchanged as u64)));
    }
    let mut text = format!(
        "{}: {}.",
        style(documents.join(", ")).bold(),
        plural(estimate.chunks.saturating_sub(estimate.chunks_kept) as u64, "chunk", "chunks")
    );
    if !estimate.stages.is_empty() {
        let head = ["", "units", "calls", "tokens", "US$", "time"].map(str::to_owned).to_vec();
        let rows = std::iter::once(head).chain(estimate.stages.iter().map(row)).collect::<Vec<_>>();
        let _ = write!(text, "\n\n{}", table(&rows));
    }
    let _ = write!(
        text,
        "\n\nIn all about {}, {} tokens, ${:.4}, {}. Nothing was done.",
        plural(estimate.calls, "call", "calls"),
        thousands(estimate.prompt_tokens + estimate.completion_tokens),
        estimate.usd,
        duration(estimate.seconds * 1e3)
    );
    if estimate.stages.iter().any(|stage| !stage.measured && stage.units > 0) {
        text.push_str(
            "\n* A rule of thumb: this base has not yet been built with that model, so above all \
             the time is a guess.",
        );
    }
    for (kept, cost) in &estimate.kept {
        let name = kept.part.name();
        let cost = cost.as_ref().map_or_else(
            || format!("see its cost with --estimate --rebuild {name}"),
            |cost| format!("--rebuild {name}: {cost}"),
        );
        let _ = write!(
            text,
            "\n{name} would stay {} (the configuration says {}); {cost}",
            kept.made_with, kept.configured
        );
    }
    for refused in &estimate.refused {
        let label = style("would be left out").yellow();
        let _ = write!(text, "\n{label} {}: {}", refused.file.display(), refused.reason);
    }
    text
}

fn row(stage: &StageEstimate) -> Vec<String> {
    let mark = if stage.measured { "" } else { " *" };
    vec![
        format!("{}{mark}  {}", stage.task, style(&stage.model).dim()),
        thousands(stage.units),
        thousands(stage.calls),
        thousands(stage.prompt_tokens + stage.completion_tokens),
        format!("{:.4}", stage.usd),
        duration(stage.seconds * 1e3),
    ]
}
