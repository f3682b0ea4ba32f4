//! Data sets whose answer stands at the end of a longer text, and whose files have no ids: a
//! question's number in its file is its id.
use halma_core::AnswerKind;
use serde::Deserialize;

use super::mapping::after;
use crate::data::companion::CompanionFiles;
use crate::data::item::Item;
use crate::data::raw_record::{Fault, RawRecord, parse};
use crate::metrics::{articles, number_in};

#[derive(Deserialize)]
struct Gsm8kRecord {
    question: String,
    answer: String,
}

/// `GSM8K`: word problems whose answer is a number; nothing is to be retrieved. The answer ends with
/// `####` and the number.
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

#[derive(Deserialize)]
struct LawBenchRecord {
    instruction: String,
    question: String,
    answer: String,
}

/// `LawBench` 3-1 (in Chinese): the articles of the Criminal Law behind facts and a charge. Its
/// other tasks are mappings. The record's question does not ask anything, so the first sentence of its instruction stands
/// before it; the rest of the instruction prescribes a form of reply, which is the business of the
/// strategy's prompts.
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
