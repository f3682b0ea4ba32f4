//! `MedMCQA`: four options `opa` to `opd`, the right one by its number `cop`.
use halma_core::AnswerKind;
use serde::Deserialize;

use crate::data::companion::CompanionFiles;
use crate::data::item::Item;
use crate::data::raw_record::{Fault, RawRecord, parse};

#[derive(Deserialize)]
struct MedMcqaRecord {
    id: String,
    question: String,
    opa: String,
    opb: String,
    opc: String,
    opd: String,
    cop: usize,
    subject_name: Option<String>,
}

/// As the authors' own file counts.
pub(super) fn from_one(raw: &RawRecord, _: &CompanionFiles) -> Result<Item, Fault> {
    let record: MedMcqaRecord = parse(raw)?;
    // A copy that counts from 0 would be scored wrong throughout and look well formed.
    if record.cop == 0 {
        return Err(Fault::File(
            "`cop` is 0, so this copy counts the options from 0 and not from 1; \
             read it with --format medmcqa-from-0"
                .into(),
        ));
    }
    let place = record.cop - 1;
    item(record, place)
}

/// As the copies do that are passed on with the splits of the hub.
pub(super) fn from_zero(raw: &RawRecord, _: &CompanionFiles) -> Result<Item, Fault> {
    let record: MedMcqaRecord = parse(raw)?;
    if record.cop == 4 {
        return Err(Fault::File(
            "`cop` is 4, so this file counts the options from 1; read it with --format medmcqa"
                .into(),
        ));
    }
    let place = record.cop;
    item(record, place)
}

fn item(record: MedMcqaRecord, place: usize) -> Result<Item, Fault> {
    let options = [record.opa, record.opb, record.opc, record.opd];
    let Some(right) = options.get(place).cloned() else {
        return Err(format!("`cop` is {}, and there are four options", record.cop).into());
    };
    Ok(Item {
        kind: record.subject_name,
        ..Item::new(record.id, record.question, [right])
            .with_answer_kind(AnswerKind::Option)
            .with_options(options)
    })
}
