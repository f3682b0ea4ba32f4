//! Log lines as JSON: an object a line, with the fields of the event and of the spans that it is
//! in, such as the id of a request and of its key. (The `json` feature of tracing-subscriber nests
//! them, and would have everything that logs compiled again.)
use std::fmt::Debug;
use std::io::Write as _;

use chrono::{SecondsFormat, Utc};
use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

/// Writes each event as a line.
pub(crate) struct JsonLines {
    write: fn(&str),
}

impl JsonLines {
    pub(crate) fn to_stderr() -> Self {
        // No one is left to tell when standard error is closed.
        Self { write: |line| drop(std::io::stderr().lock().write_all(line.as_bytes())) }
    }
}

/// The fields of a span or an event.
#[derive(Default)]
struct Fields(Map<String, Value>);

impl Fields {
    fn put(&mut self, field: &Field, value: Value) {
        // Records of the `log` crate repeat their target and line under such names.
        if !field.name().starts_with("log.") {
            self.0.insert(field.name().to_owned(), value);
        }
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.put(field, format!("{value:?}").into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, value.into());
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.put(field, value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, value.into());
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for JsonLines {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        if let Some(span) = context.span(id) {
            span.extensions_mut().insert(fields);
        }
    }

    fn on_record(&self, id: &Id, record: &Record<'_>, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        if let Some(fields) = span.extensions_mut().get_mut::<Fields>() {
            record.record(fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        (self.write)(&line(event, &context));
    }
}

/// The line of an event, with its line break.
fn line<S: Subscriber + for<'a> LookupSpan<'a>>(
    event: &Event<'_>,
    in_spans: &Context<'_, S>,
) -> String {
    let meta = event.metadata();
    let mut line = Map::new();
    line.insert("time".into(), Utc::now().to_rfc3339_opts(SecondsFormat::Micros, true).into());
    line.insert("level".into(), meta.level().as_str().to_lowercase().into());
    line.insert("target".into(), meta.target().into());
    // Fields of the event come before those of spans, and the inner span before the outer.
    let mut fields = Fields::default();
    event.record(&mut fields);
    let mut add = |fields: &Fields| {
        for (name, value) in &fields.0 {
            line.entry(name.as_str()).or_insert_with(|| value.clone());
        }
    };
    add(&fields);
    for span in in_spans.event_scope(event).into_iter().flatten() {
        if let Some(fields) = span.extensions().get::<Fields>() {
            add(fields);
        }
    }
    format!("{}\n", Value::Object(line))
}

#[cfg(test)]
mod tests {

    use parking_lot::Mutex;
    use tracing_subscriber::layer::SubscriberExt as _;

    use super::*;

    static LINES: Mutex<Vec<String>> = Mutex::new(vec![]);

    #[test]
    fn a_line_has_the_fields_of_the_event_and_of_its_spans() {
        let layer = JsonLines { write: |line| LINES.lock().push(line.to_owned()) };
        let log = tracing_subscriber::registry().with(layer);
        tracing::subscriber::with_default(log, || {
            let key = tracing::field::Empty;
            let span = tracing::error_span!("request", request = "r1", key, status = 1);
            span.record("key", "k1");
            span.in_scope(|| tracing::info!(status = 200_u16, path = "/a \"b\"\n", "answered"));
            tracing::warn!("elsewhere");
        });
        let lines = LINES.lock();
        let read = |at: usize| serde_json::from_str::<Value>(&lines[at]).unwrap();
        let (first, second) = (read(0), read(1));
        assert_eq!((&first["request"], &first["key"]), (&"r1".into(), &"k1".into()));
        assert_eq!((&first["status"], &first["message"]), (&200.into(), &"answered".into()));
        assert_eq!((&first["level"], &first["path"]), (&"info".into(), &"/a \"b\"\n".into()));
        assert!(first["time"].as_str().unwrap().ends_with('Z'));
        assert_eq!((&second["message"], second.get("request")), (&"elsewhere".into(), None));
        assert!(lines.iter().all(|line| line.matches('\n').count() == 1 && line.ends_with('\n')));
    }
}
