//! What a span says of an event, in the terms of the semantic conventions for generative AI
//! (OpenTelemetry semantic-conventions 1.41); what they do not name begins with `halma.`.
use halma_core::{Event, Message, ReplyStatus};
use opentelemetry::trace::SpanKind;
use opentelemetry::{KeyValue, Value};
use serde_json::json;

/// Characters of a text that a span holds at most.
const MAX_TEXT: usize = 16 * 1024;

/// A span, or an event of one.
pub(crate) struct SpanDraft {
    /// The part of the work that it belongs to; 0 is the whole question.
    pub(crate) part: u32,
    pub(crate) name: String,
    pub(crate) kind: SpanKind,
    /// How long it took; `None` for what takes no time, an event of the part's span.
    pub(crate) elapsed_ms: Option<f64>,
    pub(crate) attributes: Vec<KeyValue>,
    /// The kind of error.
    pub(crate) error: Option<&'static str>,
}

impl SpanDraft {
    fn span(part: u32, name: String, elapsed_ms: f64) -> Self {
        let (kind, attributes) = (SpanKind::Internal, vec![]);
        Self { part, name, kind, elapsed_ms: Some(elapsed_ms), attributes, error: None }
    }

    fn event(part: u32, name: &str, attributes: Vec<KeyValue>) -> Self {
        let (name, kind) = (name.to_owned(), SpanKind::Internal);
        Self { part, name, kind, elapsed_ms: None, attributes, error: None }
    }

    fn with(mut self, attributes: impl IntoIterator<Item = KeyValue>) -> Self {
        self.attributes.extend(attributes);
        self
    }

    fn failed(self, error: &'static str) -> Self {
        Self { error: Some(error), ..self }
    }
}

/// The span or span event of an event. Texts of documents, users and models are in it only with
/// `content`.
pub(crate) fn step(event: &Event, content: bool) -> Option<SpanDraft> {
    let text = |key: &'static str, text: &str| content.then(|| KeyValue::new(key, clip(text)));
    let step = match event {
        Event::ModelCalled { .. } => called(event, content)?,
        Event::ModelCallFailed { span, prompt, model, reason, elapsed_ms, .. } => {
            let step = chat(*span, model, *elapsed_ms).failed("model_call_failed");
            step.with([KeyValue::new("halma.prompt", prompt.to_string())])
                .with(text("halma.reason", reason))
        }
        Event::Searched { span, layer, mode, query, hits, elapsed_ms } => {
            let step = retrieval(*span, layer.name(), *elapsed_ms);
            step.with([KeyValue::new("halma.search.mode", mode.name())])
                .with([count("halma.hits", hits.len() as u64)])
                .with(text("gen_ai.retrieval.query.text", query))
        }
        Event::SourceQueried { span, source, query, hits, elapsed_ms } => {
            retrieval(*span, source, *elapsed_ms)
                .with([count("halma.hits", hits.len() as u64)])
                .with(text("gen_ai.retrieval.query.text", query))
        }
        Event::SourceFailed { span, source, query, reason, elapsed_ms } => {
            retrieval(*span, source, *elapsed_ms)
                .failed("source_failed")
                .with(text("gen_ai.retrieval.query.text", query))
                .with(text("halma.reason", reason))
        }
        Event::SqlExecuted { span, sql, rows, elapsed_ms } => {
            SpanDraft::span(*span, "execute_tool sql".into(), *elapsed_ms)
                .with([
                    KeyValue::new("gen_ai.operation.name", "execute_tool"),
                    KeyValue::new("gen_ai.tool.name", "sql"),
                    count("halma.rows", *rows as u64),
                ])
                .with(text("gen_ai.tool.call.arguments", sql))
        }
        Event::Reranked { span, reranker, query, hits, elapsed_ms } => {
            SpanDraft::span(*span, format!("rerank {reranker}"), *elapsed_ms)
                .with([count("halma.hits", hits.len() as u64)])
                .with(text("gen_ai.retrieval.query.text", query))
        }
        Event::Tagged { span, tagger, entities, elapsed_ms, .. } => {
            SpanDraft::span(*span, format!("tag {tagger}"), *elapsed_ms)
                .with([count("halma.entities", entities.len() as u64)])
        }
        Event::Note { span, note } => {
            SpanDraft::event(*span, "note", vec![]).with(text("note", note))
        }
        Event::BudgetExhausted { span, limit } => {
            let limit = KeyValue::new("halma.limit", limit.to_string());
            SpanDraft::event(*span, "budget_exhausted", vec![limit])
        }
        Event::SeriesForecast { span, .. } => SpanDraft::event(*span, "series_forecast", vec![]),
        Event::IdeasDeveloped { span, .. } => SpanDraft::event(*span, "ideas_developed", vec![]),
        Event::AnswerStarted { span, .. } => SpanDraft::event(*span, "answer_started", vec![]),
        Event::SpanStarted { .. } | Event::AnswerDelta { .. } | Event::ModelAsked { .. } => {
            return None;
        }
    };
    Some(step)
}

