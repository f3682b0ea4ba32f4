//! An answer for people: the answer, the searches that led to it, its sources, its cost.
use std::fmt::Write as _;

use console::style;
use halma_core::{
    Answer, AnswerStep, Event, NearestPassage, PredictionInterval, ReplyStatus, ResultKind, Trace,
    round,
};
use halma_engine::AskResult;

use super::{duration, page_suffix, plural, shorten, thousands};

/// The most characters of a quotation.
const MAX_QUOTE_CHARS: usize = 160;

/// The latest periods of a series that are shown.
const MAX_PERIODS: usize = 24;

/// Sources of a computed answer that are shown.
const MAX_ROWS: usize = 6;

/// Stands after a sentence that no source supports.
const UNSUPPORTED: &str = " [?]";

pub(crate) fn answer(answer: &Answer, result: &AskResult, log: bool) -> String {
    let trace = &result.outcome.trace;
    let mut out = String::new();
    headline(answer, &mut out);
    if answer.full.iter().flat_map(|full| &full.claims).any(|claim| !claim.supported) {
        let note = "[?]: no source supports this sentence. Check it before you rely on it.";
        let _ = writeln!(out, "{}", style(note).yellow());
    }
    if answer.partial {
        let _ =
            writeln!(out, "{}", style("Partial: the budget was spent before the end.").yellow());
    }
    passages(answer, &mut out);
    steps(answer, result, &mut out);
    series(result, &mut out);
    if log {
        hops(trace, &mut out);
    }
    sources(answer, &mut out);
    let _ = write!(out, "\n{}", style(cost(result)).dim());
    out
}

/// The nearest passages, each with its nearest sentence in bold.
fn passages(answer: &Answer, out: &mut String) {
    for (number, NearestPassage { text, source }) in (1..).zip(&answer.passages) {
        let page = page_suffix(source.page);
        let _ = writeln!(
            out,
            "\n{number}. {} ({}{page})",
            style(&source.title).cyan(),
            source.document
        );
        let (before, after) = text.split_once(&source.quote).unwrap_or((text, ""));
        let quote = if after.is_empty() && before == text { "" } else { source.quote.as_str() };
        let skipped = before.chars().count().saturating_sub(MAX_QUOTE_CHARS);
        let near: String = before.chars().skip(skipped).collect();
        let dots = if skipped > 0 { "…" } else { "" };
        let gap = &after[..after.len() - after.trim_start().len()];
        let after = shorten(after, MAX_QUOTE_CHARS);
        let _ = writeln!(out, "{dots}{near}{}{gap}{after}", style(quote).bold());
    }
}

/// The answer, once: its sentences, below the short answer where they say more.
fn headline(answer: &Answer, out: &mut String) {
    if answer.abstained {
        let text = match answer.kind {
            ResultKind::Passages => "Nearest passages",
            _ => "No answer was found.",
        };
        let _ = writeln!(out, "{}", style(text).yellow().bold());
    } else if !begins(answer) {
        let _ = writeln!(out, "{}", style(&answer.text).bold());
    }
    if let Some(limitation) = &answer.limitation {
        let _ = writeln!(out, "{}", style(limitation).yellow());
    }
    if let Some(full) = &answer.full {
        let gap = if begins(answer) { "" } else { "\n" };
        let _ = writeln!(out, "{gap}{}", full.with_marks(UNSUPPORTED));
    } else if !answer.reason.is_empty() {
        let _ = writeln!(out, "{}", style(shorten(&answer.reason, 400)).dim());
    }
    if let Some(computation) = &answer.computation {
        let _ = writeln!(out, "{}", style(shorten(computation, 400)).dim());
    }
}

/// Whether the sentences begin with the short answer: those of a computed one do.
fn begins(answer: &Answer) -> bool {
    answer.is_written_as_given() || (answer.computation.is_some() && answer.full.is_some())
}

