//! The page's tables.
use std::fmt::Write as _;

use super::escape::text;
use crate::compare::{Resampling, Side, compare};
use crate::report::ratio;
use crate::table::{count, ms, percent};
use crate::{Report, Run};

/// Beyond so many runs a comparison of each with the first says little.
const MOST_COMPARED: usize = 40;

/// A column: its head, what the head means, whether more is better, the value and how it is shown.
struct Column {
    head: &'static str,
    meaning: &'static str,
    best: Option<Best>,
    value: fn(&Run) -> Option<f64>,
    shown: fn(Option<f64>) -> String,
}

#[derive(Clone, Copy, PartialEq)]
enum Best {
    Most,
    Least,
}

fn columns() -> Vec<Column> {
    let column = |head, meaning, best, value, shown| Column { head, meaning, best, value, shown };
    let (most, least) = (Some(Best::Most), Some(Best::Least));
    vec![
        column(
            "Acc",
            "right by the model judge, %",
            most,
            |r| r.judged.as_ref()?.accuracy,
            percent,
        ),
        column("score", "by the data set's own metric, %", most, Run::own_value, percent),
        column("EM", "exact match, %", most, |r| r.metrics.em, percent),
        column("F1", "shared words, %", most, |r| r.metrics.f1, percent),
        column("support", "gold passages cited, %", most, |r| r.metrics.support_recall, percent),
        column("hops", "turns with a search", None, |r| r.hops, one_digit),
        column("#SQA", "sub-questions searched for", None, |r| r.sub_questions, one_digit),
        column("tokens", "tokens a question", least, |r| r.tokens.per_question, count),
        column("ATC", "tokens a right answer", least, |r| r.tokens.per_right_answer, count),
        column("p50", "median time, ms", least, |r| r.latency_ms.p50, ms),
        column("p95", "95th percentile, ms", least, |r| r.latency_ms.p95, ms),
        column("USD", "dollars paid", None, |r| Some(r.usage.usd), dollars),
        column("abst.", "abstained", None, |r| Some(crate::report::number(r.abstained)), count),
        column(
            "failed",
            "ended in an error",
            None,
            |r| Some(crate::report::number(r.failed)),
            count,
        ),
    ]
}

fn one_digit(value: Option<f64>) -> String {
    value.map_or("–".into(), |value| format!("{value:.1}"))
}

fn dollars(value: Option<f64>) -> String {
    value.map_or("–".into(), |value| format!("{value:.4}"))
}

/// All runs at a glance, the best of each column marked.
pub(super) fn summary(report: &Report) -> String {
    let columns: Vec<Column> = columns()
        .into_iter()
        .filter(|column| report.runs.iter().any(|run| (column.value)(run).is_some()))
        .collect();
    let mut out = String::from(
        "<section class=\"card\" aria-labelledby=\"summary-title\"><h2 id=\"summary-title\">Results</h2>\
         <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-labelledby=\"summary-title\">\
         <table class=\"summary\"><thead><tr><th scope=\"col\">strategy</th>",
    );
    for column in &columns {
        let _ = write!(
            out,
            "<th scope=\"col\"><abbr title=\"{}\">{}</abbr></th>",
            column.meaning, column.head
        );
    }
    out.push_str("</tr></thead><tbody>");
    for run in &report.runs {
        let _ = write!(out, "<tr><th scope=\"row\">{}</th>", text(&run.label));
        for column in &columns {
            let class = if is_best(column, run, &report.runs) { " class=\"best\"" } else { "" };
            let _ = write!(out, "<td{class}>{}</td>", (column.shown)((column.value)(run)));
        }
        out.push_str("</tr>");
    }
    out.push_str("</tbody></table></div></section>");
    out
}

fn is_best(column: &Column, run: &Run, runs: &[Run]) -> bool {
    let (Some(best), Some(value)) = (column.best, (column.value)(run)) else { return false };
    let others = runs.iter().filter_map(column.value);
    let none_better = others
        .clone()
        .all(|other| if best == Best::Most { other <= value } else { other >= value });
    // A mark that everybody has says nothing.
    none_better && others.into_iter().any(|other| (other - value).abs() > f64::EPSILON)
}

/// What needs a word.
pub(super) fn notes(report: &Report) -> String {
    let mut items = String::new();
    for run in &report.runs {
        for note in run.notes() {
            let _ = write!(items, "<li><b>{}</b>: {}</li>", text(&run.label), text(&note));
        }
    }
    for refused in report.refused.iter().take(5) {
        let (record, line) = (refused.record, refused.line);
        let reason = text(&refused.reason);
        let _ = write!(items, "<li>record {record} (line {line}) was refused: {reason}</li>");
    }
    if items.is_empty() {
        return String::new();
    }
    format!(
        "<section class=\"card notes\" aria-label=\"Notes\"><h2>Notes</h2><ul>{items}</ul></section>"
    )
}

