//! `IRCoT`: one sentence of reasoning, one search, in turns.
//!
//! Paper: Trivedi et al., ACL 2023, Section 3, as set up in "From Complex to Atomic" (ICML 2025),
//! Appendix A.2 and A.3: N = 5 turns, 4 chunks each, accumulated.
//!
//! ```text
//! D <- chunks near q
//! repeat at most N times
//!     t <- LLM(q, D, T)            the next sentence of T     -> ircot/thought.md
//!     T <- T + t;  stop when t concludes
//!     D <- D + new chunks near t
//! â <- LLM(q, D, T)                                           -> ircot/answer.md
//! ```
//!
//! Departures from the papers: `docs/developers/departures.md`.
use std::sync::Arc;

use async_trait::async_trait;
use halma_core::{
    Answer, Cx, Entry, Hit, Mode, Prompt, Question, Result, Strategy, UnlessFailed as _,
    UnlessSpent as _,
};
use minijinja::context;
use minijinja::value::Serde;
use serde::{Deserialize, Serialize};

use crate::shared::closing::close;
use crate::shared::settings;
use crate::shared::sources::Near;
use crate::shared::steps::{NOTHING_NEAR, Reading, abstain, answer_from, answer_text};

pub(crate) const ENTRY: Entry = Entry {
    name: "ircot",
    paper: "IRCoT (ACL 2023), as a baseline of KAR³ (Appendix A.2)",
    summary: "reasons a sentence at a time and searches with each sentence",
    calls: "1 for each sentence and 1; at most 6 with 5 sentences",
    needs: &[],
    build: |table| Ok(Arc::new(settings::parse::<Ircot>(table)?.checked()?)),
};

const THOUGHT: Prompt<Thought> = Prompt::json("ircot/thought");
const ANSWER: Prompt<Reading> = Prompt::json("ircot/answer");

/// The next sentence, and whether the question is settled with it.
#[derive(Debug, Deserialize)]
struct Thought {
    #[serde(deserialize_with = "answer_text")]
    thought: String,
    #[serde(default)]
    concludes: bool,
}

/// The defaults are those of KAR³, Section 4.1 and Appendix A.3.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Ircot {
    /// N, the most sentences of reasoning (Section 4.1).
    pub(crate) n: usize,
    /// New chunks for each search (Appendix A.3).
    pub(crate) chunks: usize,
    /// The most chunks in all; the paper has no limit but the model's.
    pub(crate) max_chunks: usize,
    /// δ as a cosine; `None` is the usual one of the embedder in use.
    pub(crate) min_score: Option<f32>,
    pub(crate) mode: Mode,
}

impl Default for Ircot {
    fn default() -> Self {
        Self { n: 5, chunks: 4, max_chunks: 24, min_score: None, mode: Mode::Dense }
    }
}

#[async_trait]
impl Strategy for Ircot {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn settings(&self) -> serde_json::Value {
        settings::json(self)
    }

    async fn answer(&self, question: &Question, cx: &Cx) -> Result<Answer> {
        let mut chunks = self.near(&question.text, &[], cx).await?;
        let mut thoughts: Vec<String> = vec![];
        while thoughts.len() < self.n {
            let cx = cx.span(format!("thought {}", thoughts.len() + 1));
            let next = self.think(question, &chunks, &thoughts, &cx).await;
            let next = next.unless_failed(&cx, "the reasoning ends here");
            let Some(Thought { thought, concludes }) = next.unless_spent()? else { break };
            if !concludes && chunks.len() < self.max_chunks {
                chunks.extend(self.near(&thought, &chunks, &cx).await?);
            }
            thoughts.push(thought);
            if concludes {
                break;
            }
        }
        if question.abstain && chunks.is_empty() {
            return Ok(abstain(NOTHING_NEAR));
        }
        let context = Serde(&chunks);
        let variables = context! { question => Serde(question), context, thoughts };
        Ok(answer_from(close(&ANSWER, variables, cx).await?, &chunks))
    }
}