/// The way to the answer: what was asked, and what settled it.
fn steps(answer: &Answer, result: &AskResult, out: &mut String) {
    if answer.steps.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{}", style("How").cyan());
    let _ = writeln!(out, "  {}", shorten(&result.question, 160));
    for AnswerStep { query, citation } in &answer.steps {
        let Some(source) = answer.citations.get(citation.wrapping_sub(1)) else { continue };
        // The first query is often the question, which is printed already.
        if !query.is_empty() && *query != result.question {
            let _ = writeln!(out, "  ? {}", shorten(query, 120));
        }
        let quote = shorten(&source.quote, MAX_QUOTE_CHARS);
        let number = style(format!("[{citation}]")).dim();
        let _ = writeln!(out, "    {}: “{quote}” {number}", style(&source.title).bold());
    }
    let _ = writeln!(out, "  = {}", shorten(&answer.text, 160));
}

/// The series that were continued, a period a line.
fn series(result: &AskResult, out: &mut String) {
    let forecasts = result.outcome.trace.0.iter().filter_map(|event| match event {
        Event::SeriesForecast { series, .. } => Some(series),
        _ => None,
    });
    let mut any = false;
    for series in forecasts {
        any = true;
        let group =
            if series.group.is_empty() { String::new() } else { format!(", {}", series.group) };
        let title = format!("Series: {} by {}{group}", series.target, series.granularity);
        let _ = writeln!(out, "\n{}", style(title).cyan());
        let omitted = series.points.len().saturating_sub(MAX_PERIODS);
        if omitted > 0 {
            let _ = writeln!(
                out,
                "  … {}",
                plural(omitted as u64, "earlier period", "earlier periods")
            );
        }
        let largest = series.points.iter().map(|point| point.value).fold(0.0, f64::max);
        for point in series.points.iter().skip(omitted) {
            let mark = if point.finished { "" } else { "  (not over, not used)" };
            let bar = style(bar(point.value, largest)).dim();
            let _ = writeln!(out, "  {:<8} {:>8} {bar}{mark}", point.period, round(point.value));
        }
        for step in &series.predictions {
            let intervals: Vec<String> = step.intervals.iter().map(interval).collect();
            let intervals = intervals.join(", ");
            let _ = writeln!(out, "→ {:<8} {:>8} {intervals}", step.period, round(step.value));
        }
        let _ = writeln!(out, "  {}", style(&series.method).dim());
    }
    if any {
        let query = format!("halma kb sql --run {} 'SELECT * FROM series'", result.id);
        let _ = writeln!(out, "  {}", style(format!("as a table: {query}")).dim());
    }
}

fn interval(interval: &PredictionInterval) -> String {
    let percent = round(interval.level * 100.0);
    format!("{percent} %: {} to {}", round(interval.low), round(interval.high))
}

/// A bar of at most 30 characters.
fn bar(value: f64, largest: f64) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 30")]
    let length = if largest > 0.0 { (value / largest * 30.0).clamp(0.0, 30.0) as usize } else { 0 };
    "█".repeat(length)
}

