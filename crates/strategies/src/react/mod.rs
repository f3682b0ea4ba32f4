//! `ReAct`: think, act, see, in turns.
//!
//! Paper: Yao et al., ICLR 2023, Section 3, as a baseline of `UniRAG`: at most 7 steps.
//!
//! ```text
//! S <- []                           thoughts, actions and what was seen
//! repeat at most N times
//!     t, a <- LLM(q, S)             a thought and an action              -> react/step.md
//!     a is finish[â]: stop
//!     o <- search[x]: new chunks near x
//!          lookup[x]: the next sentence with x in the chunks of the last search
//!     S <- S + (t, a, o)
//! after N steps without an answer: â <- LLM(q, chunks seen, thoughts)    -> react/answer.md
//! ```
//!
//! Departures from the paper: `docs/developers/departures.md`.
mod act;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use async_trait::async_trait;
use halma_core::{
    Answer, Cx, Entry, Hit, Mode, Prompt, Question, Result, Strategy, UnlessFailed as _,
    UnlessSpent as _,
};
use minijinja::context;
use minijinja::value::Serde;
use serde::{Deserialize, Serialize};

use self::act::{Action, Move, Taken};
use crate::shared::closing::{close, close_unread};
use crate::shared::settings;
use crate::shared::sources::Near;
use crate::shared::steps::{NOTHING_NEAR, Reading, answer_from};

pub(crate) const ENTRY: Entry = Entry {
    name: "react",
    paper: "ReAct (ICLR 2023), as a baseline of UniRAG",
    summary: "thinks, searches or looks up, and sees what comes of it, until it can answer",
    calls: "1 for each step, and 1 where no step answers; at most 8",
    needs: &[],
    build: |table| Ok(Arc::new(settings::parse::<React>(table)?.checked()?)),
};

const STEP: Prompt<Move> = Prompt::json("react/step");
const ANSWER: Prompt<Reading> = Prompt::json("react/answer");

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct React {
    /// N, the most steps (the paper, Section 3.2, for `HotpotQA`).
    pub(crate) n: usize,
    /// New chunks for each search; the paper shows one page's beginning.
    pub(crate) chunks: usize,
    /// δ as a cosine; `None` is the usual one of the embedder in use.
    pub(crate) min_score: Option<f32>,
    pub(crate) mode: Mode,
}

impl Default for React {
    fn default() -> Self {
        Self { n: 7, chunks: 3, min_score: None, mode: Mode::Dense }
    }
}

#[async_trait]
impl Strategy for React {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn settings(&self) -> serde_json::Value {
        settings::json(self)
    }

    async fn answer(&self, question: &Question, cx: &Cx) -> Result<Answer> {
        let (mut steps, mut chunks): (Vec<Taken>, Vec<Hit>) = (vec![], vec![]);
        for number in 1..=self.n {
            let cx = cx.span(format!("step {number}"));
            let next = self.next(question, &steps, &cx).await;
            let next = next.unless_failed(&cx, "no further step is taken").unless_spent()?;
            let Some(next) = next else { break };
            if next.action == Action::Finish {
                if next.argument.trim().is_empty() && !question.abstain {
                    cx.note("it gives no answer: reading what was found");
                    break;
                }
                let reading = Reading { answer: next.argument, rationale: next.thought };
                return Ok(answer_from(reading, &chunks));
            }
            let taken = self.act(next, &steps, &mut chunks, &cx).await?;
            steps.push(taken);
        }
        if steps.is_empty() {
            cx.note("no step was taken: searching with the question");
            chunks = self.near().to(&question.text, &[], cx).await?;
        }
        if chunks.is_empty() {
            return close_unread(NOTHING_NEAR, question, cx).await;
        }
        cx.note("no step gave the answer: reading the passages seen");
        let thoughts: Vec<String> = steps.iter().map(Taken::thought).collect();
        let (question, context) = (Serde(question), Serde(&chunks));
        let variables = context! { question, context, thoughts };
        Ok(answer_from(close(&ANSWER, variables, cx).await?, &chunks))
    }
}

impl React {
    /// The next move. One that was made already would show the same again.
    async fn next(&self, question: &Question, steps: &[Taken], cx: &Cx) -> Result<Move> {
        let left = self.n - steps.len();
        let variables = context! { question => Serde(question), steps => Serde(steps), left };
        cx.ask_checked(&STEP, variables, |next| {
            if next.action == Action::Finish {
                return Ok(());
            }
            if next.argument.trim().is_empty() {
                return Err("`argument` is empty".to_owned());
            }
            let searched = next.action == Action::Search && steps.iter().any(|step| step.is(next));
            if searched {
                Err(format!("`{}` was searched for already", next.argument))
            } else {
                Ok(())
            }
        })
        .await
    }

    fn near(&self) -> Near {
        Near { chunks: self.chunks, atoms: 0, min_score: self.min_score, mode: self.mode }
    }

    fn checked(self) -> std::result::Result<Self, String> {
        settings::at_least_one("n", self.n)?;
        settings::at_least_one("chunks", self.chunks)?;
        settings::a_cosine("min_score", self.min_score)?;
        Ok(self)
    }
}
