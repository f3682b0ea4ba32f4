//! `explore`: the model works the library with tools, a call in each turn.
//!
//! No paper of its own: the loop of `ReAct` (Yao et al., ICLR 2023) with more tools, and with a plan
//! and notes in place of all that was seen, so that a prompt does not grow with the turns.
//!
//! ```text
//! S, P <- [], []            calls with what they showed; passages, numbered in the order they came
//! plan, notes <- "", ""
//! repeat at most N times
//!     plan, notes, call <- LLM(q, S, plan, notes, tables)            -> explore/step.md
//!     call is answer[â, passages]: stop
//!     what is not one call, or was called before: S <- S + (what is wrong with it)
//!     o <- search[x]: passages near x         grep[x]: passages that the expression x matches
//!          open[d, from]: d from a place on   around[p]: what stands before and after p
//!          neighbours[p]: what edges lead to  sql[x]: rows of the tables
//!     S, P <- S + (call, o), P + passages in o
//! after N turns without an answer: â <- LLM(q, some of P, notes)     -> explore/answer.md
//! ```
#[cfg(test)]
mod tests;
mod tools;
mod work;

use std::sync::Arc;

use async_trait::async_trait;
use halma_core::{
    Answer, Cx, Entry, Error, Mode, Prompt, Question, Result, Strategy, UnlessFailed as _,
    UnlessSpent as _,
};
use minijinja::context;
use minijinja::value::Serde;
use serde::{Deserialize, Serialize};

use self::work::{ToolCall, Turn, Work, cut, read_call};
use crate::shared::closing::{close, close_unread};
use crate::shared::kinds::with_nearest_tables;
use crate::shared::settings;
use crate::shared::sources::Near;
use crate::shared::steps::{Reading, answer_from};

pub(crate) const ENTRY: Entry = Entry {
    name: "explore",
    paper: "none of its own; the loop is that of ReAct (ICLR 2023)",
    summary: "works the library with tools: searches, matches expressions, reads on, follows links and queries tables",
    calls: "1 for each turn, and 1 where no turn answers; at most 13",
    needs: &[],
    build: |table| Ok(Arc::new(settings::parse::<Explore>(table)?.checked()?)),
};

/// A call, or what is wrong with the reply: asking again in the same turn would make up to three
/// calls of a turn, so that the model is shown it in the next one.
const STEP: Prompt<std::result::Result<ToolCall, String>> =
    Prompt { name: "explore/step", parse: read_call };
const ANSWER: Prompt<Reading> = Prompt::json("explore/answer");

/// Tables that are listed, those with most of the question's words.
const TABLES: usize = 8;

/// Turns whose results are shown in full, and characters of the others.
const RECENT: usize = 3;
const BRIEF: usize = 150;

/// Characters of a plan, and of notes, that are carried along.
const REMEMBERED: usize = 1_500;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Explore {
    /// N, the most turns.
    pub(crate) n: usize,
    /// The most passages or nodes that a call shows.
    pub(crate) hits: usize,
    /// The most characters that a call shows.
    pub(crate) characters: usize,
    /// δ as a cosine; `None` is the usual one of the embedder in use.
    pub(crate) min_score: Option<f32>,
    pub(crate) mode: Mode,
}

impl Default for Explore {
    fn default() -> Self {
        Self { n: 12, hits: 5, characters: 4_000, min_score: None, mode: Mode::default() }
    }
}

#[async_trait]
impl Strategy for Explore {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn settings(&self) -> serde_json::Value {
        settings::json(self)
    }

    async fn answer(&self, question: &Question, cx: &Cx) -> Result<Answer> {
        let tables = with_nearest_tables(cx.catalog().await?, question, TABLES).tables;
        let mut work = Work::default();
        for number in 1..=self.n {
            let (cx, left) = (cx.span(format!("turn {number}")), self.n - work.steps.len());
            let Work { plan, notes, .. } = &work;
            let (question, steps) = (Serde(question), Serde(&work.steps));
            let variables =
                context! { question, steps, plan, notes, tables => Serde(&tables), left };
            let reply = match cx.ask(&STEP, variables).await {
                // It was asked for again in vain; the next turn may fare better.
                Err(Error::BadReply { reason, .. }) => Some(Err(reason)),
                reply => reply.unless_failed(&cx, "no further turn is taken").unless_spent()?,
            };
            let (call, seen) = match reply {
                None => break,
                Some(Err(reason)) => ("(no call)".to_owned(), reason),
                Some(Ok(call)) => {
                    work.plan = cut(&call.plan, REMEMBERED);
                    work.notes = cut(&call.notes, REMEMBERED);
                    if call.tool == "answer" && work.has_looked {
                        if question.abstain || !call.argument.trim().is_empty() {
                            return Ok(work.answer(call, self.characters));
                        }
                        break;
                    }
                    (call.line(), self.act(&call, &mut work, &cx).await?)
                }
            };
            cx.note(format!("{call}: {}", cut(&seen, BRIEF)));
            work.steps.push(Turn { call, seen });
            if let Some(earlier) = work.steps.len().checked_sub(RECENT + 1) {
                work.steps[earlier].seen = cut(&work.steps[earlier].seen, BRIEF);
            }
        }
        self.close(question, work, cx).await
    }
}

impl Explore {
    /// The answer from what was collected.
    async fn close(&self, question: &Question, mut work: Work, cx: &Cx) -> Result<Answer> {
        if !work.has_looked {
            cx.note("no tool was used: searching with the question");
            work.passages = self.near().to(&question.text, &[], cx).await?;
        }
        let (context, notes) = work.selection(self.characters);
        if context.is_empty() {
            let nothing = "nothing in the knowledge base was found by what was looked for";
            return close_unread(nothing, question, cx).await;
        }
        cx.note("no turn gave the answer: reading the passages collected");
        let variables = context! { question => Serde(question), context => Serde(&context), notes };
        Ok(answer_from(close(&ANSWER, variables, cx).await?, &context))
    }

    fn near(&self) -> Near {
        Near { chunks: self.hits, atoms: 0, min_score: self.min_score, mode: self.mode }
    }

    fn checked(self) -> std::result::Result<Self, String> {
        settings::at_least_one("n", self.n)?;
        settings::at_least_one("hits", self.hits)?;
        settings::at_least_one("characters", self.characters)?;
        settings::a_cosine("min_score", self.min_score)?;
        Ok(self)
    }
}