/// The chain of sub-questions with the best hit of each.
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
                    || style("no match".to_owned()).yellow().to_string(),
                    |hit| style(&hit.title).dim().to_string(),
                );
                let _ = writeln!(out, "  ? {}  {} {best}", shorten(query, 90), style("→").dim());
            }
            Event::SourceQueried { source, query, hits, .. } => {
                let best = hits.first().map_or_else(
                    || style("no result".to_owned()).yellow().to_string(),
                    |hit| style(shorten(&hit.text, 90)).dim().to_string(),
                );
                let arrow = style("→").dim();
                let _ = writeln!(out, "  ? {source}: {}  {arrow} {best}", shorten(query, 80));
            }
            Event::SourceFailed { source, query, reason, .. } => {
                let (query, reason) = (shorten(query, 60), shorten(reason, 120));
                let message = format!("warning: {source} failed for {query}: {reason}");
                let _ = writeln!(out, "  {}", style(message).yellow());
            }
            Event::SqlExecuted { sql, rows, .. } => {
                let rows = plural(*rows as u64, "row", "rows");
                let _ = writeln!(out, "  = {}  {} {rows}", shorten(sql, 90), style("→").dim());
            }
            Event::SeriesForecast { series, .. } => {
                let _ = writeln!(out, "  ~ {}", shorten(&series.describe(), 120));
            }
            Event::IdeasDeveloped { ideas, .. } => {
                let _ = writeln!(out, "  * {}", shorten(&ideas.describe(), 120));
            }
            Event::Reranked { query, hits, .. } => {
                let hits = plural(hits.len() as u64, "passage", "passages");
                let _ = writeln!(out, "  ≥ {hits} reranked for {}", shorten(query, 80));
            }
            Event::Note { note, .. } => {
                let _ = writeln!(out, "  · {}", shorten(note, 120));
            }
            Event::ModelCalled { prompt, status: ReplyStatus::Malformed(why), .. } => {
                let why = shorten(why, 90);
                let message = format!("warning: the reply to {prompt} is malformed: {why}");
                let _ = writeln!(out, "  {}", style(message).yellow());
            }
            Event::BudgetExhausted { limit, .. } => {
                let _ = writeln!(
                    out,
                    "  {}",
                    style(format!("warning: the limit of {limit} is reached")).yellow()
                );
            }
            Event::ModelCalled { .. }
            | Event::ModelCallFailed { .. }
            | Event::Tagged { .. }
            | Event::AnswerStarted { .. }
            | Event::AnswerDelta { .. }
            | Event::ModelAsked { .. } => {}
        }
    }
}

fn sources(answer: &Answer, out: &mut String) {
    if answer.citations.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{}", style("Sources").cyan());
    // A computed answer may rest on many rows.
    let limit = if answer.computation.is_some() { MAX_ROWS } else { usize::MAX };
    for (i, citation) in answer.citations.iter().enumerate().take(limit) {
        let mut place = citation.document.clone();
        if let Some(section) = citation.section.as_ref().filter(|s| !s.is_empty()) {
            let _ = write!(place, " › {section}");
        }
        place += &page_suffix(citation.page);
        // A fact of a knowledge graph stands in no text.
        let span = match (citation.start, citation.end) {
            (_, 0) => String::new(),
            (start, end) => style(format!(" ({start}–{end})")).dim().to_string(),
        };
        let (number, place) = (i + 1, style(place).bold());
        let quote = shorten(&citation.quote, MAX_QUOTE_CHARS);
        let _ = writeln!(out, "  [{number}] {place}{span}\n      “{quote}”");
    }
    let more = answer.citations.len().saturating_sub(limit);
    if more > 0 {
        let more = plural(more as u64, "more source", "more sources");
        let _ = writeln!(out, "  … {more}; `--json` lists all");
    }
}

/// One line: strategy, hops, calls, tokens, money, time.
fn cost(result: &AskResult) -> String {
    let trace = &result.outcome.trace;
    let usage = trace.usage();
    let mut parts = vec![
        result.strategy.to_owned(),
        plural(trace.hops() as u64, "hop", "hops"),
        plural(usage.llm_calls, "call", "calls"),
    ];
    if usage.cached_calls > 0 {
        parts.push(format!("{} cached", thousands(usage.cached_calls)));
    }
    let tokens = usage.prompt_tokens + usage.completion_tokens;
    if tokens > 0 {
        let cached = match usage.cached_tokens {
            0 => String::new(),
            cached => format!(" ({} from the server's cache)", thousands(cached)),
        };
        parts.push(plural(tokens, "token", "tokens") + &cached);
    }
    if usage.usd > 0.0 {
        parts.push(format!("${:.4}", usage.usd));
    }
    if let Some(first_word) = trace.first_word_ms() {
        parts.push(format!("first word after {}", duration(first_word)));
    }
    parts.push(duration(result.elapsed_ms));
    parts.push(format!("run {}", result.id));
    parts.join(" · ")
}