impl Ircot {
    /// The next sentence. An empty one, or one that stands there already, is malformed: it would
    /// search for nothing new.
    async fn think(
        &self,
        question: &Question,
        chunks: &[Hit],
        thoughts: &[String],
        cx: &Cx,
    ) -> Result<Thought> {
        let (context, thoughts) = (Serde(chunks), Serde(thoughts));
        let variables = context! { question => Serde(question), context, thoughts };
        cx.ask_checked(&THOUGHT, variables, |next| {
            let repeated = thoughts.0.iter().any(|thought| thought.trim() == next.thought.trim());
            match (next.thought.trim().is_empty(), repeated) {
                (true, _) => Err("`thought` is empty".into()),
                (_, true) if !next.concludes => Err("`thought` repeats an earlier one".into()),
                _ => Ok(()),
            }
        })
        .await
    }

    async fn near(&self, text: &str, context: &[Hit], cx: &Cx) -> Result<Vec<Hit>> {
        let room = self.max_chunks.saturating_sub(context.len());
        let near = Near {
            chunks: self.chunks.min(room),
            atoms: 0,
            min_score: self.min_score,
            mode: self.mode,
        };
        near.to(text, context, cx).await
    }

    fn checked(self) -> std::result::Result<Self, String> {
        settings::at_least_one("n", self.n)?;
        settings::at_least_one("chunks", self.chunks)?;
        settings::at_least_one("max_chunks", self.max_chunks)?;
        settings::a_cosine("min_score", self.min_score)?;
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use halma_core::Budget;
    use halma_testkit::{Script, Toy};

    use super::*;
    use crate::golden::{Run, golden};

    const BORN: &str =
        r#"{"thought": "Ilse Thorn was the architect; where was she born?", "concludes": false}"#;
    const DONE: &str = r#"{"thought": "So the answer is Norway.", "concludes": true}"#;
    const NORWAY: &str = r#"{"rationale": "Passage 2 says so.", "answer": "Norway"}"#;

    #[tokio::test]
    async fn each_sentence_searches_until_one_concludes() {
        let model = Script::new([
            ("ircot/thought", BORN),
            ("ircot/thought", DONE),
            ("ircot/answer", NORWAY),
        ]);
        let ircot = Ircot { chunks: 1, ..Ircot::default() };
        golden("ircot/concludes", &ircot, Run::new(model)).await;
    }

    #[tokio::test]
    async fn n_ends_the_loop() {
        let model = Script::new([("ircot/thought", BORN), ("ircot/answer", NORWAY)]);
        golden("ircot/n_is_one", &Ircot { n: 1, ..Ircot::default() }, Run::new(model)).await;
    }

    #[tokio::test]
    async fn a_sentence_that_stands_there_already_is_asked_for_again() {
        let model = Script::new([
            ("ircot/thought", BORN),
            ("ircot/thought", BORN),
            ("ircot/thought", DONE),
            ("ircot/answer", NORWAY),
        ]);
        golden("ircot/repeats", &Ircot::default(), Run::new(model)).await;
    }

    #[tokio::test]
    async fn reasoning_that_cannot_be_read_ends_and_what_was_found_is_read() {
        let bad = ("ircot/thought", "I think it is Norway");
        let model = Script::new([bad, bad, bad, ("ircot/answer", NORWAY)]);
        golden("ircot/always_malformed", &Ircot::default(), Run::new(model)).await;
    }

    #[tokio::test]
    async fn a_spent_budget_closes_with_what_was_found() {
        let budget = Budget { calls: Some(2), ..Budget::default() };
        let model = Script::new([("ircot/thought", BORN), ("ircot/answer", NORWAY)]);
        golden("ircot/spent_budget", &Ircot::default(), Run { budget, ..Run::new(model) }).await;
    }

    #[tokio::test]
    async fn nothing_found_abstains() {
        let model = Script::new([("ircot/thought", DONE)]);
        let run = Run { knowledge: Toy::empty(), ..Run::new(model) };
        golden("ircot/empty_search", &Ircot::default(), run).await;
    }
}
