//! `GSM8K`: word problems whose answer is a number; nothing is to be retrieved.
use halma_core::AnswerKind;
use serde::Deserialize;

use crate::data::companion::CompanionFiles;
use crate::data::item::Item;
use crate::data::raw_record::{Fault, RawRecord, parse};
use crate::metrics::number_in;

#[derive(Deserialize)]
struct Gsm8kRecord {
    question: String,
    answer: String,
}

/// The answer ends with `####` and the number. The file has no ids: a question's number in it is
/// its id.
pub(super) fn gsm8k(raw: &RawRecord, _: &CompanionFiles) -> Result<Item, Fault> {
    let record: Gsm8kRecord = parse(raw)?;
    let Some((_, last)) = record.answer.rsplit_once("####") else {
        return Err("the answer has no `####` before its number".to_owned().into());
    };
    let number = last.trim().replace(',', "");
    if number_in(&number).is_none() {
        return Err(format!("the answer `{number}` is not a number").into());
    }
    let id = format!("gsm8k-{}", raw.record);
    Ok(Item::new(id, record.question, [number]).with_answer_kind(AnswerKind::Number))
}
