//! `GSM8K` and `MAWPS`: word problems whose answer is a number; nothing is to be retrieved.
use halma_core::AnswerKind;
use serde::Deserialize;
use serde_json::Value;

use super::load::{Fault, parse};
use super::records::RawRecord;
use super::registry::{COMMON, known, split};
use super::{Beside, DataSetEntry, Format, Item, Pool, answers};
use crate::Metric;
use crate::metrics::number_in;

pub(super) const GSM8K: DataSetEntry = DataSetEntry {
    format: Format::Gsm8k,
    name: "gsm8k",
    title: "GSM8K",
    paper: "Cobbe et al., Training Verifiers to Solve Math Word Problems, 2021",
    source: "https://github.com/openai/grade-school-math, `grade_school_math/data`",
    licence: "MIT",
    shape: "JSON lines; `answer` is the working, then `####` and the number.",
    metric: Metric::Number,
    pool: Pool::Nothing,
    splits: &[
        known(
            "train.jsonl",
            7_473,
            "17f347dc51477c50d4efb83959dbb7c56297aba886e5544ee2aaed3024813465",
        ),
        known(
            "test.jsonl",
            1_319,
            "3730d312f6e3440559ace48831e51066acaca737f6eabec99bccb9e4b3c39d14",
        ),
    ],
    keys: &["question", "answer"],
    read: gsm8k,
    ..COMMON
};

pub(super) const MAWPS: DataSetEntry = DataSetEntry {
    format: Format::Mawps,
    name: "mawps",
    title: "MAWPS",
    paper: "Koncel-Kedziorski et al., MAWPS: A Math Word Problem Repository, NAACL 2016",
    source: "https://github.com/LYH-YF/MWPToolkit, `dataset/mawps`",
    licence: "MIT",
    shape: "A JSON list; `original_text`, `equation`, `ans` (a number or its text).",
    metric: Metric::Number,
    pool: Pool::Nothing,
    splits: &[split("testset.json", 238)],
    keys: &["original_text", "equation", "ans"],
    read: mawps,
    ..COMMON
};

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
