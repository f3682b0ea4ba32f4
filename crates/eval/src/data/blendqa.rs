//! `BlendQA`: two sub-questions whose answers lie in two sources of different sorts: Wikipedia,
//! a news page of the web, Wikidata.
use serde::Deserialize;
use serde_json::Value;

use super::load::{Fault, parse};
use super::records::RawRecord;
use super::registry::{COMMON, known};
use super::{Beside, DataSetEntry, Format, GoldPassage, Item, Pool, answers};
use crate::Metric;
use crate::metrics::Profile;

pub(super) const ENTRY: DataSetEntry = DataSetEntry {
    format: Format::Blendqa,
    name: "blendqa",
    title: "BlendQA",
    paper: "Xin et al., AtomR: Atomic Operator-Empowered Large Language Models for \
            Heterogeneous Knowledge Reasoning, 2024",
    source: "https://github.com/THU-KEG/AtomR, `datasets/multi_source/BlendQA`",
    licence: "none stated",
    shape: "JSON lines, one file a pair of sources; `sub_q1`, `sub_source1`, `sub_q2`, \
            `sub_source2`, `answers`.",
    metric: Metric::Span(Profile::Atomr),
    pool: Pool::Corpus("Wikipedia, the web and Wikidata, which are not part of the set"),
    splits: &[
        known(
            "kg-web_132.jsonl",
            132,
            "39467881d1e01c6c942eb85d6b5a4614f4b7e07f1c74db27f2b8c1b1965f2267",
        ),
        known(
            "text-kg_163.jsonl",
            163,
            "6a13c65df2c299e99e9cc3d35ba1c5775cea24c6956adb9daf70ad0c8e4e2c9d",
        ),
        known(
            "web-text_150.jsonl",
            150,
            "8ad55a0b2308084213436d7c5ddd7c46ce806a4bfd2be0bb2d24459194ec2430",
        ),
    ],
    keys: &["question", "sub_q1", "sub_q2", "answers|short_answer"],
    read: item,
    ..COMMON
};

#[derive(Deserialize)]
struct Record {
    index: u64,
    #[serde(rename = "type")]
    kind: String,
    question: String,
    answers: Option<Value>,
    short_answer: Option<Value>,
    sub_source1: Value,
    sub_source2: Value,
}

/// The three files count from 0 each, so the kind is a part of the id.
pub(super) fn item(raw: &RawRecord, _: &Beside) -> Result<Item, Fault> {
    let record: Record = parse(raw)?;
    let Some(answer) = record.answers.or(record.short_answer) else {
        return Err("it has neither `answers` nor `short_answer`".to_owned().into());
    };
    let answers = answers::read(&answer)?;
    let id = format!("{}-{}", record.kind, record.index);
    let sources = [&record.sub_source1, &record.sub_source2];
    Ok(Item {
        gold: sources.into_iter().filter_map(gold).collect(),
        hops: Some(2),
        kind: Some(record.kind),
        ..Item::new(id, record.question, answers)
    })
}

/// The title of a page of Wikipedia, by its address, or of a document of one's own base
/// (`halma eval build-blend`); triples and other pages are not passages of a base that could be
/// told by a title.
fn gold(source: &Value) -> Option<GoldPassage> {
    if source.get("source").and_then(Value::as_str) == Some("text") {
        let title = source.get("title")?.as_str()?.to_owned();
        return Some(GoldPassage { title, text: String::new() });
    }
    let (_, page) = source.as_str()?.split_once("wikipedia.org/wiki/")?;
    let page = page.split(['#', '?']).next().unwrap_or(page);
    Some(GoldPassage { title: unescaped(page).replace('_', " "), text: String::new() })
}

/// `%C3%A9` as `é`; what is no UTF-8 stays as it is.
fn unescaped(page: &str) -> String {
    let mut bytes = Vec::with_capacity(page.len());
    let mut rest = page.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let hex = (first == b'%').then(|| after.get(..2)).flatten();
        let byte = hex.and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        bytes.push(byte.unwrap_or(first));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    String::from_utf8(bytes).unwrap_or_else(|_| page.to_owned())
}
