//! Open Australian Legal QA: a question, its answer, and the excerpt of a law or judgment that
//! both were made from.
use halma_core::AnswerKind;
use serde::Deserialize;

use super::load::{Fault, parse};
use super::records::RawRecord;
use super::registry::{COMMON, split};
use super::{Beside, DataSetEntry, Format, Item, Passage};
use crate::Metric;
use crate::metrics::Profile;

pub(super) const ENTRY: DataSetEntry = DataSetEntry {
    format: Format::OpenAustralianLegalQa,
    name: "open-australian-legal-qa",
    title: "Open Australian Legal QA",
    paper: "Butler, Open Australian Legal QA, 2023",
    source: "https://huggingface.co/datasets/umarbutler/open-australian-legal-qa",
    licence: "that of the Open Australian Legal Corpus (per document; see its page)",
    shape: "JSON lines; `source` is the excerpt that question and answer were made from, with \
            `citation` and `text`.",
    metric: Metric::Span(Profile::Squad),
    splits: &[split("qa.jsonl", 2_124)],
    keys: &["question", "answer", "source"],
    read: item,
    ..COMMON
};

#[derive(Deserialize)]
struct Record {
    question: String,
    answer: String,
    source: Source,
}

#[derive(Deserialize)]
struct Source {
    citation: String,
    #[serde(rename = "type")]
    kind: Option<String>,
    text: String,
}

/// The file has no ids: a question's number in it is its id.
pub(super) fn item(raw: &RawRecord, _: &Beside) -> Result<Item, Fault> {
    let Record { question, answer, source } = parse(raw)?;
    let passage = Passage::plain(source.citation, source.text);
    Ok(Item {
        kind: source.kind,
        gold: vec![(&passage).into()],
        contexts: [passage].into(),
        ..Item::new(format!("law-{}", raw.record), question, [answer]).of_kind(AnswerKind::Long)
    })
}
