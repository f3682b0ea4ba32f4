//! Questions with options, of which one is right; nothing is to be retrieved: `LogiQA`, `MedQA`,
//! `MedMCQA`.
use std::collections::BTreeMap;

use halma_core::AnswerKind;
use serde::Deserialize;
use serde_json::Value;

use crate::data::companion::CompanionFiles;
use crate::data::item::Item;
use crate::data::raw_record::{Fault, RawRecord, parse};

/// The item of a question whose right option is the one at `place`; `field` holds it as `given`.
fn item(
    [id, question]: [String; 2],
    options: Vec<String>,
    place: Option<usize>,
    (field, given): (&str, &str),
) -> Result<Item, Fault> {
    let Some(right) = place.and_then(|place| options.get(place)).cloned() else {
        let count = options.len();
        return Err(format!("`{field}` is {given}, and there are {count} options").into());
    };
    Ok(Item::new(id, question, [right]).with_answer_kind(AnswerKind::Option).with_options(options))
}

/// `LogiQA 2.0`: a passage, a question about it, four options.
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
pub(super) fn logiqa2(raw: &RawRecord, _: &CompanionFiles) -> Result<Item, Fault> {
    let record: LogiQa2Record = parse(raw)?;
    let kinds = record.kinds.iter().filter(|(_, yes)| **yes);
    let kinds: Vec<&str> =
        kinds.map(|(kind, _)| kind.strip_suffix(" Reasoning").unwrap_or(kind)).collect();
    let id = format!("{}-{}", record.id, raw.record);
    let question = format!("{}\n\n{}", record.text.trim(), record.question.trim());
    let given = ("answer", &*record.answer.to_string());
    let item = item([id, question], record.options, Some(record.answer), given)?;
    Ok(Item { kind: (!kinds.is_empty()).then(|| kinds.join(" + ")), ..item })
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
pub(super) fn logiqa(raw: &RawRecord, _: &CompanionFiles) -> Result<Item, Fault> {
    let record: LogiQaRecord = parse(raw)?;
    let given = match &record.correct_option {
        Value::String(text) => text.trim().to_lowercase(),
        other => other.to_string(),
    };
    let place = "abcd".find(&given).filter(|_| given.len() == 1).or_else(|| given.parse().ok());
    let id = format!("logiqa-{}", raw.record);
    let question = format!("{}\n\n{}", record.context.trim(), record.query.trim());
    item([id, question], record.options, place, ("correct_option", &given))
}

/// `MedQA` (US): a question of a medical examination with lettered options.
#[derive(Deserialize)]
struct MedQaRecord {
    question: String,
    answer: String,
    options: BTreeMap<String, String>,
    answer_idx: String,
    meta_info: Option<String>,
}

/// The file has no ids: a question's number in it is its id.
pub(super) fn medqa(raw: &RawRecord, _: &CompanionFiles) -> Result<Item, Fault> {
    let record: MedQaRecord = parse(raw)?;
    let given = &record.answer_idx;
    let Some(place) = record.options.keys().position(|letter| letter == given) else {
        return Err(format!("`answer_idx` is `{given}`, which is not an option").into());
    };
    if record.options[given].trim() != record.answer.trim() {
        return Err(format!("option {given} is not `{}`", record.answer).into());
    }
    let id = format!("medqa-{}", raw.record);
    let options = record.options.into_values().collect();
    let item =
        item([id, record.question], options, Some(place), ("answer_idx", &record.answer_idx))?;
    Ok(Item { kind: record.meta_info, ..item })
}

/// `MedMCQA`: four options `opa` to `opd`, the right one by its number `cop`.
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
pub(super) fn medmcqa(raw: &RawRecord, _: &CompanionFiles) -> Result<Item, Fault> {
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
    medmcqa_item(record, place)
}

/// As the copies do that are passed on with the splits of the hub.
pub(super) fn medmcqa_from_0(raw: &RawRecord, _: &CompanionFiles) -> Result<Item, Fault> {
    let record: MedMcqaRecord = parse(raw)?;
    if record.cop == 4 {
        return Err(Fault::File(
            "`cop` is 4, so this file counts the options from 1; read it with --format medmcqa"
                .into(),
        ));
    }
    let place = record.cop;
    medmcqa_item(record, place)
}

fn medmcqa_item(record: MedMcqaRecord, place: usize) -> Result<Item, Fault> {
    let options = [record.opa, record.opb, record.opc, record.opd];
    if place >= options.len() {
        return Err(format!("`cop` is {}, and there are four options", record.cop).into());
    }
    let item = item([record.id, record.question], options.into(), Some(place), ("cop", ""))?;
    Ok(Item { kind: record.subject_name, ..item })
}
