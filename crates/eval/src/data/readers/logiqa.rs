//! `LogiQA 2.0`: a passage, a question about it, four options; nothing is to be retrieved.
use std::collections::BTreeMap;

use halma_core::AnswerKind;
use serde::Deserialize;

use crate::data::companion::CompanionFiles;
use crate::data::item::Item;
use crate::data::raw_record::{Fault, RawRecord, parse};

#[derive(Deserialize)]
struct LogiQaRecord {
    id: u64,
    answer: usize,
    text: String,
    question: String,
    options: Vec<String>,
    #[serde(default, rename = "type")]
    kinds: BTreeMap<String, bool>,
}

/// Some ids stand for two questions, so the record's number is a part of the id.
pub(super) fn item(raw: &RawRecord, _: &CompanionFiles) -> Result<Item, Fault> {
    let record: LogiQaRecord = parse(raw)?;
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
