//! The report as plain text: one aligned line for each system, then why answers were not right and
//! what else must be known.
use std::fmt::Write as _;

use halma_core::text::thousands;

use super::assessed::ASSESSED;
use super::model::{Report, Run};
use super::outcome::ErrorCause;

impl Report {
    /// A table for the terminal. Metrics are in percent, times in milliseconds; calls and tokens
    /// include those that the cache answered, dollars do not. `Acc` is there when a judge ruled.
    pub fn table(&self) -> String {
        let mut columns = self.columns();
        columns.retain(|(column, _)| column.in_terminal);
        let mut head = vec!["strategy".to_owned()];
        head.extend(columns.iter().map(|(_, title)| title.clone()));
        let mut rows = vec![head];
        for run in &self.runs {
            let values =
                columns.iter().map(|(column, _)| column.format.render(run.values.get(column.key)));
            rows.push(std::iter::once(run.label.clone()).chain(values).collect());
        }
        let questions = if self.n == 1 { "question" } else { "questions" };
        let mut out =
            format!("{}: {} {questions} (metrics in %, times in ms)\n", self.dataset, self.n);
        if let Some(sample) = self.sample {
            let (of, seed) = (sample.of, sample.seed);
            let _ = writeln!(out, "a sample of {of} questions, seed {seed}");
        }
        if !self.selected.is_empty() {
            let _ = writeln!(out, "selected: {}", self.selected.join(", "));
        }
        out.push_str(&aligned(&rows));
        out.push_str(&self.assessed_table());
        out.push_str(&self.error_table());
        for run in &self.runs {
            notes(run, &mut out);
        }
        if let Some(limit) = self.spent {
            let _ = writeln!(out, "the budget of the whole evaluation is spent: {limit}");
        }
        if !self.refused.is_empty() {
            let _ = writeln!(
                out,
                "{} records of the file were refused:",
                thousands(self.refused.len() as u64)
            );
        }
        for refused in self.refused.iter().take(5) {
            let (record, line, reason) = (refused.record, refused.line, &refused.reason);
            let _ = writeln!(out, "  record {record} (line {line}): {reason}");
        }
        out
    }

    /// The assessments of a model; empty without any.
    fn assessed_table(&self) -> String {
        let rows = self.assessed();
        if rows.is_empty() {
            return String::new();
        }
        let (mut figures, mut left_out) = (vec![], vec![]);
        for [figure @ .., reasons] in std::iter::once(ASSESSED.map(str::to_owned)).chain(rows) {
            figures.push(figure.to_vec());
            left_out.push(reasons);
        }
        // Words begin on the left, unlike figures.
        for column in [1, 2] {
            let cells = || figures.iter().map(|row: &Vec<String>| row[column].chars().count());
            let width = cells().max().unwrap_or(0);
            for row in &mut figures {
                row[column] = format!("{:<width$}", row[column]);
            }
        }
        let mut out = String::from("\n");
        for (line, reasons) in aligned(&figures).lines().zip(left_out) {
            let _ = writeln!(out, "{line}  {reasons}");
        }
        out
    }

    /// Why answers were not right; empty when all were, or no cause is known.
    fn error_table(&self) -> String {
        let causes = self.error_causes();
        if causes.iter().all(|cause| *cause == ErrorCause::Unknown) {
            return String::new();
        }
        let mut head = vec!["lost by".to_owned()];
        head.extend(causes.iter().map(|cause| cause.title().to_owned()));
        let mut rows = vec![head];
        for run in &self.runs {
            let counts = causes.iter().map(|cause| run.errors_by(*cause).to_string());
            rows.push(std::iter::once(run.label.clone()).chain(counts).collect());
        }
        format!("\n{}", aligned(&rows))
    }
}

/// The first column to the left, the numbers to the right, two spaces between.
pub(crate) fn aligned(rows: &[Vec<String>]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: Vec<usize> = (0..rows[0].len()).map(|column| width(column).unwrap_or(0)).collect();
    let mut out = String::new();
    for row in rows {
        let _ = write!(out, "{:<1$}", row[0], widths[0]);
        for (cell, width) in row.iter().zip(&widths).skip(1) {
            let _ = write!(out, "  {cell:>width$}");
        }
        out.push('\n');
    }
    out
}

fn notes(run: &Run, out: &mut String) {
    for note in run.notes() {
        let _ = writeln!(out, "{}: {note}", run.label);
    }
    for failure in run.failures.iter().take(3) {
        let _ = writeln!(out, "  {}: {}", failure.question, failure.reason);
    }
}
