//! `HotpotQA` and `2WikiMultiHopQA`: `context` holds paragraphs as `[title, [sentences]]`,
//! `supporting_facts` names the sentences that matter as `[title, index]`.
use serde::Deserialize;
use serde_json::Value;

use crate::data::answers;
use crate::data::companion::CompanionFiles;
use crate::data::item::{Item, Passage};
use crate::data::raw_record::{Fault, RawRecord, parse};
use crate::metrics::GoldPassage;

#[derive(Deserialize)]
struct ContextsRecord {
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

pub(super) fn item(raw: &RawRecord, companion: &CompanionFiles) -> Result<Item, Fault> {
    let record: ContextsRecord = parse(raw)?;
    let gold = gold(&record);
    let aliases = record.answer_id.as_ref().and_then(|id| companion.aliases.get(id));
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
fn gold(record: &ContextsRecord) -> Vec<GoldPassage> {
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
