//! `LongMemEval`: questions about what was said in many conversations, each of which is a passage.
use serde::Deserialize;
use serde_json::Value;

use crate::data::answers;
use crate::data::companion::CompanionFiles;
use crate::data::item::{Item, Passage};
use crate::data::raw_record::{Fault, RawRecord, parse};

#[derive(Deserialize)]
struct MemoryRecord {
    question_id: String,
    question_type: String,
    question: String,
    answer: Value,
    question_date: Option<String>,
    haystack_session_ids: Vec<String>,
    #[serde(default)]
    haystack_dates: Vec<String>,
    haystack_sessions: Vec<Vec<Turn>>,
    #[serde(default)]
    answer_session_ids: Vec<String>,
}

#[derive(Deserialize)]
struct Turn {
    role: String,
    content: String,
}

/// What the ids of questions end with that no conversation answers.
const UNANSWERABLE: &str = "_abs";

pub(super) fn item(raw: &RawRecord, _: &CompanionFiles) -> Result<Item, Fault> {
    let record: MemoryRecord = parse(raw)?;
    let (ids, sessions) = (&record.haystack_session_ids, &record.haystack_sessions);
    if ids.len() != sessions.len() {
        let counts = format!("{} ids for {} conversations", ids.len(), sessions.len());
        return Err(format!("there are {counts}").into());
    }
    let session = |(at, (id, turns)): (usize, (&String, &Vec<Turn>))| {
        let date = record.haystack_dates.get(at).map(|date| format!("Date: {date}\n"));
        let said = |turn: &Turn| format!("{}: {}", turn.role, turn.content.trim());
        let turns: Vec<String> = turns.iter().map(said).collect();
        Passage::plain(id.clone(), date.unwrap_or_default() + &turns.join("\n"))
    };
    let contexts: Vec<Passage> = ids.iter().zip(sessions).enumerate().map(session).collect();
    let answerable = !record.question_id.ends_with(UNANSWERABLE);
    let is_gold = |passage: &&Passage| record.answer_session_ids.contains(&passage.title);
    let gold = contexts.iter().filter(is_gold).filter(|_| answerable).map(Into::into).collect();
    // The answer to an unanswerable question says why there is none.
    let answers = if answerable { answers::read(&record.answer)? } else { vec![] };
    Ok(Item {
        gold,
        answerable,
        kind: Some(record.question_type),
        contexts: contexts.into(),
        ..Item::new(record.question_id, record.question, answers)
            .with_asked_at(record.question_date)
    })
}
