//! `FOLIO`: whether a conclusion follows from premises; nothing is to be retrieved.
use serde::Deserialize;

use super::load::{Fault, parse};
use super::records::RawRecord;
use super::registry::{COMMON, known};
use super::scifact::verdict_item;
use super::{Beside, DataSetEntry, Format, Item, Pool};
use crate::Metric;

pub(super) const ENTRY: DataSetEntry = DataSetEntry {
    format: Format::Folio,
    name: "folio",
    title: "FOLIO",
    paper: "Han et al., FOLIO: Natural Language Reasoning with First-Order Logic, 2022",
    source: "https://github.com/Yale-LILY/FOLIO, `data/v0.0`",
    licence: "CC BY-SA 4.0",
    shape: "JSON lines; `premises`, `conclusion`, `label` (`True`, `False`, `Uncertain`; the \
            training file says `Unknown` for the last).",
    metric: Metric::Options,
    pool: Pool::Nothing,
    splits: &[
        known(
            "folio-train.jsonl",
            1_004,
            "008d34b750d31fa7f014e953228adf4db81ec34bbda9e7f67c96c60438d1e6b2",
        ),
        known(
            "folio-validation.jsonl",
            204,
            "6922c988ef10987bd6545568ee8e63e897af80994591fa20539767da58f8e3d1",
        ),
    ],
    keys: &["premises", "conclusion", "label"],
    read: item,
    ..COMMON
};

const VERDICTS: [&str; 3] = ["True", "False", "Uncertain"];

#[derive(Deserialize)]
struct Record {
    premises: Premises,
    conclusion: String,
    label: String,
}

/// A list in the first edition, lines of one text in the second.
#[derive(Deserialize)]
#[serde(untagged)]
enum Premises {
    List(Vec<String>),
    Text(String),
}

/// The question is the premises, a line each, then a blank line and the conclusion.
pub(super) fn item(raw: &RawRecord, _: &Beside) -> Result<Item, Fault> {
    let record: Record = parse(raw)?;
    // The training file says `Unknown` where the validation file says `Uncertain`.
    let label = if record.label == "Unknown" { "Uncertain" } else { record.label.as_str() };
    if !VERDICTS.contains(&label) {
        return Err(format!("`{label}` is no verdict of FOLIO").into());
    }
    let premises: Vec<String> = match record.premises {
        Premises::List(premises) => premises,
        Premises::Text(text) => text.lines().map(str::to_owned).collect(),
    };
    if premises.is_empty() {
        return Err("it has no premises".to_owned().into());
    }
    let premises: Vec<&str> = premises.iter().map(|premise| premise.trim()).collect();
    let text = format!("{}\n\n{}", premises.join("\n"), record.conclusion.trim());
    Ok(verdict_item(format!("folio-{}", raw.record), text, label, &VERDICTS))
}
