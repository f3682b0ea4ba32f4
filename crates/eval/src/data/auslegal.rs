//! Open Australian Legal QA: a question, its answer, and the excerpt of a law or judgment that
//! both were made from.
use halma_core::AnswerKind;
use serde::Deserialize;

use super::load::{Fault, parse};
use super::records::RawRecord;
use super::{Beside, Item, Passage};

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
