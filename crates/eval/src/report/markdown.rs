//! The report as Markdown: tables for a pull request or a page of results.
use std::fmt::Write as _;

use super::{ASSESSED, KindMetrics, Loss, Report, Run, questions, ratio};
use crate::table::{count, ms, percent};

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
        out.push_str(&groups("By kind of question", &self.runs, |run| {
            run.by_kind.iter().map(|(kind, metrics)| (kind.clone(), metrics)).collect()
        }));
        out.push_str(&groups("By hops", &self.runs, |run| {
            run.by_hops.iter().map(|(hops, metrics)| (hops.to_string(), metrics)).collect()
        }));
        out.push_str(&self.assessments());
        out.push_str(&self.lost());
        out.push_str(&self.costs());
        out.push_str(&self.making());
        out
    }

    /// What was asked, in one sentence.
    pub(crate) fn headline(&self) -> String {
        let mut line = questions(self.n);
        if let Some(sample) = self.sample {
            let _ = write!(line, ", a sample of {} (seed {})", sample.of, sample.seed);
        }
        if !self.refused.is_empty() {
            let _ = write!(line, "; {} records of the file were refused", self.refused.len());
        }
        if let Some(limit) = self.spent {
            let _ = write!(line, "; cut short: the budget is spent ({limit})");
        }
        line
    }

    fn figures(&self) -> String {
        let head = [
            "strategy",
            "Acc",
            "score",
            "EM",
            "F1",
            "P",
            "R",
            "support",
            "R@5",
            "abstained",
            "failed",
            "hops",
            "#SQA",
            "tokens/q",
            "ATC",
            "p50 ms",
            "p95 ms",
            "USD",
        ];
        format!(
            "{}\nMetrics in percent; score: {}. ATC: tokens for each right answer. #SQA: sub-questions \
             searched for. Tokens include replies from the cache, USD does not.\n\n",
            table(&head, self.runs.iter().map(row)),
            self.runs.first().map_or("-".into(), |run| run.metric.name())
        )
    }

    fn assessments(&self) -> String {
        let rows = self.assessed();
        if rows.is_empty() {
            return String::new();
        }
        let rows = rows.into_iter().map(|row| row.map(|cell| escaped(&cell)).to_vec());
        format!(
            "## Assessed by a model\n\n{}\nMeans over the answers for which a criterion could be \
             computed; what is left out is in no mean.\n\n",
            table(&ASSESSED, rows)
        )
    }

    fn lost(&self) -> String {
        let lost = |loss: &Loss| self.runs.iter().any(|run| run.losses.contains_key(loss));
        let losses: Vec<Loss> = Loss::ALL.into_iter().filter(lost).collect();
        if losses.is_empty() {
            return String::new();
        }
        let mut head = vec!["strategy"];
        head.extend(losses.iter().map(|loss| loss.title()));
        let rows = self.runs.iter().map(|run| {
            let of = |loss| run.losses.get(loss).copied().unwrap_or(0).to_string();
            std::iter::once(escaped(&run.label)).chain(losses.iter().map(of)).collect()
        });
        let mut out = format!("## Where answers were lost\n\n{}\n", table(&head, rows));
        for loss in losses {
            let _ = writeln!(out, "- {}: {}.", loss.title(), loss.meaning());
        }
        out + "\n"
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
    fn making(&self) -> String {
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

fn row(run: &Run) -> Vec<String> {
    let metrics = &run.metrics;
    let one = |value: Option<f64>| value.map_or("-".into(), |v| format!("{v:.1}"));
    vec![
        escaped(&run.label),
        percent(run.judged.as_ref().and_then(|judged| judged.accuracy)),
        percent(run.own_value()),
        percent(metrics.em),
        percent(metrics.f1),
        percent(metrics.precision),
        percent(metrics.recall),
        percent(metrics.support_recall),
        percent(metrics.retrieval.r5),
        run.abstained.to_string(),
        run.failed.to_string(),
        one(run.hops),
        one(run.sub_questions),
        count(run.tokens.per_question),
        count(run.tokens.per_right_answer),
        ms(run.latency_ms.p50),
        ms(run.latency_ms.p95),
        format!("{:.4}", run.usage.usd),
    ]
}

fn groups(title: &str, runs: &[Run], of: impl Fn(&Run) -> Vec<(String, &KindMetrics)>) -> String {
    let mut rows = vec![];
    for run in runs {
        for (group, metrics) in of(run) {
            rows.push(vec![
                escaped(&run.label),
                escaped(&group),
                metrics.n.to_string(),
                percent(metrics.right),
                percent(metrics.em),
                percent(metrics.f1),
                percent(metrics.support_recall),
            ]);
        }
    }
    if rows.is_empty() {
        return String::new();
    }
    let head = ["strategy", "", "questions", "right", "EM", "F1", "support"];
    format!("## {title}\n\n{}\n", table(&head, rows.into_iter()))
}

fn table(head: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut out = format!("| {} |\n|{}\n", head.join(" | "), "---|".repeat(head.len()));
    for row in rows {
        let _ = writeln!(out, "| {} |", row.join(" | "));
    }
    out
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