/// Every other run against the first, question by question.
pub(super) fn against_first(report: &Report) -> String {
    let [first, others @ ..] = report.runs.as_slice() else { return String::new() };
    let mut rows = String::new();
    for run in others.iter().take(MOST_COMPARED) {
        let sides = (Side { report, run: first }, Side { report, run });
        let Ok(found) = compare(sides.0, sides.1, Resampling::default()) else { continue };
        let Some(right) = found.differences.first() else { continue };
        let clear = if right.is_clear() { " class=\"best\"" } else { "" };
        let p = if found.mcnemar.p < 0.0001 {
            "&lt; 0.0001".to_owned()
        } else {
            format!("{:.4}", found.mcnemar.p)
        };
        let _ = write!(
            rows,
            "<tr><th scope=\"row\">{}</th><td{clear}>{:+.1}</td><td>{:+.1} … {:+.1}</td>\
             <td>{}</td><td>{}</td><td>{p}</td><td>{}</td></tr>",
            text(&run.label),
            right.difference * 100.0,
            right.low * 100.0,
            right.high * 100.0,
            found.gained.len(),
            found.lost.len(),
            found.paired,
        );
    }
    if rows.is_empty() {
        return String::new();
    }
    format!(
        "<section class=\"card\" aria-labelledby=\"against-title\"><h2 id=\"against-title\">\
         Against <span class=\"name\">{}</span></h2><p class=\"hint\">Change of right answers in \
         points, with a 95 % interval (paired bootstrap, 1,000 resamples, seed 1), and McNemar's \
         exact test on the questions that flipped.</p>\
         <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-labelledby=\"against-title\"><table>\
         <thead><tr><th scope=\"col\">strategy</th><th scope=\"col\">change</th>\
         <th scope=\"col\">interval</th><th scope=\"col\">became right</th>\
         <th scope=\"col\">became wrong</th><th scope=\"col\">p</th>\
         <th scope=\"col\">questions</th></tr></thead><tbody>{rows}</tbody></table></div></section>",
        text(&first.label)
    )
}

/// Calls and tokens by prompt.
pub(super) fn costs(report: &Report) -> String {
    let mut rows = String::new();
    for run in &report.runs {
        let asked = (report.n - run.unasked.min(report.n)).max(1) as u64;
        let all: u64 =
            run.components.iter().map(|part| part.prompt_tokens + part.completion_tokens).sum();
        for part in &run.components {
            let share = ratio(part.prompt_tokens + part.completion_tokens, all);
            let _ = write!(
                rows,
                "<tr><th scope=\"row\">{}</th><td class=\"left\">{}</td><td>{:.1}</td>\
                 <td>{:.0}</td><td>{:.0}</td><td>{}</td><td class=\"share\">\
                 <svg viewBox=\"0 0 100 8\" aria-hidden=\"true\"><rect class=\"track\" width=\"100\" \
                 height=\"8\" rx=\"2\"/><rect class=\"bar\" width=\"{:.1}\" height=\"8\" rx=\"2\"/>\
                 </svg><span>{:.0} %</span></td></tr>",
                text(&run.label),
                text(&part.prompt),
                ratio(part.calls, asked),
                ratio(part.prompt_tokens, asked),
                ratio(part.completion_tokens, asked),
                part.malformed,
                share * 100.0,
                share * 100.0,
            );
        }
    }
    if rows.is_empty() {
        return String::new();
    }
    format!(
        "<section class=\"card\" aria-labelledby=\"cost-title\"><h2 id=\"cost-title\">Cost by \
         prompt</h2><p class=\"hint\">Means a question; replies from the cache count as if they had \
         been asked for.{}</p>\
         <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-labelledby=\"cost-title\"><table>\
         <thead><tr><th scope=\"col\">strategy</th><th scope=\"col\" class=\"left\">prompt</th>\
         <th scope=\"col\">calls</th><th scope=\"col\">prompt tokens</th>\
         <th scope=\"col\">completion tokens</th><th scope=\"col\">malformed</th>\
         <th scope=\"col\" class=\"left\">share</th></tr></thead><tbody>{rows}</tbody></table></div></section>",
        base(report)
    )
}

fn base(report: &Report) -> String {
    let Some(atomizing) = report.atomizing else { return String::new() };
    let Some((calls, prompt, completion)) = atomizing.per_chunk() else { return String::new() };
    format!(
        " Making the base took {calls:.2} calls, {prompt:.0} prompt and {completion:.0} completion \
         tokens for each of {} chunks.",
        atomizing.chunks
    )
}

/// What one needs to make the figures again.
pub(super) fn making(report: &Report) -> String {
    let mut out = String::from(
        "<section class=\"card\" aria-labelledby=\"making-title\"><h2 id=\"making-title\">Made with</h2><dl>",
    );
    let mut entry = |term: &str, value: &str| {
        let _ = write!(out, "<dt>{}</dt><dd><code>{}</code></dd>", text(term), text(value));
    };
    entry("Halma", &report.halma);
    entry("base", &report.base);
    if let Some(source) = &report.source {
        entry("questions", &format!("{} (blake3 {})", source.file, source.hash));
    }
    if let Some(sample) = report.sample {
        entry("sample", &format!("{} of {}, seed {}", sample.size, sample.of, sample.seed));
    }
    out.push_str("</dl>");
    for run in &report.runs {
        out.push_str(&made_with(run));
    }
    let ids: Vec<&str> = report.questions.iter().map(|question| question.id.as_str()).collect();
    let _ = write!(
        out,
        "<details><summary>The {} questions, by id</summary><p class=\"ids\">{}</p></details></section>",
        ids.len(),
        text(&ids.join(" "))
    );
    out
}

fn made_with(run: &Run) -> String {
    let mut out = format!("<details><summary>{}</summary><dl>", text(&run.label));
    let mut entry = |term: &str, value: &str| {
        let _ = write!(out, "<dt>{}</dt><dd><code>{}</code></dd>", text(term), text(value));
    };
    entry("settings", &run.settings.to_string());
    entry("fingerprint", &run.fingerprint);
    entry("answers compared as", &format!("{}, {}", run.profile.name(), run.metric.name()));
    for (role, models) in &run.models {
        let models: Vec<&str> = models.iter().map(String::as_str).collect();
        entry(role, &models.join(", "));
    }
    for (prompt, hashes) in &run.prompts {
        let hashes: Vec<&str> = hashes.iter().map(String::as_str).collect();
        entry(prompt, &hashes.join(", "));
    }
    out.push_str("</dl></details>");
    out
}
