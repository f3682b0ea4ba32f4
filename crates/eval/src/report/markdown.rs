//! The report as Markdown: tables for a pull request or a page of results.
use std::fmt::Write as _;
use std::iter;

use halma_core::text::thousands;

use super::column::Column;
use super::model::{GroupValues, Report, Run};
use super::notes::questions;
use super::outcome::ErrorCause;
use super::table::{ReportTable, escaped};
use crate::figures::ratio;

impl Report {
    /// A document with the figures, and what is needed to make them again.
    pub fn markdown(&self) -> String {
        let mut out = format!("# {}\n\n", escaped(&self.dataset));
        let _ = writeln!(out, "{}\n", self.headline());
        out.push_str(&self.figures(|_| true).markdown());
        out.push_str(&self.legend());
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
        out.push_str(&section(
            "Assessed by a model",
            &self.assessments(),
            "Means over the answers for which a criterion could be computed; what is left out is \
             not in any mean.\n",
        ));
        let causes = self.error_causes();
        let causes = causes.iter().map(|one| format!("- {}: {}.\n", one.title(), one.meaning()));
        let causes = causes.collect::<String>();
        out.push_str(&section("Where answers were lost", &self.errors(), &causes));
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

    /// The figures of each run in the columns that are wanted.
    pub(super) fn figures(&self, wanted: impl Fn(&Column) -> bool) -> ReportTable {
        let columns = self.columns().into_iter().filter(|(column, _)| wanted(column));
        let columns: Vec<(&Column, String)> = columns.collect();
        let titles = columns.iter().map(|(_, title)| title.clone());
        let rows = self.runs.iter().map(|run| {
            let values =
                columns.iter().map(|(column, _)| column.format.render(run.values.get(column.key)));
            iter::once(run.label.clone()).chain(values)
        });
        ReportTable::new(iter::once("strategy".to_owned()).chain(titles)).with(rows)
    }

    fn legend(&self) -> String {
        let mut out = String::from("\nMetrics in percent, times in milliseconds.");
        for (column, title) in self.columns() {
            let _ = write!(out, " {}: {}.", escaped(&title), escaped(column.meaning));
        }
        out + "\n\n"
    }

    /// Why answers were not right; empty when all were, or no cause is known.
    pub(super) fn errors(&self) -> ReportTable {
        let causes = self.error_causes();
        let head = causes.iter().map(|cause| cause.title());
        let table = ReportTable::new(iter::once("lost by").chain(head));
        if causes.iter().all(|cause| *cause == ErrorCause::Unknown) {
            return table;
        }
        let row = |run: &Run| {
            let counts = causes.iter().map(|cause| run.errors_by(*cause).to_string());
            iter::once(run.label.clone()).chain(counts).collect::<Vec<_>>()
        };
        table.with(self.runs.iter().map(row))
    }

    /// The scored questions group by group.
    fn groups(&self, title: &str, groups: impl Fn(&Run) -> Vec<(String, &GroupValues)>) -> String {
        let mut columns = self.columns();
        columns.retain(|(column, _)| column.in_groups);
        let head = ["strategy", "", "questions"].map(str::to_owned).into_iter();
        let mut rows = vec![];
        for run in &self.runs {
            for (name, group) in groups(run) {
                let mut row = vec![run.label.clone(), name, group.n.to_string()];
                let value = |key| group.values.get(key);
                row.extend(columns.iter().map(|(c, _)| c.format.render(value(c.key))));
                rows.push(row);
            }
        }
        let titles = columns.iter().map(|(_, title)| title.clone());
        section(title, &ReportTable::new(head.chain(titles)).with(rows), "")
    }

    fn costs(&self) -> String {
        let mut rows = vec![];
        for run in &self.runs {
            let completed = (self.n - run.unasked.min(self.n)).max(1) as u64;
            for part in &run.components {
                let each = |count: u64| format!("{:.1}", ratio(count, completed));
                rows.push(vec![
                    run.label.clone(),
                    part.prompt.clone(),
                    each(part.calls),
                    each(part.prompt_tokens),
                    each(part.completion_tokens),
                    part.malformed.to_string(),
                    format!("{:.4}", part.usd),
                ]);
            }
        }
        let head =
            ["strategy", "prompt", "calls/q", "prompt/q", "completion/q", "malformed", "USD"];
        let mut out = section("Cost by prompt", &ReportTable::new(head).with(rows), "");
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

/// A table under its title, with what is to be said of it; nothing for an empty one.
fn section(title: &str, table: &ReportTable, text: &str) -> String {
    if table.is_empty() {
        return String::new();
    }
    let text = if text.is_empty() { String::new() } else { format!("{text}\n") };
    format!("## {title}\n\n{}\n{text}", table.markdown())
}

/// Text for between backticks, where nothing but a backtick has a meaning.
fn code(text: &str) -> String {
    text.replace(['`', '\n', '\r'], " ")
}
