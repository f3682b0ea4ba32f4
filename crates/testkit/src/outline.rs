//! A trace as golden transcripts show it.
use std::fmt::Write as _;

use halma_core::{Event, ReplyStatus, Trace};

/// One line an event, indented by span.
pub fn outline(trace: &Trace) -> String {
    let mut out = String::new();
    let mut depth = vec![0_usize];
    for event in &trace.0 {
        let (span, line) = line(event);
        if let Event::SpanStarted { span, parent, .. } = event {
            let level = depth.get(*parent as usize).copied().unwrap_or(0) + 1;
            depth.resize((*span as usize + 1).max(depth.len()), 0);
            depth[*span as usize] = level;
            let _ = writeln!(out, "{}{line}", "  ".repeat(level - 1));
        } else {
            let indent = "  ".repeat(depth.get(span as usize).copied().unwrap_or(0));
            // A note may be a drawing of several lines.
            let _ = writeln!(out, "{indent}{}", line.replace('\n', &format!("\n{indent}  ")));
        }
    }
    out
}

fn line(event: &Event) -> (u32, String) {
    match event {
        Event::SpanStarted { span, name, .. } => (*span, name.clone()),
        Event::ModelCalled { span, prompt, reply, status, .. } => {
            let reply = reply.trim().replace('\n', "\\n");
            let line = match status {
                ReplyStatus::Valid => format!("ask {prompt} -> {reply}"),
                ReplyStatus::Malformed(why) => format!("ask {prompt} -> {reply} !! {why}"),
            };
            (*span, line)
        }
        Event::ModelCallFailed { span, prompt, reason, .. } => {
            (*span, format!("ask {prompt} failed: {reason}"))
        }
        Event::Searched { span, layer, query, hits, .. } => {
            let ids: Vec<&str> = hits.iter().map(|hit| hit.id.0.as_str()).collect();
            (*span, format!("search {} {query:?} -> {ids:?}", layer.name()))
        }
        Event::SourceQueried { span, source, query, hits, .. } => {
            let ids: Vec<&str> = hits.iter().map(|hit| hit.id.0.as_str()).collect();
            (*span, format!("look up {source} {query:?} -> {ids:?}"))
        }
        Event::SourceFailed { span, source, query, reason, .. } => {
            (*span, format!("look up {source} {query:?} failed: {reason}"))
        }
        Event::SqlExecuted { span, sql, rows, .. } => {
            (*span, format!("compute {sql:?} -> {rows} rows"))
        }
        Event::SeriesForecast { span, series } => {
            (*span, format!("forecast {}", series.describe()))
        }
        Event::IdeasDeveloped { span, ideas } => (*span, ideas.describe()),
        Event::Reranked { span, hits, .. } => {
            let hits: Vec<String> =
                hits.iter().map(|hit| format!("{} {:.2}", hit.id, hit.score)).collect();
            (*span, format!("rerank -> [{}]", hits.join(", ")))
        }
        Event::Tagged { span, entities, .. } => {
            let named: Vec<&str> = entities.iter().map(|entity| entity.text.as_str()).collect();
            (*span, format!("tag -> {named:?}"))
        }
        Event::Note { span, note } => (*span, format!("note: {note}")),
        Event::BudgetExhausted { span, limit } => (*span, format!("the budget is spent: {limit}")),
        Event::AnswerStarted { span, .. } => (*span, "the answer begins".into()),
        Event::AnswerDelta { .. } | Event::ModelAsked { .. } => unreachable!("no trace stores it"),
    }
}
