//! The user's own questions, one JSON object a line: `question` and `answers`, and whatever of the
//! rest is known.
use halma_core::AnswerKind;
use serde::Deserialize;
use serde_json::Value;

use crate::data::answers;
use crate::data::companion::CompanionFiles;
use crate::data::item::{Item, Passage};
use crate::data::raw_record::{Fault, RawRecord, parse};
use crate::fingerprint;
use crate::metrics::{GoldPassage, number_in, yes_no};

#[derive(Deserialize)]
struct UserRecord {
    #[serde(alias = "question_id")]
    id: Option<Value>,
    question: String,
    #[serde(alias = "answer")]
    answers: Option<Value>,
    /// Texts, or objects with `title` and `text`.
    #[serde(default)]
    evidence: Vec<UserEvidence>,
    kind: Option<String>,
    hops: Option<u32>,
    #[serde(default)]
    options: Vec<String>,
    answer_kind: Option<AnswerKind>,
    #[serde(default = "yes")]
    answerable: bool,
    #[serde(default)]
    contexts: Vec<UserEvidence>,
    asked_at: Option<String>,
    last: Option<f64>,
}

fn yes() -> bool {
    true
}

#[derive(Deserialize)]
#[serde(untagged)]
enum UserEvidence {
    Text(String),
    Titled {
        #[serde(default)]
        title: String,
        #[serde(default)]
        text: String,
    },
}

/// Without an `id` a question is known by its words, so that a run goes on when lines of its file
/// were added, removed or moved.
pub(super) fn item(raw: &RawRecord, _: &CompanionFiles) -> Result<Item, Fault> {
    let record: UserRecord = parse(raw)?;
    let answers = match &record.answers {
        None | Some(Value::Null) if !record.answerable => vec![],
        Some(Value::Array(none)) if none.is_empty() && !record.answerable => vec![],
        None => {
            let reason = "it has no `answers`, so it cannot be scored; add them, or \
                          `\"answerable\": false` if the right thing is to abstain";
            return Err(reason.to_owned().into());
        }
        Some(_) if !record.answerable => {
            return Err("it has answers and says that it is not answerable".to_owned().into());
        }
        Some(value) => answers::read(value)?,
    };
    let id = match record.id {
        None | Some(Value::Null) => named(&record.question),
        Some(Value::String(id)) => id,
        Some(Value::Number(id)) => id.to_string(),
        Some(_) => return Err("the id is neither a text nor a number".to_owned().into()),
    };
    let kind = record.answer_kind.unwrap_or_else(|| guessed(&record.options, &answers));
    if record.answerable {
        require_scorable(kind, &answers)?;
    }
    let mut gold = vec![];
    for (i, evidence) in record.evidence.into_iter().enumerate() {
        gold.push(passage(evidence).ok_or_else(|| format!("evidence {} is empty", i + 1))?);
    }
    let contexts = record.contexts.into_iter().filter_map(passage);
    Ok(Item {
        gold,
        kind: record.kind,
        hops: record.hops,
        answerable: record.answerable,
        contexts: contexts.map(|one| Passage::plain(one.title, one.text)).collect(),
        last: record.last,
        ..Item::new(id, record.question, answers)
            .with_answer_kind(kind)
            .with_asked_at(record.asked_at)
            .with_options(record.options)
    })
}

/// Refuses answers that no reply of their kind can agree with: every one would count as wrong.
fn require_scorable(kind: AnswerKind, answers: &[String]) -> Result<(), String> {
    let (name, wanted, scorable): (_, _, fn(&str) -> bool) = match kind {
        AnswerKind::YesNo => ("yes_no", "yes or no", |answer| yes_no(answer).is_some()),
        AnswerKind::Number => ("number", "a number", |answer| {
            number_in(answer).is_some() || DIRECTIONS.contains(&answer.trim())
        }),
        _ => return Ok(()),
    };
    if answers.iter().any(|answer| scorable(answer)) {
        return Ok(());
    }
    let first = answers.first().map_or("", String::as_str);
    Err(format!(
        "its `answer_kind` is `{name}`, and the answer `{first}` is not {wanted}; correct one of them"
    ))
}

/// What a forecast may be compared with in the place of a number.
const DIRECTIONS: [&str; 3] = ["up", "down", "flat"];

/// The id of a question without one of its own.
fn named(question: &str) -> String {
    format!("q-{}", &fingerprint([question.trim()])[..10])
}

fn passage(evidence: UserEvidence) -> Option<GoldPassage> {
    let (title, text) = match evidence {
        UserEvidence::Text(text) => (String::new(), text),
        UserEvidence::Titled { title, text } => (title, text),
    };
    let empty = title.trim().is_empty() && text.trim().is_empty();
    (!empty).then_some(GoldPassage { title, text })
}

/// What a question asks for, where its record does not say so.
fn guessed(options: &[String], answers: &[String]) -> AnswerKind {
    let closed = |answer: &String| ["yes", "no"].contains(&answer.to_lowercase().as_str());
    match answers {
        _ if !options.is_empty() => AnswerKind::Option,
        [_, ..] if answers.iter().all(closed) => AnswerKind::YesNo,
        [first, ..] if first.split_whitespace().count() > LONG => AnswerKind::Long,
        _ => AnswerKind::Short,
    }
}

/// A gold answer of more words than this is a sentence or more.
const LONG: usize = 12;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_that_no_reply_can_agree_with_are_refused() {
        let refused = |kind, answers: &[&str]| {
            let answers: Vec<String> = answers.iter().map(|&answer| answer.to_owned()).collect();
            require_scorable(kind, &answers).err()
        };
        for (kind, answers) in [
            (AnswerKind::YesNo, ["No"].as_slice()),
            (AnswerKind::Number, &["about 14 pumps"]),
            (AnswerKind::Number, &["up"]),
            (AnswerKind::Number, &["a dozen", "12"]),
            (AnswerKind::Short, &["many"]),
        ] {
            assert_eq!(refused(kind, answers), None, "{answers:?}");
        }
        let reason = refused(AnswerKind::YesNo, &["maybe"]).unwrap();
        assert!(reason.contains("`yes_no`") && reason.contains("`maybe` is not yes or no"));
        assert!(refused(AnswerKind::Number, &["many"]).unwrap().contains("not a number"));
    }
}
