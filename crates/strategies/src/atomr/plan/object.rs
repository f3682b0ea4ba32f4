//! The JSON object of a plan: its questions in their order, each with what is written for it.
use halma_core::parse_json;
use halma_core::text::words;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::call;
use super::repair::{Refusal, RepairKind, Repairs};
use crate::shared::references::without_zeros;

/// A question as the plan writes it.
#[derive(Debug)]
pub(super) struct PlanEntry {
    /// As it is written, with its number.
    pub(super) key: String,
    /// Its number (`3`, `2.1`), where it has one.
    pub(super) label: Option<String>,
    /// Without its number.
    pub(super) question: String,
    pub(super) value: Written,
}

/// What a plan writes for a question.
#[derive(Debug, Clone)]
pub(super) enum Written {
    /// A call, `[END]`, or words; empty where the plan says nothing.
    Step(String),
    /// The questions that it is divided into.
    List(Vec<String>),
}

/// An object whose first question has a list or a call; any other object is not a plan.
#[derive(Deserialize)]
#[serde(try_from = "Map<String, Value>")]
struct PlanObject(Map<String, Value>);

impl TryFrom<Map<String, Value>> for PlanObject {
    type Error = &'static str;

    fn try_from(object: Map<String, Value>) -> Result<Self, Self::Error> {
        match object.values().next() {
            Some(Value::Array(_) | Value::Object(_)) => Ok(Self(object)),
            Some(Value::String(text)) if !call::all(text).0.is_empty() || call::is_end(text) => {
                Ok(Self(object))
            }
            _ => Err("the first question has neither sub-questions nor an operator"),
        }
    }
}

/// Reads the plan's questions, the root first.
pub(super) fn entries(text: &str, repairs: &mut Repairs) -> Result<Vec<PlanEntry>, Refusal> {
    let unquoted = serde_json::from_str::<String>(text.trim());
    let text = unquoted.as_deref().unwrap_or(text);
    if text.len() > Refusal::LONGEST {
        return Err(Refusal::TooLarge);
    }
    let PlanObject(object) = parse_json(text).map_err(|_| Refusal::NoObject)?;
    let mut flat = vec![];
    flatten(object, &mut flat, repairs);
    let listed = flat.iter().map(|(_, written)| match written {
        Written::List(texts) => texts.len(),
        Written::Step(_) => 0,
    });
    // Each question is listed once, or almost.
    if flat.len() > Refusal::MOST || listed.sum::<usize>() > 2 * Refusal::MOST {
        return Err(Refusal::TooLarge);
    }
    let entry = |(key, value): (String, Written)| {
        let (label, question) = numbered(&key);
        PlanEntry { key, label, question, value }
    };
    let entries: Vec<PlanEntry> = flat.into_iter().map(entry).collect();
    if entries[0].question.is_empty() { Err(Refusal::NoObject) } else { Ok(entries) }
}

/// Objects within objects become lists of their keys; their entries follow.
fn flatten(object: Map<String, Value>, into: &mut Vec<(String, Written)>, repairs: &mut Repairs) {
    let mut below = vec![];
    for (key, value) in object {
        let mut keys = |inner: Map<String, Value>| {
            repairs.note(RepairKind::NestedObject, &key);
            let keys: Vec<String> = inner.keys().map(|key| key.trim().to_owned()).collect();
            below.push(inner);
            keys
        };
        let value = match value {
            Value::String(text) => Written::Step(text),
            Value::Object(inner) => Written::List(keys(inner)),
            Value::Array(items) => Written::List(
                items
                    .into_iter()
                    .flat_map(|item| match item {
                        Value::String(text) => vec![text.trim().to_owned()],
                        Value::Object(inner) => keys(inner),
                        Value::Number(number) => vec![number.to_string()],
                        _ => vec![],
                    })
                    .collect(),
            ),
            _ => Written::Step(String::new()),
        };
        into.push((key, value));
    }
    for inner in below {
        flatten(inner, into, repairs);
    }
}

/// A question's number and the question: `3. Who…`, `3) Who…`, `2.1 Who…`.
pub(super) fn numbered(text: &str) -> (Option<String>, String) {
    let text = text.trim();
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let written = &text[..text.len() - rest.len()];
    let label = written.trim_matches('.');
    let question = rest.trim_start_matches([')', ':']).trim_start();
    let ended = written.ends_with('.') || rest.starts_with([')', ':']);
    // `2.5 million people?` has no number, `2.1 Who?` has.
    let several = label.contains('.') && !question.starts_with(char::is_lowercase);
    if label.is_empty() || label.len() > 7 || !(ended || several) || question.is_empty() {
        return (None, text.to_owned());
    }
    let parts: Vec<&str> = label.split('.').map(without_zeros).collect();
    (Some(parts.join(".")), question.to_owned())
}

/// The entry that a listed text means: its literal key, else the only free one with the same words
/// or the same number.
pub(super) fn listed(
    text: &str,
    entries: &[PlanEntry],
    is_free: impl Fn(usize) -> bool,
) -> Option<usize> {
    if let Some(literal) = entries.iter().position(|entry| entry.key.trim() == text) {
        return Some(literal);
    }
    let only = |fits: &dyn Fn(&PlanEntry) -> bool| {
        let mut found = (1..entries.len()).filter(|at| fits(&entries[*at]) && is_free(*at));
        found.next().filter(|_| found.next().is_none())
    };
    let (label, question) = numbered(text);
    let label = label.unwrap_or_else(|| text.trim_matches(['[', ']']).to_owned());
    let question = words(&question);
    only(&|entry| entry.label.as_ref() == Some(&label))
        .or_else(|| only(&|entry| !question.is_empty() && words(&entry.question) == question))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_distinguished_from_questions_that_begin_with_one() {
        for (text, label) in [
            ("3. Who?", "3"),
            ("2.1 Who wrote [2.1]?", "2.1"),
            ("2.1. Who?", "2.1"),
            ("12) Who?", "12"),
            ("03.Who?", "3"),
            ("1990 World Cup winner?", ""),
            ("Who?", ""),
            ("[1] was born where?", ""),
            ("3.", ""),
        ] {
            assert_eq!(numbered(text).0.unwrap_or_default(), label, "{text}");
        }
    }
}
