//! The report as plain text: one aligned line for each system, then why answers were not right and
//! what else must be known.
use std::fmt::Write as _;

use halma_core::text::thousands;

use super::model::{Report, Run};

/// Columns of the terminal, where lines are short, unless all are asked for.
const BRIEF: [&str; 6] = ["right", "abstained", "failed", "calls", "p50", "usd"];

impl Report {
    /// A table for the terminal, of some columns or of all that have values. Metrics are in percent, times in milliseconds; calls and tokens
    /// include those that the cache answered, dollars do not. `Acc` is there when a judge ruled.
    pub fn table(&self, all: bool) -> String {
        let mut out =
            format!("{}: {} (metrics in %, times in ms)\n", self.dataset, self.headline());
        out.push_str(&self.figures(|column| all || BRIEF.contains(&column.key)).text());
        for table in [self.assessments(), self.errors()] {
            if !table.is_empty() {
                let _ = write!(out, "\n{}", table.text());
            }
        }
        for run in &self.runs {
            notes(run, &mut out);
        }
        if !self.refused.is_empty() {
            let count = thousands(self.refused.len() as u64);
            let _ = writeln!(out, "{count} records of the file were refused:");
        }
        for refused in self.refused.iter().take(5) {
            let (record, line, reason) = (refused.record, refused.line, &refused.reason);
            let _ = writeln!(out, "  record {record} (line {line}): {reason}");
        }
        out
    }
}

fn notes(run: &Run, out: &mut String) {
    for note in run.notes() {
        let _ = writeln!(out, "{}: {note}", run.label);
    }
    for failure in run.failures.iter().take(3) {
        let _ = writeln!(out, "  {}: {}", failure.question, failure.reason);
    }
}
