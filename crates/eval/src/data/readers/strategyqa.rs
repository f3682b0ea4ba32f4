//! `StrategyQA`: yes/no questions with the steps behind them and, of three annotators each, the
//! paragraphs of Wikipedia that those steps rest on.
use halma_core::AnswerKind;
use serde::Deserialize;
use serde_json::Value;

use crate::data::answers;
use crate::data::companion::CompanionFiles;
use crate::data::item::Item;
use crate::data::raw_record::{Fault, RawRecord, parse};
use crate::metrics::GoldPassage;

#[derive(Deserialize)]
struct StrategyQaRecord {
    qid: String,
    question: String,
    answer: Value,
    #[serde(default)]
    decomposition: Vec<String>,
    /// Annotator → step → paragraph ids, or words such as `operation` and `no_evidence`.
    #[serde(default)]
    evidence: Vec<Vec<Value>>,
}

pub(super) fn item(raw: &RawRecord, companion: &CompanionFiles) -> Result<Item, Fault> {
    let record: StrategyQaRecord = parse(raw)?;
    if !record.answer.is_boolean() {
        return Err("the answer is neither `true` nor `false`".to_owned().into());
    }
    let answers = answers::read(&record.answer)?;
    let ids: Vec<&str> = evidence(&record.evidence);
    let gold = ids.iter().map(|id| gold(id, companion)).collect();
    let contexts = ids.iter().filter_map(|id| companion.passages.get(*id).cloned()).collect();
    Ok(Item {
        gold,
        contexts,
        hops: u32::try_from(record.decomposition.len()).ok().filter(|hops| *hops > 0),
        ..Item::new(record.qid, record.question, answers).with_answer_kind(AnswerKind::YesNo)
    })
}

/// The paragraphs of the first annotator who named any: the annotators found different ones, and
/// no one has to find all of them.
fn evidence(annotators: &[Vec<Value>]) -> Vec<&str> {
    let of_one = annotators.iter().map(|steps| {
        let mut ids = vec![];
        for step in steps {
            paragraphs(step, &mut ids);
        }
        ids
    });
    of_one.into_iter().find(|ids| !ids.is_empty()).unwrap_or_default()
}

/// Every paragraph id in a step, which nests them in lists companion bare words.
fn paragraphs<'a>(step: &'a Value, ids: &mut Vec<&'a str>) {
    match step {
        Value::Array(parts) => parts.iter().for_each(|part| paragraphs(part, ids)),
        Value::String(id) if title(id).is_some() && !ids.contains(&id.as_str()) => ids.push(id),
        _ => {}
    }
}

/// The title in `Dr. Seuss-20`; none in a bare word.
fn title(id: &str) -> Option<&str> {
    let (title, number) = id.rsplit_once('-')?;
    (!number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())).then_some(title)
}

fn gold(id: &str, companion: &CompanionFiles) -> GoldPassage {
    match companion.passages.get(id) {
        Some(passage) => passage.into(),
        None => GoldPassage { title: title(id).unwrap_or(id).to_owned(), text: String::new() },
    }
}
