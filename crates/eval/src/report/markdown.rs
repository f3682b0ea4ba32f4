//! The report as Markdown: tables for a pull request or a page of results.
use std::fmt::Write as _;

use halma_core::text::thousands;

use super::assessed::ASSESSED;
use super::model::{GroupValues, Report, Run};
use super::notes::questions;
use crate::figures::ratio;

impl Report {
    /// A document with the figures, and what is needed to make them again.
    pub fn markdown(&self) -> String {
        let mut out = format!("# {}\n\n", escaped(&self.dataset));
        let _ = writeln!(out, "{}\n", self.headline());
        out.push_str(&self.figures());
        for run in &self.runs {
            for note in run.notes() {
                let _ = writeln!(out, "- {}: {}", escaped(&run.label), escaped(&note));
            }
        }
        out.push('\n');
        out.push_str(&self.groups("By kind of question", |run| {
            run.by_kind.iter().map(|(kind, group)| (kind.clone(), group)).collect()
        }));
        out.push_str(&self.groups("By hops", |run| {
            run.by_hops.iter().map(|(hops, group)| (hops.to_string(), group)).collect()
        }));
        out.push_str(&self.assessments());
        out.push_str(&self.errors());
        out.push_str(&self.costs());
        out.push_str(&self.provenance());
        out
    }

    /// The questions, in one sentence.
    pub(crate) fn headline(&self) -> String {
        let mut line = questions(self.n);
        if let Some(sample) = self.sample {
            let _ = write!(
                line,
                ", a sample of {} (seed {})",
                thousands(sample.of as u64),
                sample.seed
            );
        }
        if !self.selected.is_empty() {
            let _ = write!(line, " ({})", self.selected.join(", "));
        }
        if !self.refused.is_empty() {
            let _ = write!(
                line,
                "; {} records of the file were refused",
                thousands(self.refused.len() as u64)
            );
        }
        if let Some(limit) = self.spent {
            let _ = write!(line, "; cut short: the budget is spent ({limit})");
        }
        line
    }

    fn figures(&self) -> String {
        let columns = self.columns();
        let mut head = vec!["strategy".to_owned()];
        head.extend(columns.iter().map(|(_, title)| escaped(title)));
        let rows = self.runs.iter().map(|run| {
            let values =
                columns.iter().map(|(column, _)| column.format.render(run.values.get(column.key)));
            std::iter::once(escaped(&run.label)).chain(values).collect()
        });
        let mut out = table(&head, rows);
        out.push_str("\nMetrics in percent, times in milliseconds.");
        for (column, title) in &columns {
            let _ = write!(out, " {}: {}.", escaped(title), escaped(column.meaning));
        }
        out + "\n\n"
    }

    fn assessments(&self) -> String {
        let rows = self.assessed();
        if rows.is_empty() {
            return String::new();
        }
        let rows = rows.into_iter().map(|row| row.map(|cell| escaped(&cell)).to_vec());
        format!(
            "## Assessed by a model\n\n{}\nMeans over the answers for which a criterion could be \
             computed; what is left out is not in any mean.\n\n",
            table(&ASSESSED, rows)
        )
    }

    fn errors(&self) -> String {
        let causes = self.error_causes();
        if causes.is_empty() {
            return String::new();
        }
        let mut head = vec!["strategy"];
        head.extend(causes.iter().map(|cause| cause.title()));
        let rows = self.runs.iter().map(|run| {
            let counts = causes.iter().map(|cause| run.errors_by(*cause).to_string());
            std::iter::once(escaped(&run.label)).chain(counts).collect()
        });
        let mut out = format!("## Where answers were lost\n\n{}\n", table(&head, rows));
        for cause in causes {
            let _ = writeln!(out, "- {}: {}.", cause.title(), cause.meaning());
        }
        out + "\n"
    }

