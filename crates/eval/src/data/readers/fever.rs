//! `FEVER`: claims to be checked against Wikipedia of June 2017, whose pages come in files of
//! their own; the records name pages and sentences.
use serde::Deserialize;
use serde_json::Value;

use super::scifact::verdict_item;
use crate::data::companion::CompanionFiles;
use crate::data::item::Item;
use crate::data::raw_record::{Fault, RawRecord, parse};
use crate::metrics::GoldPassage;

const VERDICTS: [&str; 3] = ["SUPPORTS", "REFUTES", "NOT ENOUGH INFO"];

/// `[annotation, evidence, page, sentence]` of each sentence; without a page where the annotator
/// found nothing.
type Set = Vec<(Value, Value, Option<String>, Value)>;

#[derive(Deserialize)]
struct FeverRecord {
    id: u64,
    claim: String,
    label: String,
    /// Each set is enough by itself.
    evidence: Vec<Set>,
}

pub(super) fn item(raw: &RawRecord, _: &CompanionFiles) -> Result<Item, Fault> {
    let record: FeverRecord = parse(raw)?;
    if !VERDICTS.contains(&record.label.as_str()) {
        return Err(format!("`{}` is not a verdict of FEVER", record.label).into());
    }
    Ok(Item {
        gold: gold(&record.evidence),
        hops: hops(&record.evidence),
        ..verdict_item(record.id.to_string(), record.claim, &record.label, &VERDICTS)
    })
}

/// The pages of the smallest set, the first of equals: any one set is enough, and asking for all
/// of them would measure the annotators' zeal.
fn gold(sets: &[Set]) -> Vec<GoldPassage> {
    let pages = smallest(sets).unwrap_or_default();
    pages.into_iter().map(|title| GoldPassage { title, text: String::new() }).collect()
}

fn hops(sets: &[Set]) -> Option<u32> {
    smallest(sets).and_then(|pages| u32::try_from(pages.len()).ok())
}

fn smallest(sets: &[Set]) -> Option<Vec<String>> {
    let pages = sets.iter().map(|set| {
        let mut pages: Vec<String> = vec![];
        for page in set.iter().filter_map(|(_, _, page, _)| page.as_deref()) {
            let title = title(page);
            if !pages.contains(&title) {
                pages.push(title);
            }
        }
        pages
    });
    pages.filter(|pages| !pages.is_empty()).min_by_key(Vec::len)
}

/// Page names are written as in an address, with brackets spelt out.
fn title(page: &str) -> String {
    let plain = page.replace('_', " ");
    let spelt = [("-LRB-", "("), ("-RRB-", ")"), ("-LSB-", "["), ("-RSB-", "]"), ("-COLON-", ":")];
    spelt.iter().fold(plain, |text, (from, to)| text.replace(from, to))
}
