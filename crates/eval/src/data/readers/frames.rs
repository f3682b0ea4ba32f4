//! `FRAMES`: questions over several pages of Wikipedia, which are named by their addresses.
use serde_json::{Map, Value};

use super::blendqa::page_title;
use crate::data::answers;
use crate::data::companion::CompanionFiles;
use crate::data::item::Item;
use crate::data::raw_record::{Fault, RawRecord, parse};
use crate::metrics::GoldPassage;

/// The pages are in columns of their own, `wikipedia_link_1` and so on.
pub(super) fn item(raw: &RawRecord, _: &CompanionFiles) -> Result<Item, Fault> {
    let record: Map<String, Value> = parse(raw)?;
    let field = |key: &str| record.get(key).and_then(Value::as_str).map(unquoted);
    let missing = |key: &str| format!("it has no `{key}`");
    let question = field("Prompt").ok_or_else(|| missing("Prompt"))?;
    let answer = field("Answer").ok_or_else(|| missing("Answer"))?;
    let mut gold: Vec<GoldPassage> = vec![];
    for (key, value) in &record {
        let title = value.as_str().and_then(page_title).filter(|_| key.starts_with(LINK));
        if let Some(title) = title.filter(|title| gold.iter().all(|one| one.title != *title)) {
            gold.push(GoldPassage { title, text: String::new() });
        }
    }
    Ok(Item {
        hops: u32::try_from(gold.len()).ok().filter(|hops| *hops > 0),
        gold,
        kind: field("reasoning_types"),
        ..Item::new(format!("frames-{}", raw.record), question, answers::read(&answer.into())?)
    })
}

/// What the names of the columns with pages begin with.
const LINK: &str = "wikipedia_link";

/// A cell as its author wrote it.
fn unquoted(cell: &str) -> String {
    let inner = cell.strip_prefix('"').and_then(|cell| cell.strip_suffix('"'));
    inner.map_or_else(|| cell.to_owned(), |inner| inner.replace("\"\"", "\""))
}
