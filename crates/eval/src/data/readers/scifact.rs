//! `SciFact` as its authors publish it: claims to be checked against the abstracts of
//! `corpus.jsonl`.
use std::collections::BTreeMap;

use halma_core::AnswerKind;
use serde::Deserialize;

use crate::data::companion::CompanionFiles;
use crate::data::item::Item;
use crate::data::raw_record::{Fault, RawRecord, parse};
use crate::metrics::GoldPassage;

/// What its authors call the verdicts; a claim without evidence is the third.
const VERDICTS: [&str; 3] = ["SUPPORT", "CONTRADICT", "NOT ENOUGH INFO"];

#[derive(Deserialize)]
struct Claim {
    id: u64,
    #[serde(rename = "claim")]
    text: String,
    evidence: BTreeMap<String, Vec<Rationale>>,
    #[serde(default)]
    cited_doc_ids: Vec<u64>,
}

#[derive(Deserialize)]
struct Rationale {
    label: String,
}

pub(super) fn claim(raw: &RawRecord, companion: &CompanionFiles) -> Result<Item, Fault> {
    let claim: Claim = parse(raw)?;
    let labels = claim.evidence.values().flatten().map(|rationale| rationale.label.as_str());
    let labels: Vec<&str> = labels.collect();
    let verdict = match labels.first() {
        None => VERDICTS[2],
        Some(label) if !VERDICTS.contains(label) => {
            return Err(format!("`{label}` is not a verdict of SciFact").into());
        }
        Some(label) if labels.iter().any(|other| other != label) => {
            return Err("its abstracts give different verdicts, so it has no one answer"
                .to_owned()
                .into());
        }
        Some(label) => label,
    };
    let gold = claim.evidence.keys().map(|id| match companion.passages.get(id) {
        Some(passage) => passage.into(),
        None => GoldPassage { title: id.clone(), text: String::new() },
    });
    let cited = claim.cited_doc_ids.iter();
    Ok(Item {
        gold: gold.collect(),
        contexts: cited.filter_map(|id| companion.passages.get(&id.to_string()).cloned()).collect(),
        ..verdict_item(claim.id.to_string(), claim.text, verdict, &VERDICTS)
    })
}

/// A claim with its verdicts to choose from; the kind is the verdict itself, because data sets of
/// claims are reported by it.
pub(super) fn verdict_item(id: String, claim: String, verdict: &str, all: &[&str]) -> Item {
    let item = Item::new(id, claim, [verdict.to_owned()]).with_answer_kind(AnswerKind::Verdict);
    Item { kind: Some(verdict.to_owned()), ..item.with_options(all.iter().copied()) }
}
