//! `MedQA` (US): a question of a medical examination with lettered options.
use std::collections::BTreeMap;

use halma_core::AnswerKind;
use serde::Deserialize;

use super::load::{Fault, parse};
use super::records::RawRecord;
use super::registry::{COMMON, split};
use super::{Beside, DataSetEntry, Format, Item, Pool};
use crate::Metric;

pub(super) const ENTRY: DataSetEntry = DataSetEntry {
    format: Format::Medqa,
    name: "medqa",
    title: "MedQA (US)",
    paper: "Jin et al., What Disease does this Patient Have?, 2020",
    source: "https://github.com/jind11/MedQA, `questions/US`",
    licence: "MIT",
    shape: "JSON lines; `options` by letter (four or five), `answer_idx` the right letter.",
    metric: Metric::Options,
    pool: Pool::Corpus("the textbooks that are published with it (`textbooks/en`)"),
    splits: &[split("train.jsonl", 10_178), split("dev.jsonl", 1_272), split("test.jsonl", 1_273)],
    keys: &["question", "answer", "options", "answer_idx"],
    read: item,
    ..COMMON
};

#[derive(Deserialize)]
struct Record {
    question: String,
    answer: String,
    options: BTreeMap<String, String>,
    answer_idx: String,
    meta_info: Option<String>,
}

/// The file has no ids: a question's number in it is its id.
pub(super) fn item(raw: &RawRecord, _: &Beside) -> Result<Item, Fault> {
    let record: Record = parse(raw)?;
    let Some(chosen) = record.options.get(&record.answer_idx) else {
        return Err(format!("`answer_idx` is `{}`, which is no option", record.answer_idx).into());
    };
    if chosen.trim() != record.answer.trim() {
        return Err(format!("option {} is not `{}`", record.answer_idx, record.answer).into());
    }
    let item = Item::new(format!("medqa-{}", raw.record), record.question, [chosen.clone()]);
    Ok(Item {
        kind: record.meta_info,
        ..item.of_kind(AnswerKind::Option).with_options(record.options.into_values())
    })
}
