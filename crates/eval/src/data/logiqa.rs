//! `LogiQA 2.0`: a passage, a question about it, four options; nothing is to be retrieved.
use std::collections::BTreeMap;

use halma_core::AnswerKind;
use serde::Deserialize;

use super::load::{Fault, parse};
use super::records::RawRecord;
use super::registry::{COMMON, known, split};
use super::{Beside, DataSetEntry, Format, Item, Pool};
use crate::Metric;

pub(super) const ENTRY: DataSetEntry = DataSetEntry {
    format: Format::Logiqa2,
    name: "logiqa2",
    title: "LogiQA 2.0",
    paper: "Liu et al., LogiQA 2.0: An Improved Dataset for Logical Reasoning in Natural \
            Language Understanding, TASLP 2023",
    source: "https://github.com/csitfun/LogiQA2.0, `logiqa/DATA/LOGIQA`",
    licence: "CC BY-NC-SA 4.0",
    shape: "JSON lines; `text`, `question`, four `options`, `answer` the right one's number, \
            counted from 0; `type` the kinds of reasoning.",
    metric: Metric::Options,
    pool: Pool::Nothing,
    splits: &[
        split("train.txt", 12_567),
        known("dev.txt", 1_569, "bbefb563b7ddc02640ccdc314c1315d5727dba48539d0ecdd126fa351e511b09"),
        known(
            "test.txt",
            1_572,
            "71940b37ae0184b677c253a148d57ad4e75d6113447b1563c2ca82483e4e4f8d",
        ),
    ],
    keys: &["text", "question", "options", "answer"],
    read: item,
    ..COMMON
};

#[derive(Deserialize)]
struct Record {
    id: u64,
    answer: usize,
    text: String,
    question: String,
    options: Vec<String>,
    #[serde(default, rename = "type")]
    kinds: BTreeMap<String, bool>,
}

/// Some ids stand for two questions, so the record's number is a part of the id.
pub(super) fn item(raw: &RawRecord, _: &Beside) -> Result<Item, Fault> {
    let record: Record = parse(raw)?;
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
            .of_kind(AnswerKind::Option)
            .with_options(record.options)
    })
}
