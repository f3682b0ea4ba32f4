//! `HotpotQA` and `2WikiMultiHopQA`: `context` holds paragraphs as `[title, [sentences]]`,
//! `supporting_facts` names the sentences that matter as `[title, index]`.
use serde::Deserialize;

use super::{GoldPassage, Item, question, records};

#[derive(Deserialize)]
struct Record {
    #[serde(rename = "_id", alias = "id")]
    id: String,
    question: String,
    answer: String,
    #[serde(rename = "type")]
    kind: Option<String>,
    supporting_facts: Vec<(String, usize)>,
    context: Vec<(String, Vec<String>)>,
}

pub(super) fn item(json: &str) -> Result<Item, String> {
    let record: Record = serde_json::from_str(json).map_err(|e| records::said(&e))?;
    let gold = gold(&record);
    Ok(Item {
        question: question(record.id, record.question),
        answers: vec![record.answer],
        gold,
        kind: record.kind,
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
