//! `LawBench`, six of its tasks (in Chinese): `instruction`, `question`, `answer`, the answer with
//! a few words before it that tell the tasks apart.
use halma_core::AnswerKind;
use serde::Deserialize;

use super::load::{Fault, parse};
use super::records::RawRecord;
use super::{Beside, Item};
use crate::metrics::articles;

#[derive(Deserialize)]
struct Record {
    instruction: String,
    question: String,
    answer: String,
}

const LETTERS: [&str; 4] = ["A", "B", "C", "D"];

/// 1-1: the words of an article.
pub(super) fn recitation(raw: &RawRecord, _: &Beside) -> Result<Item, Fault> {
    let record: Record = parse(raw)?;
    let answer = after(&record.answer, "答案")?.to_owned();
    Ok(Item::new(id("1-1", raw), record.question, [answer]).of_kind(AnswerKind::Long))
}

/// 1-2: one of four, about the law.
pub(super) fn knowledge(raw: &RawRecord, _: &Beside) -> Result<Item, Fault> {
    choice("1-2", raw)
}

/// 3-6: one of four, about a case.
pub(super) fn case(raw: &RawRecord, _: &Beside) -> Result<Item, Fault> {
    choice("3-6", raw)
}

/// 3-1: the articles of the Criminal Law behind facts and a charge. The record's question holds no
/// question, so the first sentence of its instruction stands before it; the rest of the
/// instruction prescribes a form of reply, which is the business of the strategy's prompts.
pub(super) fn articles_of_facts(raw: &RawRecord, _: &Beside) -> Result<Item, Fault> {
    let record: Record = parse(raw)?;
    let answer = after(&record.answer, "法条")?.to_owned();
    if articles(&answer).is_empty() {
        return Err(format!("the answer `{answer}` names no article").into());
    }
    let asked = record.instruction.split_inclusive('。').next().unwrap_or_default();
    let text = format!("{asked}\n{}", record.question);
    Ok(Item::new(id("3-1", raw), text, [answer]))
}

/// 3-2: the article that a scenario falls under, in its words.
pub(super) fn articles_of_scenario(raw: &RawRecord, _: &Beside) -> Result<Item, Fault> {
    let record: Record = parse(raw)?;
    if let Some(word) = BEGINNINGS.iter().find(|word| after(&record.answer, word).is_ok()) {
        return Err(format!("the answer begins with `{word}:`; is it another task's file?").into());
    }
    Ok(Item::new(id("3-2", raw), record.question, [record.answer]).of_kind(AnswerKind::Long))
}

/// How the answers of the other tasks begin.
const BEGINNINGS: [&str; 4] = ["答案", "正确答案", "法条", "回答"];

/// 3-8: advice, with the articles it rests on.
pub(super) fn consultation(raw: &RawRecord, _: &Beside) -> Result<Item, Fault> {
    let record: Record = parse(raw)?;
    let answer = after(&record.answer, "回答")?.to_owned();
    Ok(Item::new(id("3-8", raw), record.question, [answer]).of_kind(AnswerKind::Long))
}

/// The options stand in the question, so the choice is between their letters.
fn choice(task: &str, raw: &RawRecord) -> Result<Item, Fault> {
    let record: Record = parse(raw)?;
    let answer = after(&record.answer, "正确答案")?.trim_end_matches('。').trim();
    if !LETTERS.contains(&answer) {
        return Err(format!("the answer `{answer}` is none of A, B, C and D").into());
    }
    let answer = answer.to_owned();
    Ok(Item::new(id(task, raw), record.question, [answer])
        .of_kind(AnswerKind::Option)
        .with_options(LETTERS))
}

/// What follows `word` and its colon, which is of either width.
fn after<'a>(answer: &'a str, word: &str) -> Result<&'a str, Fault> {
    let rest = answer.trim().strip_prefix(word).and_then(|rest| rest.strip_prefix([':', '：']));
    match rest.map(str::trim) {
        Some(rest) if !rest.is_empty() => Ok(rest),
        _ => {
            Err(format!("the answer does not begin with `{word}:`; is it another task's file?")
                .into())
        }
    }
}

/// The files have no ids.
fn id(task: &str, raw: &RawRecord) -> String {
    format!("{task}-{}", raw.record)
}
