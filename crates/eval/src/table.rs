//! The report as plain text: one aligned line for each contestant, then where answers were lost
//! and what needs a word.
use std::fmt::Write as _;

use crate::report::{ASSESSED, Loss, ratio};
use crate::{Metric, Report, Run};

const HEAD: [&str; 17] = [
    "strategy", "EM", "F1", "P", "R", "support", "R@2", "R@5", "R@10", "abst.", "failed",
    "calls/q", "tokens/q", "ATC", "p50", "p95", "USD",
];

impl Report {
    /// A table for the terminal. Metrics are in percent, times in milliseconds; calls and tokens
    /// include those that the cache answered, dollars do not. `Acc` is there when a judge ruled.
    pub fn table(&self) -> String {
        let judged = self.runs.iter().any(|run| run.judged.is_some());
        let mut head = HEAD.map(str::to_owned).to_vec();
        if judged {
            head.insert(1, "Acc".into());
        }
        let own = self.own_metric();
        if let Some(metric) = &own {
            head.insert(1, metric.clone());
        }
        let mut rows = vec![head];
        rows.extend(self.runs.iter().map(|run| {
            let mut row = row(run, self.n, judged);
            if own.is_some() {
                row.insert(1, percent(run.own_value()));
            }
            row
        }));
        let mut out =
            format!("{}: {} questions (metrics in %, times in ms)\n", self.dataset, self.n);
        if let Some(sample) = self.sample {
            let (of, seed) = (sample.of, sample.seed);
            let _ = writeln!(out, "a sample of {of} questions, seed {seed}");
        }
        out.push_str(&aligned(&rows));
        out.push_str(&self.assessed_table());
        out.push_str(&self.losses_table());
        for run in &self.runs {
            notes(run, &mut out);
        }
        if let Some(limit) = self.spent {
            let _ = writeln!(out, "the budget of the whole evaluation is spent: {limit}");
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

    /// The name of the data set's own metric, where it is another one than those of words.
    pub(crate) fn own_metric(&self) -> Option<String> {
        let metric = self.runs.first()?.metric;
        (!matches!(metric, Metric::Span(_))).then(|| metric.name())
    }

    /// What a model found of the answers; empty when none was asked.
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

    /// Where the answers were lost; empty when none was, or nothing is known of any.
    fn losses_table(&self) -> String {
        let lost = |loss: &Loss| self.runs.iter().any(|run| run.losses.contains_key(loss));
        let losses: Vec<Loss> = Loss::ALL.into_iter().filter(lost).collect();
        if losses.iter().all(|loss| *loss == Loss::Unknown) {
            return String::new();
        }
        let mut head = vec!["lost by".to_owned()];
        head.extend(losses.iter().map(|loss| loss.title().to_owned()));
        let mut rows = vec![head];
        for run in &self.runs {
            let mut row = vec![run.label.clone()];
            let count = |loss| run.losses.get(loss).copied().unwrap_or(0).to_string();
            row.extend(losses.iter().map(count));
            rows.push(row);
        }
        format!("\n{}", aligned(&rows))
    }
}

pub(crate) fn percent(value: Option<f64>) -> String {
    value.map_or("-".into(), |v| format!("{:.1}", v * 100.0))
}

pub(crate) fn ms(value: Option<f64>) -> String {
    match value {
        Some(ms) if ms < 10.0 => format!("{ms:.1}"),
        Some(ms) => format!("{ms:.0}"),
        None => "-".into(),
    }
}

pub(crate) fn count(value: Option<f64>) -> String {
    value.map_or("-".into(), |v| format!("{v:.0}"))
}

fn row(run: &Run, n: usize, judged: bool) -> Vec<String> {
    let metrics = &run.metrics;
    let usage = &run.usage;
    let asked = (n - run.unasked.min(n)).max(1) as u64;
    let mut row = vec![
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
        format!("{:.1}", ratio(usage.llm_calls + usage.cached_calls, asked)),
        count(run.tokens.per_question),
        count(run.tokens.per_right_answer),
        ms(run.latency_ms.p50),
        ms(run.latency_ms.p95),
        format!("{:.4}", usage.usd),
    ];
    if judged {
        row.insert(1, percent(run.judged.as_ref().and_then(|judged| judged.accuracy)));
    }
    row
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
