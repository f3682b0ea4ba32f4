//! Calls, and what they have brought: passages with their numbers, what was shown, plan and notes.
use halma_core::{Answer, Hit, parse_json};
use serde::{Deserialize, Serialize};

use crate::shared::citing::renumbered;
use crate::shared::steps::{Reading, answer_from, answer_text};

/// As many times the characters of one result are read for the closing answer.
const CLOSING: usize = 4;

/// One call. The argument of `answer` is the answer.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct ToolCall {
    #[serde(default)]
    pub(super) plan: String,
    #[serde(default)]
    pub(super) notes: String,
    pub(super) tool: String,
    #[serde(deserialize_with = "answer_text")]
    pub(super) argument: String,
    #[serde(default)]
    pub(super) from: i64,
    #[serde(default)]
    passages: Vec<usize>,
}

impl ToolCall {
    /// The call as the model and the trace see it; the same for the same call.
    pub(super) fn line(&self) -> String {
        let from = if self.from == 0 { String::new() } else { format!(" from {}", self.from) };
        format!("{} [{}]{from}", self.tool, self.argument.trim())
    }
}

/// Reads a reply; only one without any text is left to be asked for again.
pub(super) fn read_call(text: &str) -> Result<Result<ToolCall, String>, String> {
    match text.matches("\"tool\"").count() {
        _ if text.trim().is_empty() => Err("the reply is empty".to_owned()),
        0 | 1 => {
            Ok(parse_json(text).map_err(|reason| format!("the reply is not a call: {reason}")))
        }
        _ => Ok(Err("the reply has several calls; make one call in each turn".to_owned())),
    }
}

/// A turn as the model sees it.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Turn {
    pub(super) call: String,
    pub(super) seen: String,
}

#[derive(Default)]
pub(super) struct Work {
    pub(super) plan: String,
    pub(super) notes: String,
    /// Each passage that was shown, once; its number is its place, from 1.
    pub(super) passages: Vec<Hit>,
    pub(super) steps: Vec<Turn>,
    /// Whether any tool has shown something, so that an answer can rest on it.
    pub(super) has_looked: bool,
}

impl Work {
    /// The number of a passage, which it gets when it is first shown.
    pub(super) fn number(&mut self, hit: Hit) -> usize {
        let place = self.passages.iter().position(|passage| passage.id == hit.id);
        if place.is_none() {
            self.passages.push(hit);
        }
        place.map_or(self.passages.len(), |place| place + 1)
    }

    /// The passage of a number.
    fn passage(&self, number: usize) -> Option<&Hit> {
        self.passages.get(number.checked_sub(1)?)
    }

    /// The id of the passage whose number a text is, `3` or `[3]`; otherwise the text itself.
    pub(super) fn id(&self, text: &str) -> String {
        let number = text.trim_matches(['[', ']']).parse().ok();
        let passage = number.and_then(|number| self.passage(number));
        passage.map_or(text, |hit| &hit.id.0).to_owned()
    }

    /// The answer of a call. It cites the passages that the call names; without any, those that would
    /// be read for it.
    pub(super) fn answer(&self, call: ToolCall, characters: usize) -> Answer {
        let cited = call.passages.iter().filter_map(|number| self.passage(*number).cloned());
        let mut cited: Vec<Hit> = cited.collect();
        if cited.is_empty() {
            cited = self.selection(characters).0;
        }
        answer_from(Reading { answer: call.argument, rationale: self.notes.clone() }, &cited)
    }

    /// The passages that the notes name, then those shown last, as many as a closing answer reads;
    /// and the notes with their numbers among these.
    pub(super) fn selection(&self, characters: usize) -> (Vec<Hit>, String) {
        let mut order: Vec<usize> = (1..=self.passages.len()).rev().collect();
        order.sort_by_key(|number| !self.notes.contains(&format!("[{number}]")));
        let mut left = characters.saturating_mul(CLOSING);
        order.retain(|number| {
            let fits = left.checked_sub(self.passages[number - 1].text.len());
            left = fits.unwrap_or(left);
            fits.is_some()
        });
        let place = |number| order.iter().position(|one| *one == number).map(|at| at + 1);
        let notes = renumbered(&self.notes, place);
        (order.iter().map(|number| self.passages[number - 1].clone()).collect(), notes)
    }
}

/// The beginning of a text, with a mark where something is left out.
pub(super) fn cut(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
