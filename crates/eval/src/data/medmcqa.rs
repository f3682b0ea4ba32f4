//! `MedMCQA`: four options `opa` to `opd`, the right one by its number `cop`, counted from 1.
use halma_core::AnswerKind;
use serde::Deserialize;

use super::load::{Fault, parse};
use super::records::RawRecord;
use super::registry::{COMMON, split};
use super::{Beside, DataSetEntry, Format, Item, Pool};
use crate::Metric;

pub(super) const ENTRY: DataSetEntry = DataSetEntry {
    format: Format::Medmcqa,
    name: "medmcqa",
    title: "MedMCQA",
    paper: "Pal et al., MedMCQA: A Large-scale Multi-Subject Multi-Choice Dataset for Medical \
            domain Question Answering, CHIL 2022",
    source: "https://github.com/medmcqa/medmcqa",
    licence: "MIT",
    shape: "JSON lines; options `opa` to `opd`, `cop` the right one's number, counted from 1.",
    metric: Metric::Options,
    pool: Pool::Corpus("medical texts of one's own; none are published with it"),
    splits: &[split("train.json", 182_822), split("dev.json", 4_183)],
    keys: &["question", "opa", "opb", "opc", "opd", "cop"],
    read: item,
    ..COMMON
};

#[derive(Deserialize)]
struct Record {
    id: String,
    question: String,
    opa: String,
    opb: String,
    opc: String,
    opd: String,
    cop: usize,
    subject_name: Option<String>,
}

pub(super) fn item(raw: &RawRecord, _: &Beside) -> Result<Item, Fault> {
    let record: Record = parse(raw)?;
    let options = [record.opa, record.opb, record.opc, record.opd];
    let right = match record.cop {
        // A copy that counts from 0 would be scored wrong throughout and look well formed.
        0 => {
            return Err(Fault::File(
                "`cop` is 0, so this copy counts the options from 0 and not from 1; \
                 fetch the file of its authors"
                    .into(),
            ));
        }
        number => options.get(number - 1).cloned(),
    };
    let Some(right) = right else {
        return Err(format!("`cop` is {}, and there are four options", record.cop).into());
    };
    Ok(Item {
        kind: record.subject_name,
        ..Item::new(record.id, record.question, [right])
            .of_kind(AnswerKind::Option)
            .with_options(options)
    })
}
