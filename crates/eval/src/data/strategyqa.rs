//! `StrategyQA`: yes/no questions with the steps behind them and, of three annotators each, the
//! paragraphs of Wikipedia that those steps rest on.
use halma_core::AnswerKind;
use serde::Deserialize;
use serde_json::Value;

use super::load::{Fault, parse};
use super::records::RawRecord;
use super::registry::{COMMON, known, split};
use super::{Beside, DataSetEntry, Format, GoldPassage, Item, Pool, answers};
use crate::Metric;

pub(super) const ENTRY: DataSetEntry = DataSetEntry {
    format: Format::Strategyqa,
    name: "strategyqa",
    title: "StrategyQA",
    paper: "Geva et al., Did Aristotle Use a Laptop? A Question Answering Benchmark with \
            Implicit Reasoning Strategies, TACL 2021",
    source: "https://allenai.org/data/strategyqa; the split of its authors' code: \
             https://github.com/eladsegal/strategyqa, `data/strategyqa`",
    licence: "MIT",
    shape: "A JSON list; `answer` is true or false; `evidence` names paragraphs, whose texts \
            are in `strategyqa_train_paragraphs.json`.",
    metric: Metric::YesNo,
    pool: Pool::Corpus(
        "the paragraphs of `strategyqa_train_paragraphs.json` that its questions name, or a \
         Wikipedia of one's own",
    ),
    splits: &[
        split("strategyqa_train.json", 2_290),
        known(
            "train.json",
            2_061,
            "0f72560b8a6fad3db847d2f1a7524fb087297843bb45a8d3245ffd68cbe0de12",
        ),
        known("dev.json", 229, "0d94842ffb022db8fd5ecd2168b785d5cf67f6faf64f665476bad544a3eb9dde"),
    ],
    beside: Some("strategyqa_train_paragraphs.json"),
    keys: &["qid", "question", "answer", "term|facts|decomposition"],
    read: item,
    ..COMMON
};

#[derive(Deserialize)]
struct Record {
    qid: String,
    question: String,
    answer: Value,
    #[serde(default)]
    decomposition: Vec<String>,
    /// Annotator → step → paragraph ids, or words such as `operation` and `no_evidence`.
    #[serde(default)]
    evidence: Vec<Vec<Value>>,
}

pub(super) fn item(raw: &RawRecord, beside: &Beside) -> Result<Item, Fault> {
    let record: Record = parse(raw)?;
    if !record.answer.is_boolean() {
        return Err("the answer is neither `true` nor `false`".to_owned().into());
    }
    let answers = answers::read(&record.answer)?;
    let ids: Vec<&str> = evidence(&record.evidence);
    let gold = ids.iter().map(|id| gold(id, beside)).collect();
    let contexts = ids.iter().filter_map(|id| beside.passages.get(*id).cloned()).collect();
    Ok(Item {
        gold,
        contexts,
        hops: u32::try_from(record.decomposition.len()).ok().filter(|hops| *hops > 0),
        ..Item::new(record.qid, record.question, answers).of_kind(AnswerKind::YesNo)
    })
}

/// The paragraphs of the first annotator who named any: the annotators found different ones, and
/// nobody has to find all of them.
fn evidence(annotators: &[Vec<Value>]) -> Vec<&str> {
    let of_one = annotators.iter().map(|steps| {
        let mut found = vec![];
        for step in steps {
            paragraphs(step, &mut found);
        }
        found
    });
    of_one.into_iter().find(|found| !found.is_empty()).unwrap_or_default()
}

/// Every paragraph id in a step, which nests them in lists beside bare words.
fn paragraphs<'a>(step: &'a Value, found: &mut Vec<&'a str>) {
    match step {
        Value::Array(parts) => parts.iter().for_each(|part| paragraphs(part, found)),
        Value::String(id) if title(id).is_some() && !found.contains(&id.as_str()) => found.push(id),
        _ => {}
    }
}

/// The title in `Dr. Seuss-20`; none in a bare word.
fn title(id: &str) -> Option<&str> {
    let (title, number) = id.rsplit_once('-')?;
    (!number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())).then_some(title)
}

fn gold(id: &str, beside: &Beside) -> GoldPassage {
    match beside.passages.get(id) {
        Some(passage) => passage.into(),
        None => GoldPassage { title: title(id).unwrap_or(id).to_owned(), text: String::new() },
    }
}
