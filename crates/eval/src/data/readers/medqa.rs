//! `MedQA` (US): a question of a medical examination with lettered options.
use std::collections::BTreeMap;

use halma_core::AnswerKind;
use serde::Deserialize;

use crate::data::companion::CompanionFiles;
use crate::data::item::Item;
use crate::data::raw_record::{Fault, RawRecord, parse};

#[derive(Deserialize)]
struct MedQaRecord {
    question: String,
    answer: String,
    options: BTreeMap<String, String>,
    answer_idx: String,
    meta_info: Option<String>,
}

/// The file has no ids: a question's number in it is its id.
pub(super) fn item(raw: &RawRecord, _: &CompanionFiles) -> Result<Item, Fault> {
    let record: MedQaRecord = parse(raw)?;
    let Some(chosen) = record.options.get(&record.answer_idx) else {
        return Err(
            format!("`answer_idx` is `{}`, which is not an option", record.answer_idx).into()
        );
    };
    if chosen.trim() != record.answer.trim() {
        return Err(format!("option {} is not `{}`", record.answer_idx, record.answer).into());
    }
    let item = Item::new(format!("medqa-{}", raw.record), record.question, [chosen.clone()]);
    Ok(Item {
        kind: record.meta_info,
        ..item.with_answer_kind(AnswerKind::Option).with_options(record.options.into_values())
    })
}
