//! `HotpotQA` and `2WikiMultiHopQA`: `context` holds paragraphs as `[title, [sentences]]`,
//! `supporting_facts` names the sentences that matter as `[title, index]`.
use serde::Deserialize;
use serde_json::Value;

use super::load::{Fault, parse};
use super::records::RawRecord;
use super::registry::{COMMON, split};
use super::{Beside, DataSetEntry, Format, GoldPassage, Item, Passage, answers};
use crate::Metric;
use crate::metrics::Profile;

pub(super) const HOTPOTQA: DataSetEntry = DataSetEntry {
    format: Format::Hotpotqa,
    name: "hotpotqa",
    title: "HotpotQA",
    paper: "Yang et al., HotpotQA: A Dataset for Diverse, Explainable Multi-hop Question \
            Answering, EMNLP 2018",
    source: "https://hotpotqa.github.io",
    licence: "CC BY-SA 4.0",
    shape: "A JSON list; `context` holds ten paragraphs as `[title, [sentences]]`, \
            `supporting_facts` names sentences as `[title, index]`.",
    metric: Metric::Span(Profile::Hotpot),
    splits: &[
        split("hotpot_train_v1.1.json", 90_447),
        split("hotpot_dev_distractor_v1.json", 7_405),
        split("hotpot_dev_fullwiki_v1.json", 7_405),
    ],
    keys: &["_id|id", "question", "answer", "supporting_facts|context"],
    without: &["evidences", "paragraphs"],
    read: item,
    ..COMMON
};

pub(super) const TWO_WIKI: DataSetEntry = DataSetEntry {
    format: Format::TwoWiki,
    name: "2wiki",
    title: "2WikiMultiHopQA",
    paper: "Ho et al., Constructing A Multi-hop QA Dataset for Comprehensive Evaluation of \
            Reasoning Steps, COLING 2020",
    source: "https://github.com/Alab-NII/2wikimultihop",
    licence: "Apache-2.0",
    shape: "HotpotQA's shape with `evidences` (triples). Aliases of the answers come from \
            `id_aliases.json`, by `answer_id`.",
    metric: Metric::Span(Profile::Hotpot),
    splits: &[split("train.json", 167_454), split("dev.json", 12_576)],
    beside: Some("id_aliases.json"),
    keys: &["_id|id", "question", "answer", "supporting_facts|context"],
    without: &["level", "paragraphs"],
    read: item,
    ..COMMON
};

#[derive(Deserialize)]
struct Record {
    #[serde(rename = "_id", alias = "id")]
    id: String,
    question: String,
    answer: Value,
    /// The answer's entity, in 2Wiki's later editions.
    answer_id: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    supporting_facts: Vec<(String, usize)>,
    /// Left out in the full-wiki setting; then the base decides what can be found.
    #[serde(default)]
    context: Vec<(String, Vec<String>)>,
    evidences: Option<Vec<Value>>,
}

pub(super) fn item(raw: &RawRecord, beside: &Beside) -> Result<Item, Fault> {
    let record: Record = parse(raw)?;
    let gold = gold(&record);
    let aliases = record.answer_id.as_ref().and_then(|id| beside.aliases.get(id));
    let answers = answers::with_aliases(&record.answer, aliases.map_or(&[], Vec::as_slice))?;
    let hops = record.evidences.as_ref().map_or(gold.len(), Vec::len);
    let passage = |(title, sentences): &(String, Vec<String>)| {
        Passage::plain(title.clone(), joined(sentences))
    };
    Ok(Item {
        gold,
        kind: record.kind,
        hops: u32::try_from(hops).ok().filter(|hops| *hops > 0),
        contexts: record.context.iter().map(passage).collect(),
        ..Item::new(record.id, record.question, answers)
    })
}

/// One passage for each title that is named. A title that several paragraphs bear is the first of
/// them that has the sentence; some indexes point past the end, then it is the first of all.
fn gold(record: &Record) -> Vec<GoldPassage> {
    let mut gold: Vec<GoldPassage> = vec![];
    for (title, sentence) in &record.supporting_facts {
        if gold.iter().any(|passage| passage.title == *title) {
            continue;
        }
        let bearers = || record.context.iter().filter(|(bearer, _)| bearer == title);
        let paragraph = bearers().find(|(_, s)| s.len() > *sentence).or_else(|| bearers().next());
        let text = paragraph.map(|(_, sentences)| joined(sentences)).unwrap_or_default();
        gold.push(GoldPassage { title: title.clone(), text });
    }
    gold
}

/// `HotpotQA`'s sentences bring the space that parts them, 2Wiki's do not.
fn joined(sentences: &[String]) -> String {
    let mut text = String::new();
    for sentence in sentences {
        if !text.is_empty() && !sentence.starts_with(char::is_whitespace) {
            text.push(' ');
        }
        text.push_str(sentence);
    }
    text
}
