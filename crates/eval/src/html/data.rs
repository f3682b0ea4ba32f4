//! The data behind the page's browser of questions, as JSON. Prompts repeat the same passages over
//! and over, so that texts are kept line by line, each line once.
use std::collections::HashMap;

use halma_core::{Answer, Event, HitLine, Message, ReplyStatus, Trace};
use serde_json::{Value, json};

use super::details::{Details, QuestionDetail, RunDetail};
use crate::report::Loss;
use crate::{Fate, QuestionResult, Report};

/// Traces beyond so many bytes of JSON are left in the folder, those of right answers first.
const MOST_TRACE_BYTES: usize = 24 << 20;

pub(super) fn data(report: &Report, details: &Details) -> Value {
    let mut lines = Lines::default();
    let traces = traces(report, details, &mut lines);
    let questions: Vec<Value> = details
        .questions
        .iter()
        .zip(traces)
        .map(|(q, traces)| question(report, q, traces))
        .collect();
    let losses: serde_json::Map<String, Value> = Loss::ALL
        .into_iter()
        .map(|loss| (name(loss), json!([loss.title(), loss.meaning()])))
        .collect();
    let runs: Vec<Value> = report.runs.iter().map(|run| json!(run.label)).collect();
    json!({ "runs": runs, "losses": losses, "questions": questions, "lines": lines.all })
}

/// For each question the traces of its runs, as far as they fit.
fn traces(report: &Report, details: &Details, lines: &mut Lines) -> Vec<Vec<Value>> {
    let mut order: Vec<usize> = (0..details.questions.len()).collect();
    order.sort_by_key(|&i| {
        let place = details.questions[i].place;
        report.runs.iter().all(|run| fate(run.results.get(place)) == Fate::Right)
    });
    let mut traces: Vec<Vec<Value>> = vec![vec![]; details.questions.len()];
    let mut taken = 0;
    for i in order {
        for run in &details.questions[i].runs {
            let trace = if taken < MOST_TRACE_BYTES { run.trace.read() } else { None };
            let value = trace.map_or(Value::Null, |trace| events(&trace, lines));
            taken += value.to_string().len() + std::mem::take(&mut lines.added);
            traces[i].push(value);
        }
    }
    traces
}

fn fate(result: Option<&QuestionResult>) -> Fate {
    result.map_or(Fate::Unasked, |result| result.fate)
}

fn name(loss: Loss) -> String {
    json!(loss).as_str().unwrap_or_default().to_owned()
}

fn question(report: &Report, detail: &QuestionDetail, traces: Vec<Value>) -> Value {
    let head = &report.questions[detail.place];
    let runs: Vec<Value> = report
        .runs
        .iter()
        .zip(&detail.runs)
        .zip(traces)
        .map(|((run, of), trace)| answered(run.results.get(detail.place), of, &trace))
        .collect();
    json!({
        "id": head.id,
        "kind": head.kind,
        "hops": head.hops,
        "text": detail.text,
        "golds": detail.golds,
        "gold": detail.gold_titles,
        "runs": runs,
    })
}

fn answered(result: Option<&QuestionResult>, of: &RunDetail, trace: &Value) -> Value {
    let none = QuestionResult::default();
    let result = result.unwrap_or(&none);
    json!({
        "fate": result.fate,
        "lost": result.lost,
        "f1": result.score.map(|score| score.f1),
        "support": result.support,
        "ruling": result.ruling,
        "tokens": result.tokens,
        "hops": result.hops,
        "ms": result.latency_ms,
        "usd": result.usage.usd,
        "partial": result.partial,
        "answer": of.answer.as_ref().map(|answer| &answer.text),
        "reason": of.answer.as_ref().map(|answer| &answer.reason),
        "citations": of.answer.as_ref().map(citations),
        "failure": of.failure.as_ref().map(|failure| json!([failure.kind, failure.reason])),
        "trace": trace,
    })
}

fn citations(answer: &Answer) -> Vec<Value> {
    let place = |citation: &halma_core::Citation| {
        let page = citation.page.map(|page| format!("page {page}"));
        citation.section.clone().or(page)
    };
    let one =
        |citation: &halma_core::Citation| json!([citation.title, place(citation), citation.quote]);
    answer.citations.iter().map(one).collect()
}

