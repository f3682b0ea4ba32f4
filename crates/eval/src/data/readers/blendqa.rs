//! `BlendQA`: two sub-questions whose answers lie in two sources of different sorts: Wikipedia,
//! a news page of the web, Wikidata.
use serde::Deserialize;
use serde_json::Value;

use crate::data::answers;
use crate::data::companion::CompanionFiles;
use crate::data::item::Item;
use crate::data::raw_record::{Fault, RawRecord, parse};
use crate::data::selection::tags;
use crate::metrics::GoldPassage;

#[derive(Deserialize)]
struct BlendQaRecord {
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
pub(super) fn item(raw: &RawRecord, _: &CompanionFiles) -> Result<Item, Fault> {
    let record: BlendQaRecord = parse(raw)?;
    let Some(answer) = record.answers.or(record.short_answer) else {
        return Err("it has neither `answers` nor `short_answer`".to_owned().into());
    };
    let answers = answers::read(&answer)?;
    let id = format!("{}-{}", record.kind, record.index);
    let sources = [&record.sub_source1, &record.sub_source2];
    let pair = pair_of_sources(&record.kind);
    Ok(Item {
        tags: tags([("type", Some(record.kind.clone()))]),
        gold: sources.into_iter().filter_map(gold).collect(),
        hops: Some(2),
        kind: Some(pair.map_or(record.kind, str::to_owned)),
        ..Item::new(id, record.question, answers)
    })
}

/// The paper's name for the sources of the two halves, in either order (Section 4.1.2): `k2w` and
/// `w2k` are both KG-Web.
fn pair_of_sources(kind: &str) -> Option<&'static str> {
    match kind.rsplit('_').next()? {
        "k2w" | "w2k" => Some("KG-Web"),
        "t2k" | "k2t" => Some("KG-Text"),
        "t2w" | "w2t" => Some("Text-Web"),
        _ => None,
    }
}

/// The title of a page of Wikipedia, by its address, or of a document of the user's own base
/// (`halma eval build-blend`); triples and other pages are not passages of a base that could be
/// told by a title.
fn gold(source: &Value) -> Option<GoldPassage> {
    if source.get("source").and_then(Value::as_str) == Some("text") {
        let title = source.get("title")?.as_str()?.to_owned();
        return Some(GoldPassage { title, text: String::new() });
    }
    Some(GoldPassage { title: page_title(source.as_str()?)?, text: String::new() })
}

/// The title of the page of Wikipedia at an address.
pub(super) fn page_title(address: &str) -> Option<String> {
    let (_, page) = address.split_once("wikipedia.org/wiki/")?;
    let page = page.split(['#', '?']).next().unwrap_or(page);
    Some(unescaped(page.trim()).replace('_', " "))
}

/// `%C3%A9` as `é`; what is not UTF-8 stays as it is.
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
