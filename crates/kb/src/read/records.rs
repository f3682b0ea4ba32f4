//! Files of records: one JSON object a line, or a JSON list of them.
use halma_core::Metadata;
use halma_parse::Parsed;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::error::Category;

use super::contexts::ContextRecord;
use super::{Naming, ParsedDocument, Refusal, Sink, refusal};
use crate::{InputFormat, KbError};

/// A refusal with the line of the file, counted from 1, where one line is refused.
pub(super) type LocatedRefusal = (Option<usize>, Refusal);

/// A record that is a document.
#[derive(Deserialize)]
struct TextRecord {
    text: String,
    title: Option<String>,
    id: Option<Value>,
    url: Option<String>,
    date: Option<Value>,
    #[serde(default, deserialize_with = "metadata")]
    metadata: Option<Metadata>,
}

/// Fields that can be stored.
fn metadata<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Metadata>, D::Error> {
    let metadata = Option::<Metadata>::deserialize(deserializer)?;
    metadata.iter().try_for_each(Metadata::check).map_err(D::Error::custom)?;
    Ok(metadata)
}

impl TextRecord {
    fn draft(self, source: &str, number: usize) -> ParsedDocument {
        ParsedDocument {
            name: self.id.and_then(scalar).unwrap_or_else(|| format!("{source}#{number}")),
            naming: Naming::Stable,
            source: source.to_owned(),
            title: self.title.filter(|title| !title.trim().is_empty()),
            parsed: Parsed {
                url: self.url,
                date: self.date.and_then(scalar),
                ..halma_parse::plain(self.text)
            },
            metadata: self.metadata,
        }
    }
}

fn scalar(value: Value) -> Option<String> {
    match value {
        Value::String(text) if !text.trim().is_empty() => Some(text),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// What a `.json` file turned out to be.
pub(super) enum Json {
    /// A list whose records are in the sink.
    Records,
    /// One object a line.
    Lines,
    /// JSON of no known form: text like any other.
    Other,
    Broken(Refusal),
}

/// Reads a JSON file of an unknown form.
pub(super) fn json(text: &str, source: &str, sink: &mut Sink<'_>) -> Result<Json, KbError> {
    let broken = match serde_json::from_str::<Vec<ContextRecord>>(text) {
        Ok(records) => {
            let mut documents = records.into_iter().filter_map(|r| r.documents(source)).peekable();
            if documents.peek().is_some() {
                documents.flatten().try_for_each(sink)?;
                return Ok(Json::Records);
            }
            None
        }
        Err(e) if e.classify() == Category::Data => None,
        Err(e) => Some(e),
    };
    if let Some(e) = broken {
        let mut lines = text.lines().filter(|line| !line.trim().is_empty());
        let object = |line: &str| serde_json::from_str::<serde_json::Map<_, Value>>(line).is_ok();
        let several = lines.next().is_some_and(object) && lines.next().is_some();
        return Ok(if several { Json::Lines } else { Json::Broken(complaint(&e)) });
    }
    match serde_json::from_str::<Vec<TextRecord>>(text) {
        Ok(records) if !records.is_empty() => {
            for (i, record) in records.into_iter().enumerate() {
                if !record.text.trim().is_empty() {
                    sink(record.draft(source, i + 1))?;
                }
            }
            Ok(Json::Records)
        }
        // A type that does not fit ends the parse early: the file may still be cut off below.
        _ => Ok(match serde_json::from_str::<serde::de::IgnoredAny>(text) {
            Ok(_) => Json::Other,
            Err(e) => {
                let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or("");
                match serde_json::from_str::<serde::de::IgnoredAny>(first) {
                    Ok(_) => Json::Lines,
                    Err(_) => Json::Broken(complaint(&e)),
                }
            }
        }),
    }
}

fn complaint(e: &serde_json::Error) -> Refusal {
    let at = format!("line {}, column {}", e.line(), e.column());
    if e.classify() == Category::Eof {
        refusal(format!("it is half-written: the JSON ends at {at}"), "write it again")
    } else {
        refusal(format!("it does not fit: {e}"), format!("correct it at {at}"))
    }
}

/// Reads one object a line; a broken line is refused by its number, the others go on.
pub(super) fn lines(
    text: &str,
    source: &str,
    format: InputFormat,
    sink: &mut Sink<'_>,
    refusals: &mut Vec<LocatedRefusal>,
) -> Result<(), KbError> {
    for (i, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        match documents(line, source, i + 1, format) {
            Ok(drafts) => drafts.into_iter().try_for_each(&mut *sink)?,
            Err(refusal) => refusals.push((Some(i + 1), refusal)),
        }
    }
    Ok(())
}

/// What is wrong with a line; its number is that of the file and not of this text.
fn broken(error: &serde_json::Error) -> String {
    let (text, column) = (error.to_string(), error.column());
    let place = format!(" at line {} column {column}", error.line());
    format!("broken JSON at column {column}: {}", text.strip_suffix(&place).unwrap_or(&text))
}

/// The documents of one line.
fn documents(
    line: &str,
    source: &str,
    number: usize,
    format: InputFormat,
) -> Result<Vec<ParsedDocument>, Refusal> {
    let value: Value =
        serde_json::from_str(line).map_err(|e| refusal(broken(&e), "correct the line"))?;
    let shape = |e: serde_json::Error| {
        refusal(
            format!("the record does not fit: {e}"),
            "a record needs a string `text`; `title`, `id`, `url`, `date` and `metadata` (an \
             object of fields) are optional",
        )
    };
    let pooled = value.get("context").is_some() || value.get("paragraphs").is_some();
    if format != InputFormat::Auto || (pooled && value.get("text").is_none()) {
        let record: ContextRecord = serde_json::from_value(value).map_err(shape)?;
        return record.documents(source).ok_or_else(|| no_contexts(format));
    }
    let record: TextRecord = serde_json::from_value(value).map_err(shape)?;
    if record.text.trim().is_empty() {
        return Err(refusal("its `text` is empty", "remove the record or fill it"));
    }
    Ok(vec![record.draft(source, number)])
}

fn no_contexts(format: InputFormat) -> Refusal {
    let key = if format == InputFormat::Musique { "paragraphs" } else { "context" };
    refusal(format!("there is no `{key}`"), "give the official file, or leave out the format")
}

/// Reads an official file whose format is told.
pub(super) fn contexts(
    text: &str,
    source: &str,
    format: InputFormat,
    sink: &mut Sink<'_>,
    refusals: &mut Vec<LocatedRefusal>,
) -> Result<(), KbError> {
    if !text.trim_start().starts_with('[') {
        return lines(text, source, format, sink, refusals);
    }
    match serde_json::from_str::<Vec<ContextRecord>>(text) {
        Ok(records) => {
            for (i, record) in records.into_iter().enumerate() {
                if let Some(drafts) = record.documents(source) {
                    drafts.into_iter().try_for_each(&mut *sink)?;
                    continue;
                }
                let mut refusal = no_contexts(format);
                refusal.reason = format!("record {}: {}", i + 1, refusal.reason);
                refusals.push((None, refusal));
            }
        }
        Err(e) => refusals.push((None, complaint(&e))),
    }
    Ok(())
}
