//! `CRAG`: questions of the web with the pages that a search found; in the organisers' form and in
//! the shorter one without pages in which `AtomR`'s authors pass it on.
use serde::Deserialize;
use serde_json::Value;

use crate::data::answers;
use crate::data::companion::CompanionFiles;
use crate::data::item::{Item, Passage};
use crate::data::raw_record::{Fault, RawRecord, parse};
use crate::data::selection::tags;

#[derive(Deserialize)]
struct CragRecord {
    #[serde(alias = "question_id")]
    interaction_id: String,
    #[serde(alias = "question")]
    query: String,
    #[serde(alias = "answers")]
    answer: Value,
    /// A list, or a text that holds one.
    alternative_answers: Option<Value>,
    question_type: Option<String>,
    query_time: Option<String>,
    /// How fast the answer changes: `static`, `slow-changing`, `fast-changing`, `real-time`.
    static_or_dynamic: Option<String>,
    domain: Option<String>,
    #[serde(default)]
    search_results: Vec<CragPage>,
}

#[derive(Deserialize)]
struct CragPage {
    #[serde(default, rename = "page_name")]
    name: String,
    #[serde(default, rename = "page_url")]
    url: String,
    #[serde(default, rename = "page_snippet")]
    snippet: String,
    /// HTML; left out in some editions.
    #[serde(default, rename = "page_result")]
    result: String,
}

pub(super) fn item(raw: &RawRecord, _: &CompanionFiles) -> Result<Item, Fault> {
    let record: CragRecord = parse(raw)?;
    let aliases = aliases(record.alternative_answers.as_ref())?;
    let answers = answers::with_aliases(&record.answer, &aliases)?;
    Ok(Item {
        kind: record.question_type,
        tags: tags([("static_or_dynamic", record.static_or_dynamic), ("domain", record.domain)]),
        contexts: record.search_results.into_iter().filter_map(passage).collect(),
        ..Item::new(record.interaction_id, record.query, answers).with_asked_at(record.query_time)
    })
}

fn aliases(value: Option<&Value>) -> Result<Vec<String>, Fault> {
    let listed = match value {
        None | Some(Value::Null) => return Ok(vec![]),
        Some(Value::String(text)) if text.trim().is_empty() => return Ok(vec![]),
        Some(Value::String(text)) => serde_json::from_str(text).ok(),
        Some(value) => Some(value.clone()),
    };
    let Some(Value::Array(mut values)) = listed else {
        return Err("`alternative_answers` is not a list".to_owned().into());
    };
    values.retain(|value| !value.as_str().is_some_and(|text| text.trim().is_empty()));
    if values.is_empty() { Ok(vec![]) } else { Ok(answers::read(&Value::Array(values))?) }
}

/// The page, or the words that the search engine showed of it.
fn passage(page: CragPage) -> Option<Passage> {
    let title = if page.name.trim().is_empty() { page.url } else { page.name };
    let html = !page.result.trim().is_empty();
    let text = if html { page.result } else { page.snippet };
    (!text.trim().is_empty()).then_some(Passage { title, text, html })
}
