//! `LogiQA` and `LogiQA 2.0`: a passage, a question about it, four options; nothing is to be
//! retrieved.
use std::collections::BTreeMap;

use halma_core::AnswerKind;
use serde::Deserialize;
use serde_json::Value;

use crate::data::companion::CompanionFiles;
use crate::data::item::Item;
use crate::data::raw_record::{Fault, RawRecord, parse};

#[derive(Deserialize)]
struct LogiQa2Record {
    id: u64,
    answer: usize,
    text: String,
    question: String,
    options: Vec<String>,
    #[serde(default, rename = "type")]
    kinds: BTreeMap<String, bool>,
}

/// Some ids stand for two questions, so the record's number is a part of the id.
pub(super) fn second(raw: &RawRecord, _: &CompanionFiles) -> Result<Item, Fault> {
    let record: LogiQa2Record = parse(raw)?;
    let Some(right) = record.options.get(record.answer).cloned() else {
        let (answer, count) = (record.answer, record.options.len());
        return Err(format!("`answer` is {answer}, and there are {count} options").into());
    };
    let kinds = record.kinds.iter().filter(|(_, yes)| **yes);
    let kinds: Vec<&str> =
        kinds.map(|(kind, _)| kind.strip_suffix(" Reasoning").unwrap_or(kind)).collect();
    let text = format!("{}\n\n{}", record.text.trim(), record.question.trim());
    Ok(Item {
        kind: (!kinds.is_empty()).then(|| kinds.join(" + ")),
        ..Item::new(format!("{}-{}", record.id, raw.record), text, [right])
            .with_answer_kind(AnswerKind::Option)
            .with_options(record.options)
    })
}

#[derive(Deserialize)]
struct LogiQaRecord {
    context: String,
    query: String,
    options: Vec<String>,
    /// A number from 0, or a letter.
    correct_option: Value,
}

/// The file has no ids: a question's number in it is its id.
pub(super) fn first(raw: &RawRecord, _: &CompanionFiles) -> Result<Item, Fault> {
    let record: LogiQaRecord = parse(raw)?;
    let given = match &record.correct_option {
        Value::String(text) => text.trim().to_lowercase(),
        other => other.to_string(),
    };
    let place = "abcd".find(&given).filter(|_| given.len() == 1).or_else(|| given.parse().ok());
    let Some(right) = place.and_then(|place| record.options.get(place)).cloned() else {
        let count = record.options.len();
        return Err(format!("`correct_option` is {given}, and there are {count} options").into());
    };
    let text = format!("{}\n\n{}", record.context.trim(), record.query.trim());
    Ok(Item::new(format!("logiqa-{}", raw.record), text, [right])
        .with_answer_kind(AnswerKind::Option)
        .with_options(record.options))
}
