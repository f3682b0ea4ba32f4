//! `MuSiQue`: every paragraph says whether it is supporting; a paragraph is one hop. The full
//! edition has each question twice, the second time with a supporting paragraph taken away.
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use crate::data::answers;
use crate::data::companion::CompanionFiles;
use crate::data::item::{Item, Passage};
use crate::data::raw_record::{Fault, RawRecord, parse};
use crate::metrics::GoldPassage;

#[derive(Deserialize)]
struct MusiqueRecord {
    id: String,
    question: String,
    answer: Value,
    #[serde(default)]
    answer_aliases: Vec<String>,
    answerable: Option<bool>,
    #[serde(default)]
    question_decomposition: Vec<Value>,
    paragraphs: Vec<MusiqueParagraph>,
}

#[derive(Deserialize)]
struct MusiqueParagraph {
    title: String,
    #[serde(rename = "paragraph_text")]
    text: String,
    is_supporting: bool,
}

/// The answerable edition.
pub(super) fn answerable(raw: &RawRecord, _: &CompanionFiles) -> Result<Item, Fault> {
    let record: MusiqueRecord = parse(raw)?;
    if record.answerable == Some(false) {
        let reason =
            "it is marked as not answerable; use --format musique-full to score abstaining";
        return Err(reason.to_owned().into());
    }
    answerable_item(record)
}

/// The full edition. Both questions of a pair bear one id, so the unanswerable one is marked.
pub(super) fn full(raw: &RawRecord, _: &CompanionFiles) -> Result<Item, Fault> {
    let record: MusiqueRecord = parse(raw)?;
    match record.answerable {
        Some(true) => answerable_item(record),
        Some(false) => {
            // What it asks for is not there: neither its answer nor what is left of its passages
            // counts.
            let id = format!("{}#unanswerable", record.id);
            let (kind, hops) = hops(&record);
            let contexts = contexts(record.paragraphs);
            let item = Item::new(id, record.question, []);
            Ok(Item { kind, hops, answerable: false, contexts, ..item })
        }
        None => {
            let reason = "it does not say whether it is `answerable`; use --format musique";
            Err(reason.to_owned().into())
        }
    }
}

fn answerable_item(record: MusiqueRecord) -> Result<Item, Fault> {
    let supporting = record.paragraphs.iter().filter(|paragraph| paragraph.is_supporting);
    let gold: Vec<GoldPassage> = supporting
        .map(|one| GoldPassage { title: one.title.clone(), text: one.text.clone() })
        .collect();
    let answers = answers::with_aliases(&record.answer, &record.answer_aliases)?;
    let (kind, hops) = hops(&record);
    let contexts = contexts(record.paragraphs);
    Ok(Item { gold, kind, hops, contexts, ..Item::new(record.id, record.question, answers) })
}

/// The steps of the decomposition; the supporting paragraphs where there is none.
fn hops(record: &MusiqueRecord) -> (Option<String>, Option<u32>) {
    let supporting = record.paragraphs.iter().filter(|paragraph| paragraph.is_supporting).count();
    let steps = record.question_decomposition.len();
    let hops = if steps > 0 { steps } else { supporting };
    let hops = u32::try_from(hops).ok().filter(|hops| *hops > 0);
    (hops.map(|hops| format!("{hops}hop")), hops)
}

fn contexts(paragraphs: Vec<MusiqueParagraph>) -> Arc<[Passage]> {
    paragraphs.into_iter().map(|one| Passage::plain(one.title, one.text)).collect()
}
