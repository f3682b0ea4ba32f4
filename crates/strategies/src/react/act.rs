//! The actions: searching, and looking up a word in what the last search found.
use halma_core::text::{sentences, words};
use halma_core::{Cx, Hit, Result};
use serde::{Deserialize, Serialize};

use super::React;
use crate::shared::steps::answer_text;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Action {
    Search,
    Lookup,
    Finish,
}

/// What the model does next. The argument of `finish` is the answer.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Move {
    #[serde(default)]
    pub(super) thought: String,
    pub(super) action: Action,
    #[serde(deserialize_with = "answer_text")]
    pub(super) argument: String,
}

/// A move with what it showed.
#[derive(Debug, Serialize)]
pub(super) struct Taken {
    #[serde(flatten)]
    made: Move,
    seen: String,
    /// What a search found that was not seen before.
    #[serde(skip)]
    hits: Vec<Hit>,
}

impl Taken {
    pub(super) fn thought(&self) -> String {
        self.made.thought.clone()
    }

    pub(super) fn is(&self, other: &Move) -> bool {
        self.made.action == other.action && words(&self.made.argument) == words(&other.argument)
    }
}

impl React {
    pub(super) async fn act(
        &self,
        made: Move,
        steps: &[Taken],
        chunks: &mut Vec<Hit>,
        cx: &Cx,
    ) -> Result<Taken> {
        if made.action != Action::Search {
            let seen = looked_up(&made, steps);
            cx.note(format!("looks up “{}”: {seen}", made.argument));
            return Ok(Taken { made, seen, hits: vec![] });
        }
        let hits = self.near().to(&made.argument, chunks, cx).await?;
        let seen = match hits.as_slice() {
            [] => "nothing new is near".to_owned(),
            hits => hits.iter().map(shown).collect::<Vec<_>>().join("\n"),
        };
        chunks.extend(hits.iter().cloned());
        Ok(Taken { made, seen, hits })
    }
}

fn shown(chunk: &Hit) -> String {
    format!("({}) {}", chunk.title, chunk.text.trim())
}

/// The next sentence with the word: how often it was looked up since the last search says which.
fn looked_up(made: &Move, steps: &[Taken]) -> String {
    let last = steps.iter().rposition(|step| step.made.action == Action::Search);
    let Some(last) = last else { return "nothing was searched for yet".into() };
    let before = steps[last..].iter().filter(|step| step.is(made)).count();
    let sought = words(&made.argument);
    let mut holding = steps[last].hits.iter().flat_map(|chunk| {
        let sentence = |range: std::ops::Range<usize>| (&chunk.title, &chunk.text[range]);
        sentences(&chunk.text).into_iter().map(sentence)
    });
    let has = |text: &str| words(text).windows(sought.len().max(1)).any(|window| window == sought);
    match holding.by_ref().filter(|(_, text)| has(text)).nth(before) {
        Some((title, text)) => format!("({title}) {}", text.trim()),
        None => "no further sentence has it".into(),
    }
}
