//! `MuSiQue`: every paragraph says whether it is supporting; a paragraph is one hop.
use serde::Deserialize;

use super::{GoldPassage, Item, question, records};

#[derive(Deserialize)]
struct Record {
    id: String,
    question: String,
    answer: String,
    #[serde(default)]
    answer_aliases: Vec<String>,
    answerable: Option<bool>,
    paragraphs: Vec<Paragraph>,
}

#[derive(Deserialize)]
struct Paragraph {
    title: String,
    #[serde(rename = "paragraph_text")]
    text: String,
    is_supporting: bool,
}

pub(super) fn item(json: &str) -> Result<Item, String> {
    let record: Record = serde_json::from_str(json).map_err(|e| records::said(&e))?;
    if record.answerable == Some(false) {
        return Err("it is marked as not answerable, and only answers are scored here".into());
    }
    let supporting = record.paragraphs.into_iter().filter(|paragraph| paragraph.is_supporting);
    let gold: Vec<GoldPassage> =
        supporting.map(|p| GoldPassage { title: p.title, text: p.text }).collect();
    let kind = (!gold.is_empty()).then(|| format!("{}hop", gold.len()));
    let mut answers = vec![record.answer];
    answers.extend(record.answer_aliases);
    Ok(Item { question: question(record.id, record.question), answers, gold, kind })
}
