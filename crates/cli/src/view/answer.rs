//! An answer as a person reads it: the answer, how it was reached, what it rests on, what it cost.
use std::fmt::Write as _;

use console::style;
use halma_core::{Answer, Event, ReplyStatus, Trace};

use super::{duration, plural, shorten};

/// How wide a quote may be on the screen.
const QUOTE: usize = 160;

pub(crate) fn answer(answer: &Answer, trace: &Trace, strategy: &str, elapsed_ms: f64) -> String {
    let mut out = String::new();
    let headline = if answer.abstained {
        style("Not answerable from this knowledge base.".to_owned()).yellow().bold()
    } else {
        style(answer.text.clone()).bold()
    };
    let _ = writeln!(out, "{headline}");
    if !answer.reason.is_empty() {
        let _ = writeln!(out, "{}", style(shorten(&answer.reason, 400)).dim());
    }
    if answer.partial {
        let _ =
            writeln!(out, "{}", style("Partial: the budget was spent before the end.").yellow());
    }
    hops(trace, &mut out);
    sources(answer, &mut out);
    let _ = write!(out, "\n{}", style(cost(trace, strategy, elapsed_ms)).dim());
    out
}

/// The chain of sub-questions with what each found.
fn hops(trace: &Trace, out: &mut String) {
    let mut open = false;
    for event in &trace.0 {
        match event {
            Event::SpanStarted { name, .. } => {
                let _ = writeln!(out, "\n{}", style(name).cyan());
                open = true;
            }
            Event::Searched { query, hits, .. } => {
                if !open {
                    out.push('\n');
                    open = true;
                }
                let best = hits.first().map_or_else(
                    || style("nothing near enough".to_owned()).yellow().to_string(),
                    |hit| style(&hit.title).dim().to_string(),
                );
                let _ = writeln!(out, "  ? {}  {} {best}", shorten(query, 90), style("→").dim());
            }
            Event::SourceQueried { source, query, hits, .. } => {
                let best = hits.first().map_or_else(
                    || style("nothing".to_owned()).yellow().to_string(),
                    |hit| style(shorten(&hit.text, 90)).dim().to_string(),
                );
                let arrow = style("→").dim();
                let _ = writeln!(out, "  ? {source}: {}  {arrow} {best}", shorten(query, 80));
            }
            Event::SourceFailed { source, query, reason, .. } => {
                let (query, reason) = (shorten(query, 60), shorten(reason, 120));
                let said = format!("! {source} failed for {query}: {reason}");
                let _ = writeln!(out, "  {}", style(said).yellow());
            }
            Event::SqlExecuted { sql, rows, .. } => {
                let rows = plural(*rows as u64, "row", "rows");
                let _ = writeln!(out, "  = {}  {} {rows}", shorten(sql, 90), style("→").dim());
            }
            Event::Reranked { query, hits, .. } => {
                let hits = plural(hits.len() as u64, "passage", "passages");
                let _ = writeln!(out, "  ≥ {hits} reranked for {}", shorten(query, 80));
            }
            Event::Note { note, .. } => {
                let _ = writeln!(out, "  · {}", shorten(note, 120));
            }
            Event::ModelCalled { prompt, status: ReplyStatus::Malformed(why), .. } => {
                let said = format!("! the reply to {prompt} did not fit: {}", shorten(why, 90));
                let _ = writeln!(out, "  {}", style(said).yellow());
            }
            Event::BudgetExhausted { limit, .. } => {
                let _ = writeln!(out, "  {}", style(format!("! out of {limit}")).yellow());
            }
            Event::ModelCalled { .. } | Event::ModelCallFailed { .. } | Event::Tagged { .. } => {}
        }
    }
}

fn sources(answer: &Answer, out: &mut String) {
    if answer.citations.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{}", style("Sources").cyan());
    for (i, citation) in answer.citations.iter().enumerate() {
        let mut place = citation.document.clone();
        if let Some(section) = citation.section.as_ref().filter(|s| !s.is_empty()) {
            let _ = write!(place, " › {section}");
        }
        if let Some(page) = citation.page {
            let _ = write!(place, ", page {page}");
        }
        let _ = writeln!(
            out,
            "  [{}] {} {}\n      “{}”",
            i + 1,
            style(place).bold(),
            style(format!("({}–{})", citation.start, citation.end)).dim(),
            shorten(&without_heading(&citation.quote), QUOTE),
        );
    }
}

/// The section's name stands before the quote already.
fn without_heading(quote: &str) -> String {
    let body: Vec<&str> = quote.lines().filter(|line| !line.starts_with('#')).collect();
    let body = body.join("\n");
    if body.trim().is_empty() { quote.to_owned() } else { body }
}

/// One line: strategy, hops, calls, tokens, money, time.
pub(crate) fn cost(trace: &Trace, strategy: &str, elapsed_ms: f64) -> String {
    let usage = trace.usage();
    let mut parts = vec![
        strategy.to_owned(),
        plural(trace.hops() as u64, "hop", "hops"),
        plural(usage.llm_calls, "call", "calls"),
    ];
    if usage.cached_calls > 0 {
        parts.push(format!("{} from the cache", usage.cached_calls));
    }
    let tokens = usage.prompt_tokens + usage.completion_tokens;
    if tokens > 0 {
        parts.push(plural(tokens, "token", "tokens"));
    }
    if usage.usd > 0.0 {
        parts.push(format!("${:.4}", usage.usd));
    }
    parts.push(duration(elapsed_ms));
    parts.join(" · ")
}