fn called(event: &Event, content: bool) -> Option<SpanDraft> {
    let Event::ModelCalled { span, prompt, hash, role, model, .. } = event else { return None };
    let Event::ModelCalled { attempt, messages, reply, status, usage, .. } = event else {
        return None;
    };
    let Event::ModelCalled { cached, usd, elapsed_ms, .. } = event else { return None };
    let mut step = chat(*span, model, *elapsed_ms).with([
        count("gen_ai.usage.input_tokens", usage.prompt_tokens),
        count("gen_ai.usage.output_tokens", usage.completion_tokens),
        KeyValue::new("halma.prompt", prompt.to_string()),
        KeyValue::new("halma.prompt_hash", hash.to_string()),
        KeyValue::new("halma.role", role.clone()),
        count("halma.attempt", u64::from(*attempt)),
        KeyValue::new("halma.cached", *cached),
        KeyValue::new("halma.cost_usd", *usd),
    ]);
    if content {
        let input: Vec<_> = messages.iter().map(json_message).collect();
        let reply = message("gen_ai.output.messages", "assistant", reply);
        step = step.with([KeyValue::new("gen_ai.input.messages", json!(input).to_string()), reply]);
    }
    match status {
        ReplyStatus::Valid => Some(step),
        ReplyStatus::Malformed(_) => Some(step.failed("malformed_reply")),
    }
}

fn chat(part: u32, model: &str, elapsed_ms: f64) -> SpanDraft {
    let offline = model == crate::config::OFFLINE;
    let kind = if offline { SpanKind::Internal } else { SpanKind::Client };
    // Every other model is asked in OpenAI's protocol, with whichever server.
    let provider = if offline { "halma" } else { "openai" };
    SpanDraft { kind, ..SpanDraft::span(part, format!("chat {model}"), elapsed_ms) }.with([
        KeyValue::new("gen_ai.operation.name", "chat"),
        KeyValue::new("gen_ai.provider.name", provider),
        KeyValue::new("gen_ai.request.model", model.to_owned()),
    ])
}

fn retrieval(part: u32, source: &str, elapsed_ms: f64) -> SpanDraft {
    SpanDraft::span(part, format!("retrieval {source}"), elapsed_ms).with([
        KeyValue::new("gen_ai.operation.name", "retrieval"),
        KeyValue::new("gen_ai.data_source.id", source.to_owned()),
    ])
}

/// The name of a part's span. Strategies name some parts after what is asked in them (`1. Who …`,
/// `part 2: …`); without `content` only the kind and the number are sent.
pub(crate) fn part_name(name: &str, content: bool) -> String {
    let fixed = name.split([':', '.']).next().unwrap_or_default().trim();
    if content || fixed.len() == name.len() {
        return clip(name);
    }
    let number = fixed.rsplit(' ').next().unwrap_or_default();
    if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) {
        return if number == fixed { format!("step {number}") } else { clip(fixed) };
    }
    "step".into()
}

/// An attribute with one message, in the conventions' JSON form.
pub(crate) fn message(key: &'static str, role: &str, text: &str) -> KeyValue {
    let message = Message { role: role.into(), text: text.into() };
    KeyValue::new(key, json!([json_message(&message)]).to_string())
}

fn json_message(message: &Message) -> serde_json::Value {
    let part = json!({"type": "text", "content": clip(&message.text)});
    json!({"role": message.role, "parts": [part]})
}

pub(crate) fn count(key: &'static str, count: u64) -> KeyValue {
    KeyValue::new(key, Value::I64(i64::try_from(count).unwrap_or(i64::MAX)))
}

fn clip(text: &str) -> String {
    match text.char_indices().nth(MAX_TEXT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_named_without_what_is_asked_in_it() {
        for (name, without) in [
            ("hop 1", "hop 1"),
            ("write the answer", "write the answer"),
            ("part 2: Who lit it? / When?", "part 2"),
            ("3. Who built Far Light?", "step 3"),
            ("Far Light: height", "step"),
        ] {
            assert_eq!(part_name(name, false), without);
            assert_eq!(part_name(name, true), name);
        }
    }

    #[test]
    fn texts_are_in_a_step_only_when_they_are_wanted() {
        let called = Event::ModelCalled {
            span: 1,
            prompt: "kar3/read".into(),
            hash: "abc".into(),
            role: "reader".into(),
            model: "m1".into(),
            attempt: 1,
            messages: vec![Message { role: "user".into(), text: "the secret question".into() }],
            thoughts: String::new(),
            reply: "the secret reply".into(),
            status: ReplyStatus::Malformed("the secret reply is not JSON".into()),
            usage: halma_core::Usage {
                prompt_tokens: 3,
                completion_tokens: 2,
                ..Default::default()
            },
            cached: false,
            usd: 0.5,
            elapsed_ms: 2.0,
        };
        let failed = Event::SourceFailed {
            span: 1,
            source: "web".into(),
            query: "the secret query".into(),
            reason: "the secret reason".into(),
            elapsed_ms: 1.0,
        };
        for event in [called, failed] {
            let all = |content| {
                let step = step(&event, content).unwrap();
                format!("{} {:?} {:?}", step.name, step.attributes, step.error)
            };
            assert!(!all(false).contains("secret"), "{}", all(false));
            assert!(all(true).contains("the secret"), "{}", all(true));
        }
    }
}
