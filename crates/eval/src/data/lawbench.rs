//! `LawBench`, six of its tasks (in Chinese): `instruction`, `question`, `answer`, the answer with
//! a few words before it that tell the tasks apart.
use halma_core::AnswerKind;
use serde::Deserialize;

use super::load::{Fault, parse};
use super::records::RawRecord;
use super::registry::{COMMON, known};
use super::{Beside, DataSetEntry, Format, Item, Pool};
use crate::Metric;
use crate::metrics::articles;

/// What the six tasks of `LawBench` share.
const LAWBENCH: DataSetEntry = DataSetEntry {
    paper: "Fei et al., LawBench: Benchmarking Legal Knowledge of Large Language Models, 2023",
    source: "https://github.com/open-compass/LawBench, `data/zero_shot`",
    licence: "Apache-2.0",
    shape: "A JSON list with `instruction`, `question` and `answer`, in Chinese.",
    pool: Pool::Corpus("the laws themselves, which are not part of the set"),
    keys: &["instruction", "question", "answer"],
    ..COMMON
};

pub(super) const LAWBENCH_1_1: DataSetEntry = DataSetEntry {
    format: Format::Lawbench11,
    name: "lawbench-1-1",
    title: "LawBench 1-1 (statute recitation)",
    metric: Metric::RougeL,
    splits: &[known(
        "1-1.json",
        500,
        "2e4fbcb42a7e7cce6f1a3f771a01cf7896384aecdc5b2900c74550497426c40e",
    )],
    read: recitation,
    ..LAWBENCH
};

pub(super) const LAWBENCH_1_2: DataSetEntry = DataSetEntry {
    format: Format::Lawbench12,
    name: "lawbench-1-2",
    title: "LawBench 1-2 (knowledge of the law)",
    metric: Metric::LawOption,
    splits: &[known(
        "1-2.json",
        500,
        "860d9f9e64706d5396d014027e571e1191b25c753fbea35a31710fc741fa8aa3",
    )],
    read: knowledge,
    ..LAWBENCH
};

pub(super) const LAWBENCH_3_1: DataSetEntry = DataSetEntry {
    format: Format::Lawbench31,
    name: "lawbench-3-1",
    title: "LawBench 3-1 (articles behind facts)",
    metric: Metric::LawArticles,
    splits: &[known(
        "3-1.json",
        500,
        "6ca91fff5ab6cd4fd6f46316edf0e4c6fd5bddd3ebf73ad3e7dc505e29591c1a",
    )],
    read: articles_of_facts,
    ..LAWBENCH
};

pub(super) const LAWBENCH_3_2: DataSetEntry = DataSetEntry {
    format: Format::Lawbench32,
    name: "lawbench-3-2",
    title: "LawBench 3-2 (articles behind a scenario)",
    metric: Metric::RougeL,
    splits: &[known(
        "3-2.json",
        500,
        "2e209fb2343db7dea424131ac8f7cb41d1bd291e6fe09be761e474eb1fdaa87d",
    )],
    read: articles_of_scenario,
    ..LAWBENCH
};

pub(super) const LAWBENCH_3_6: DataSetEntry = DataSetEntry {
    format: Format::Lawbench36,
    name: "lawbench-3-6",
    title: "LawBench 3-6 (case analysis)",
    metric: Metric::LawOption,
    splits: &[known(
        "3-6.json",
        500,
        "17f8f78c9c279417455cd543577468acb16e88a3193b73c1f3d67240b8fe7fdf",
    )],
    read: case,
    ..LAWBENCH
};

pub(super) const LAWBENCH_3_8: DataSetEntry = DataSetEntry {
    format: Format::Lawbench38,
    name: "lawbench-3-8",
    title: "LawBench 3-8 (consultation)",
    metric: Metric::RougeL,
    splits: &[known(
        "3-8.json",
        500,
        "3eb1989dd55e03e1414d8a68854e551e044d8d32544971e63c9d24d271374382",
    )],
    read: consultation,
    ..LAWBENCH
};

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
