//! `SciFact`: claims to be checked against abstracts; as its authors publish it (claims, with
//! `corpus.jsonl` beside them), and as a table of claim and rationale pairs.
use std::collections::BTreeMap;

use halma_core::AnswerKind;
use serde::Deserialize;

use super::load::{Fault, parse};
use super::records::RawRecord;
use super::registry::{COMMON, split};
use super::{Beside, DataSetEntry, Format, GoldPassage, Item, Passage, Pool};
use crate::Metric;

pub(super) const SCIFACT: DataSetEntry = DataSetEntry {
    format: Format::Scifact,
    name: "scifact",
    title: "SciFact",
    paper: "Wadden et al., Fact or Fiction: Verifying Scientific Claims, EMNLP 2020",
    source: "https://github.com/allenai/scifact",
    licence: "CC BY-NC 2.0 (claims)",
    shape: "JSON lines; `evidence` gives, by abstract, rationales with `SUPPORT` or \
            `CONTRADICT`; a claim without is `NOT ENOUGH INFO`. Abstracts come from \
            `corpus.jsonl`.",
    metric: Metric::Options,
    pool: Pool::Corpus("the 5,183 abstracts of `corpus.jsonl`"),
    splits: &[split("claims_train.jsonl", 809), split("claims_dev.jsonl", 300)],
    beside: Some("corpus.jsonl"),
    keys: &["id", "claim", "evidence", "cited_doc_ids"],
    read: claim,
    ..COMMON
};

pub(super) const SCIFACT_PAIRS: DataSetEntry = DataSetEntry {
    format: Format::ScifactPairs,
    name: "scifact-pairs",
    title: "SciFact (pairs)",
    paper: "Wadden et al., Fact or Fiction: Verifying Scientific Claims, EMNLP 2020",
    source: "SciFact's claims and rationales as a table; several benchmarks pass it on so",
    licence: "CC BY-NC 2.0 (claims)",
    shape: "A table with tabs: `index`, `sentence1` (the rationale), `sentence2` (the claim), \
            `entailment` (`entailment` or `not_entailment`).",
    metric: Metric::Options,
    keys: &["index", "sentence1", "sentence2", "entailment"],
    table: true,
    read: pair,
    ..COMMON
};

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

pub(super) fn claim(raw: &RawRecord, beside: &Beside) -> Result<Item, Fault> {
    let claim: Claim = parse(raw)?;
    let labels = claim.evidence.values().flatten().map(|rationale| rationale.label.as_str());
    let labels: Vec<&str> = labels.collect();
    let verdict = match labels.first() {
        None => VERDICTS[2],
        Some(label) if !VERDICTS.contains(label) => {
            return Err(format!("`{label}` is no verdict of SciFact").into());
        }
        Some(label) if labels.iter().any(|other| other != label) => {
            return Err("its abstracts give different verdicts, so it has no one answer"
                .to_owned()
                .into());
        }
        Some(label) => label,
    };
    let gold = claim.evidence.keys().map(|id| match beside.passages.get(id) {
        Some(passage) => passage.into(),
        None => GoldPassage { title: id.clone(), text: String::new() },
    });
    let cited = claim.cited_doc_ids.iter();
    Ok(Item {
        gold: gold.collect(),
        contexts: cited.filter_map(|id| beside.passages.get(&id.to_string()).cloned()).collect(),
        ..verdict_item(claim.id.to_string(), claim.text, verdict, &VERDICTS)
    })
}

const ENTAILED: [&str; 2] = ["entailment", "not_entailment"];

#[derive(Deserialize)]
struct Pair {
    index: String,
    sentence1: String,
    sentence2: String,
    entailment: String,
}

/// The rationale is a passage to be found; it has no title but the pair's number.
pub(super) fn pair(raw: &RawRecord, _: &Beside) -> Result<Item, Fault> {
    let pair: Pair = parse(raw)?;
    if !ENTAILED.contains(&pair.entailment.as_str()) {
        let reason = format!("`{}` is neither `entailment` nor `not_entailment`", pair.entailment);
        return Err(reason.into());
    }
    let passage = Passage::plain(format!("Abstract {}", pair.index), pair.sentence1);
    Ok(Item {
        gold: vec![(&passage).into()],
        contexts: [passage].into(),
        ..verdict_item(pair.index, pair.sentence2, &pair.entailment, &ENTAILED)
    })
}

/// A claim with its verdicts to choose from; the kind is the verdict itself, because data sets of
/// claims are reported by it.
pub(super) fn verdict_item(id: String, claim: String, verdict: &str, all: &[&str]) -> Item {
    let item = Item::new(id, claim, [verdict.to_owned()]).of_kind(AnswerKind::Verdict);
    Item { kind: Some(verdict.to_owned()), ..item.with_options(all.iter().copied()) }
}
