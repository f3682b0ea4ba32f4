//! `GSM8K` and `MAWPS`: word problems whose answer is a number; nothing is to be retrieved.
use halma_core::AnswerKind;
use serde::Deserialize;
use serde_json::Value;

use super::load::{Fault, parse};
use super::records::RawRecord;
use super::{Beside, Item, answers};
use crate::metrics::number_in;

#[derive(Deserialize)]
struct Gsm8k {
    question: String,
    answer: String,
}

/// The answer ends with `####` and the number. The file has no ids: a question's number in it is
/// its id.
pub(super) fn gsm8k(raw: &RawRecord, _: &Beside) -> Result<Item, Fault> {
    let record: Gsm8k = parse(raw)?;
    let Some((_, last)) = record.answer.rsplit_once("####") else {
        return Err("the answer has no `####` before its number".to_owned().into());
    };
    let number = last.trim().replace(',', "");
    number_item(format!("gsm8k-{}", raw.record), record.question, number)
}

#[derive(Deserialize)]
struct Mawps {
    id: Value,
    original_text: String,
    #[serde(rename = "ans")]
    answer: Value,
}

pub(super) fn mawps(raw: &RawRecord, _: &Beside) -> Result<Item, Fault> {
    let record: Mawps = parse(raw)?;
    let id = match &record.id {
        Value::String(id) => id.clone(),
        id => id.to_string(),
    };
    let answers = answers::read(&record.answer)?;
    number_item(id, record.original_text, answers::plain(&answers[0]))
}

fn number_item(id: String, text: String, number: String) -> Result<Item, Fault> {
    if number_in(&number).is_none() {
        return Err(format!("the answer `{number}` is no number").into());
    }
    Ok(Item::new(id, text, [number]).of_kind(AnswerKind::Number))
}