/// Every line of every prompt, reply and passage, once.
#[derive(Default)]
struct Lines {
    all: Vec<String>,
    places: HashMap<String, usize>,
    /// Bytes added since somebody asked.
    added: usize,
}

impl Lines {
    fn of(&mut self, text: &str) -> Vec<usize> {
        text.split('\n').map(|line| self.place(line)).collect()
    }

    fn place(&mut self, line: &str) -> usize {
        if let Some(&place) = self.places.get(line) {
            return place;
        }
        self.added += line.len() + 3;
        self.all.push(line.to_owned());
        self.places.insert(line.to_owned(), self.all.len() - 1);
        self.all.len() - 1
    }
}

fn events(trace: &Trace, lines: &mut Lines) -> Value {
    trace.0.iter().map(|one| event(one, lines)).collect()
}

fn event(event: &Event, lines: &mut Lines) -> Value {
    match event {
        Event::SpanStarted { span, parent, name } => {
            json!({ "k": "span", "s": parent, "i": span, "n": name })
        }
        Event::ModelCalled { .. } => asked(event, lines),
        Event::ModelCallFailed { span, prompt, model, reason, .. } => {
            json!({ "k": "fail", "s": span, "p": prompt, "m": model, "n": reason })
        }
        Event::Searched { span, layer, query, hits, elapsed_ms, .. } => {
            let hits = found(hits, lines);
            json!({ "k": "search", "s": span, "l": layer, "q": query, "h": hits, "ms": elapsed_ms })
        }
        Event::Reranked { span, reranker, query, hits, elapsed_ms } => {
            let hits = found(hits, lines);
            json!({ "k": "search", "s": span, "by": reranker, "q": query, "h": hits, "ms": elapsed_ms })
        }
        Event::SourceQueried { span, source, query, hits, elapsed_ms } => {
            let hits = found(hits, lines);
            json!({ "k": "search", "s": span, "by": source, "q": query, "h": hits, "ms": elapsed_ms })
        }
        Event::SourceFailed { span, source, query, reason, .. } => {
            json!({ "k": "note", "s": span, "n": format!("{source} failed for {query}: {reason}") })
        }
        Event::Tagged { span, tagger, entities, .. } => {
            let names: Vec<String> =
                entities.iter().map(|one| format!("{} ({})", one.text, one.kind)).collect();
            let names = if names.is_empty() { "no name".to_owned() } else { names.join(", ") };
            json!({ "k": "note", "s": span, "n": format!("{tagger} finds {names}") })
        }
        Event::SqlExecuted { span, sql, rows, elapsed_ms } => {
            json!({ "k": "compute", "s": span, "q": sql, "n": rows, "ms": elapsed_ms })
        }
        Event::Note { span, note } => json!({ "k": "note", "s": span, "n": note }),
        Event::BudgetExhausted { span, limit } => {
            json!({ "k": "note", "s": span, "n": format!("the budget is spent: {limit}") })
        }
    }
}

fn found(hits: &[HitLine], lines: &mut Lines) -> Vec<Value> {
    let hit = |hit: &HitLine| {
        json!([hit.title, lines.of(&hit.text), (f64::from(hit.score) * 1e3).round() / 1e3])
    };
    hits.iter().map(hit).collect()
}

fn asked(event: &Event, lines: &mut Lines) -> Value {
    let Event::ModelCalled {
        span,
        prompt,
        role,
        model,
        attempt,
        messages,
        reply,
        status,
        usage,
        cached,
        elapsed_ms,
        ..
    } = event
    else {
        return Value::Null;
    };
    let bad = match status {
        ReplyStatus::Valid => Value::Null,
        ReplyStatus::Malformed(reason) => json!(reason),
    };
    let messages: Vec<Value> =
        messages.iter().map(|Message { role, text }| json!([role, lines.of(text)])).collect();
    json!({
        "k": "ask", "s": span, "p": prompt, "r": role, "m": model, "a": attempt, "bad": bad,
        "x": messages, "y": lines.of(reply), "t": [usage.prompt_tokens, usage.completion_tokens],
        "c": cached, "ms": elapsed_ms,
    })
}
