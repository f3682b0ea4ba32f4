//! The spans of one question, made of its events as they happen.
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use halma_core::Event;
use opentelemetry::propagation::TextMapPropagator as _;
use opentelemetry::trace::{Span as _, SpanKind, Status, TraceContextExt as _, Tracer as _};
use opentelemetry::{Context, KeyValue};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::Span;
use parking_lot::Mutex;

use super::Telemetry;
use super::steps::{self, SpanDraft};
use crate::storage::traces::TraceHead;

/// What is known of a question when it begins.
pub(crate) struct RunStart<'a> {
    pub(crate) id: &'a str,
    pub(crate) question: &'a str,
    pub(crate) strategy: &'a str,
    pub(crate) key: Option<&'a str>,
    /// The caller's span, in the form of the header `traceparent` (W3C Trace Context).
    pub(crate) trace_parent: Option<&'a str>,
}

/// The spans of one question that have not ended.
pub(crate) struct RunSpans {
    telemetry: Arc<Telemetry>,
    open: Mutex<OpenSpans>,
}

struct OpenSpans {
    root: Span,
    parts: HashMap<u32, Part>,
}

/// A part of the work: it ends with the last event in it.
struct Part {
    span: Span,
    parent: u32,
    last: SystemTime,
}

impl RunSpans {
    pub(crate) fn start(telemetry: &Arc<Telemetry>, start: &RunStart<'_>) -> Self {
        let mut attributes = vec![
            KeyValue::new("gen_ai.operation.name", "invoke_agent"),
            KeyValue::new("gen_ai.provider.name", "halma"),
            KeyValue::new("gen_ai.agent.name", start.strategy.to_owned()),
            KeyValue::new("halma.trace_id", start.id.to_owned()),
        ];
        if let Some(key) = start.key {
            attributes.push(KeyValue::new("halma.key_id", key.to_owned()));
        }
        if telemetry.content {
            attributes.push(steps::message("gen_ai.input.messages", "user", start.question));
        }
        let parent = start.trace_parent.map_or_else(Context::new, |header| {
            let carrier = HashMap::from([("traceparent".to_owned(), header.to_owned())]);
            TraceContextPropagator::new().extract_with_context(&Context::new(), &carrier)
        });
        let name = format!("invoke_agent {}", start.strategy);
        let root = telemetry.tracer.span_builder(name).with_kind(SpanKind::Internal);
        let root = root.with_attributes(attributes);
        let root = telemetry.tracer.build_with_context(root, &parent);
        let open = Mutex::new(OpenSpans { root, parts: HashMap::new() });
        Self { telemetry: Arc::clone(telemetry), open }
    }

    /// Must be called for every event, when it happens.
    pub(crate) fn record(&self, event: &Event) {
        let now = SystemTime::now();
        let mut open = self.open.lock();
        if let Event::SpanStarted { span, parent, name } = event {
            let name = steps::part_name(name, self.telemetry.content);
            let builder = self.telemetry.tracer.span_builder(name).with_kind(SpanKind::Internal);
            let context = open.context(*parent);
            let built = self.telemetry.tracer.build_with_context(builder, &context);
            open.parts.insert(*span, Part { span: built, parent: *parent, last: now });
        } else if let Some(step) = steps::step(event, self.telemetry.content) {
            open.touch(step.part, now);
            self.add(&mut open, step, now);
        }
    }

    fn add(&self, open: &mut OpenSpans, step: SpanDraft, now: SystemTime) {
        let SpanDraft { part, name, kind, elapsed_ms, attributes, error } = step;
        let Some(elapsed_ms) = elapsed_ms else {
            open.span(part).add_event_with_timestamp(name, now, attributes);
            return;
        };
        let elapsed = Duration::try_from_secs_f64(elapsed_ms / 1e3).unwrap_or_default();
        let builder = self.telemetry.tracer.span_builder(name).with_kind(kind);
        let began = now.checked_sub(elapsed).unwrap_or(now);
        let builder = builder.with_start_time(began).with_attributes(attributes);
        let mut span = self.telemetry.tracer.build_with_context(builder, &open.context(part));
        if let Some(kind) = error {
            span.set_attribute(KeyValue::new("error.type", kind));
            span.set_status(Status::error(kind));
        }
        span.end_with_timestamp(now);
    }

    /// Ends all spans; `error` is the kind of the error that ended the question.
    pub(crate) fn finish(&self, head: &TraceHead, error: Option<&'static str>) {
        let mut open = self.open.lock();
        for part in open.parts.values_mut() {
            part.span.end_with_timestamp(part.last);
        }
        let root = &mut open.root;
        root.set_attribute(steps::count("gen_ai.usage.input_tokens", head.usage.prompt_tokens));
        root.set_attribute(steps::count(
            "gen_ai.usage.output_tokens",
            head.usage.completion_tokens,
        ));
        root.set_attribute(steps::count("halma.calls", head.usage.llm_calls));
        root.set_attribute(steps::count("halma.hops", head.hops as u64));
        root.set_attribute(KeyValue::new("halma.cost_usd", head.usage.usd));
        root.set_attribute(KeyValue::new("halma.abstained", head.abstained));
        if self.telemetry.content
            && let Some(answer) = &head.answer
        {
            root.set_attribute(steps::message("gen_ai.output.messages", "assistant", answer));
        }
        if let Some(kind) = error {
            root.set_attribute(KeyValue::new("error.type", kind));
            root.set_status(Status::error(kind));
        }
        root.end();
    }
}

impl OpenSpans {
    /// The span of a part; that of the question for 0.
    fn span(&mut self, part: u32) -> &mut Span {
        match self.parts.get_mut(&part) {
            Some(part) => &mut part.span,
            None => &mut self.root,
        }
    }

    fn context(&mut self, part: u32) -> Context {
        Context::new().with_remote_span_context(self.span(part).span_context().clone())
    }

    /// Something happened in a part, and so in those that it is in.
    fn touch(&mut self, mut part: u32, now: SystemTime) {
        // A part is in one that began before it, so this ends.
        while let Some(ancestor) = self.parts.get_mut(&part) {
            ancestor.last = now;
            part = ancestor.parent;
        }
    }
}
