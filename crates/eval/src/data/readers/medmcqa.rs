//! `MedMCQA`: four options `opa` to `opd`, the right one by its number `cop`, counted from 1.
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

pub(super) fn item(raw: &RawRecord, _: &CompanionFiles) -> Result<Item, Fault> {
    let record: MedMcqaRecord = parse(raw)?;
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
            .with_answer_kind(AnswerKind::Option)
            .with_options(options)
    })
}
