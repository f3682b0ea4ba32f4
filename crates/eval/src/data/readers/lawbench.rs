//! `LawBench` 3-1 (in Chinese): the articles of the Criminal Law behind facts and a charge. Its
//! other tasks are mappings.
use serde::Deserialize;

use super::mapping::after;
use crate::data::companion::CompanionFiles;
use crate::data::item::Item;
use crate::data::raw_record::{Fault, RawRecord, parse};
use crate::metrics::articles;

#[derive(Deserialize)]
struct LawBenchRecord {
    instruction: String,
    question: String,
    answer: String,
}

/// The record's question does not ask anything, so the first sentence of its instruction stands
/// before it; the rest of the instruction prescribes a form of reply, which is the business of the
/// strategy's prompts. The file has no ids.
pub(super) fn lawbench_articles(raw: &RawRecord, _: &CompanionFiles) -> Result<Item, Fault> {
    let record: LawBenchRecord = parse(raw)?;
    let answer = after(&record.answer, "法条")?.to_owned();
    if articles(&answer).is_empty() {
        return Err(format!("the answer `{answer}` names no article").into());
    }
    let instruction = record.instruction.split_inclusive('。').next().unwrap_or_default();
    let text = format!("{instruction}\n{}", record.question);
    Ok(Item::new(format!("3-1-{}", raw.record), text, [answer]))
}
