//! The report as plain text: one aligned line for each contestant, then what needs a word.
use std::fmt::Write as _;

use crate::{Report, Run};

const HEAD: [&str; 16] = [
    "strategy", "EM", "F1", "P", "R", "support", "R@2", "R@5", "R@10", "abst.", "failed",
    "calls/q", "tokens/q", "p50", "p95", "USD",
];

impl Report {
    /// A table for the terminal. Metrics are in percent, times in milliseconds; calls include those
    /// that the cache answered, tokens and dollars do not.
    pub fn table(&self) -> String {
        let mut rows = vec![HEAD.map(str::to_owned).to_vec()];
        rows.extend(self.runs.iter().map(|run| row(run, self.n)));
        let mut out =
            format!("{}: {} questions (metrics in %, times in ms)\n", self.dataset, self.n);
        out.push_str(&aligned(&rows));
        for run in &self.runs {
            notes(run, &mut out);
        }
        if !self.refused.is_empty() {
            let _ = writeln!(out, "{} records of the file were refused:", self.refused.len());
        }
        for refused in self.refused.iter().take(5) {
            let (record, line, reason) = (refused.record, refused.line, &refused.reason);
            let _ = writeln!(out, "  record {record} (line {line}): {reason}");
        }
        out
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of calls, tokens and questions")]
fn row(run: &Run, n: usize) -> Vec<String> {
    let percent = |value: Option<f64>| value.map_or("-".into(), |v| format!("{:.1}", v * 100.0));
    let ms = |value: Option<f64>| match value {
        Some(ms) if ms < 10.0 => format!("{ms:.1}"),
        Some(ms) => format!("{ms:.0}"),
        None => "-".into(),
    };
    let each = |total: u64| total as f64 / n.max(1) as f64;
    let metrics = &run.metrics;
    let usage = &run.usage;
    vec![
        run.label.clone(),
        percent(metrics.em),
        percent(metrics.f1),
        percent(metrics.precision),
        percent(metrics.recall),
        percent(metrics.support_recall),
        percent(metrics.retrieval.r2),
        percent(metrics.retrieval.r5),
        percent(metrics.retrieval.r10),
        run.abstained.to_string(),
        run.failed.to_string(),
        format!("{:.1}", each(usage.llm_calls + usage.cached_calls)),
        format!("{:.0}", each(usage.prompt_tokens + usage.completion_tokens)),
        ms(run.latency_ms.p50),
        ms(run.latency_ms.p95),
        format!("{:.4}", usage.usd),
    ]
}

/// The first column to the left, the numbers to the right, two spaces between.
fn aligned(rows: &[Vec<String>]) -> String {
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

/// A share of searches with nothing near from which the threshold is probably wrong for the
/// embedder.
const MUCH_NOTHING: f64 = 0.2;

fn notes(run: &Run, out: &mut String) {
    let label = &run.label;
    if run.taken_over > 0 {
        let _ = writeln!(out, "{label}: {} questions taken over from earlier runs", run.taken_over);
    }
    if run.failed > 0 {
        let kinds: Vec<String> =
            run.failed_by_kind.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
        let _ = writeln!(
            out,
            "{label}: {} questions failed ({}) and are in no mean; the next run asks them again",
            run.failed,
            kinds.join(", ")
        );
        for failure in run.failures.iter().take(3) {
            let _ = writeln!(out, "  {}: {}", failure.question, failure.reason);
        }
    }
    if run.partial > 0 {
        let _ = writeln!(out, "{label}: {} answers are partial (spent budget)", run.partial);
    }
    if let Some(share) = run.nothing_near.filter(|share| *share > MUCH_NOTHING) {
        let _ = writeln!(
            out,
            "{label}: {:.0} % of the searches found nothing above the threshold; lower \
             `embedder.atom_threshold` or `embedder.chunk_threshold`",
            share * 100.0
        );
    }
    if run.retrieval_failed > 0 {
        let failed = run.retrieval_failed;
        let _ = writeln!(out, "{label}: the search for R@k failed for {failed} questions");
    }
}