    /// The scored questions group by group.
    fn groups(&self, title: &str, groups: impl Fn(&Run) -> Vec<(String, &GroupValues)>) -> String {
        let mut columns = self.columns();
        columns.retain(|(column, _)| column.in_groups);
        let mut head = ["strategy", "", "questions"].map(str::to_owned).to_vec();
        head.extend(columns.iter().map(|(_, title)| escaped(title)));
        let mut rows = vec![];
        for run in &self.runs {
            for (name, group) in groups(run) {
                let mut row = vec![escaped(&run.label), escaped(&name), group.n.to_string()];
                let value = |key| group.values.get(key);
                row.extend(columns.iter().map(|(c, _)| c.format.render(value(c.key))));
                rows.push(row);
            }
        }
        if rows.is_empty() {
            return String::new();
        }
        format!("## {title}\n\n{}\n", table(&head, rows.into_iter()))
    }

    fn costs(&self) -> String {
        let mut rows = vec![];
        for run in &self.runs {
            let asked = (self.n - run.unasked.min(self.n)).max(1) as u64;
            for part in &run.components {
                let each = |count: u64| format!("{:.1}", ratio(count, asked));
                rows.push(vec![
                    escaped(&run.label),
                    escaped(&part.prompt),
                    each(part.calls),
                    each(part.prompt_tokens),
                    each(part.completion_tokens),
                    part.malformed.to_string(),
                    format!("{:.4}", part.usd),
                ]);
            }
        }
        if rows.is_empty() {
            return String::new();
        }
        let head =
            ["strategy", "prompt", "calls/q", "prompt/q", "completion/q", "malformed", "USD"];
        let mut out = format!("## Cost by prompt\n\n{}\n", table(&head, rows.into_iter()));
        if let Some((calls, prompt, completion)) =
            self.atomizing.and_then(|atomizing| atomizing.per_chunk())
        {
            let chunks = self.atomizing.map_or(0, |atomizing| atomizing.chunks);
            let _ = writeln!(
                out,
                "Making the base: {calls:.2} calls, {prompt:.0} prompt and {completion:.0} \
                 completion tokens for each of {chunks} chunks.\n"
            );
        }
        out
    }

    /// What the figures were made with.
    fn provenance(&self) -> String {
        let mut out = String::from("## Made with\n\n");
        let _ = writeln!(out, "- Halma {}, base `{}`", self.halma, code(&self.base));
        if let Some(source) = &self.source {
            let _ = writeln!(out, "- file `{}`, blake3 `{}`", code(&source.file), source.hash);
        }
        for run in &self.runs {
            let _ =
                writeln!(out, "- {}: `{}`", escaped(&run.label), code(&run.settings.to_string()));
            for (role, models) in &run.models {
                let models: Vec<&str> = models.iter().map(String::as_str).collect();
                let _ = writeln!(out, "  - {}: `{}`", escaped(role), code(&models.join(", ")));
            }
            for (prompt, hashes) in &run.prompts {
                let hashes: Vec<&str> = hashes.iter().map(String::as_str).collect();
                let _ = writeln!(out, "  - prompt `{}`: {}", code(prompt), hashes.join(", "));
            }
        }
        out
    }
}

fn table<H: AsRef<str>>(head: &[H], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut out = String::new();
    markdown_row(head.iter().map(|cell| cell.as_ref().to_owned()), &mut out);
    let _ = writeln!(out, "|{}", "---|".repeat(head.len()));
    for row in rows {
        markdown_row(row.into_iter(), &mut out);
    }
    out
}

pub(crate) fn markdown_row(cells: impl Iterator<Item = String>, out: &mut String) {
    let cells: Vec<String> = cells.collect();
    let _ = writeln!(out, "| {} |", cells.join(" | "));
}

/// Text that came from files and models, so that it stays text.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' => out.push(' '),
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '!' | '~' | '>' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

/// Text for between backticks, where nothing but a backtick has a meaning.
fn code(text: &str) -> String {
    text.replace(['`', '\n', '\r'], " ")
}
