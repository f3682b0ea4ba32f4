//! `GenGround`: deduce the next simpler question and its answer, then ground that answer.
//!
//! Paper: Shi et al., "Generate-then-Ground", ACL 2024, as set up in DEC, Section 4.3 and
//! Appendix A: at most 5 rounds, 3 batches of 3 documents.
//!
//! ```text
//! H <- []
//! repeat at most N times
//!     (q_i, a_i) <- LLM(Q, H)          from memory; no question: stop    -> gen_ground/deduce.md
//!     D <- chunks near q_i, best first, in batches
//!     for each batch
//!         ã_i <- LLM(q_i, a_i, batch)  the answer as the batch has it    -> gen_ground/ground.md
//!         stop at the first batch that has one
//!     H <- H + (q_i, ã_i, or a_i where no batch has one)
//! â <- LLM(Q, H)                                                         -> gen_ground/answer.md
//! ```
//!
//! Departures from the papers: `docs/developers/departures.md`.
#[cfg(test)]
mod tests;

use std::sync::Arc;

use async_trait::async_trait;
use halma_core::text::words;
use halma_core::{
    Answer, Cx, Entry, Error, Hit, Mode, Prompt, Question, Result, Strategy, UnlessFailed as _,
    UnlessSpent as _,
};
use minijinja::context;
use minijinja::value::Serde;
use serde::{Deserialize, Serialize};

use crate::shared::citing::{Solved, closing};
use crate::shared::closing::{close, close_unread};
use crate::shared::settings::{self as table, a_cosine, at_least_one};
use crate::shared::sources::Near;
use crate::shared::steps::{NOTHING_NEAR, Reading, answer_from, answer_text};

pub(crate) const ENTRY: Entry = Entry {
    name: "gen_ground",
    paper: "GenGround (ACL 2024), as a baseline of DEC (Section 4.3)",
    summary: "guesses the answer to one simpler question at a time, and corrects it by passages",
    calls: "2 to 4 for each round and 1; at most 21 with 5 rounds",
    needs: &[],
    build: |values| Ok(Arc::new(table::parse::<GenGround>(values)?.checked()?)),
};

const DEDUCE: Prompt<Deduced> = Prompt::json("gen_ground/deduce");
const GROUND: Prompt<Reading> = Prompt::json("gen_ground/ground");
const ANSWER: Prompt<Reading> = Prompt::json("gen_ground/answer");

/// The next simpler question with its answer from memory; an empty question when nothing is left
/// to ask.
#[derive(Deserialize)]
struct Deduced {
    #[serde(deserialize_with = "answer_text")]
    question: String,
    #[serde(default, deserialize_with = "answer_text")]
    answer: String,
}

/// What a round comes to.
struct Round {
    solved: Solved,
    /// Whether there was anything to ground the answer in.
    near: bool,
}

#[async_trait]
impl Strategy for GenGround {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn settings(&self) -> serde_json::Value {
        table::json(self)
    }

    async fn answer(&self, question: &Question, cx: &Cx) -> Result<Answer> {
        let (mut history, mut near): (Vec<Solved>, bool) = (vec![], false);
        while history.len() < self.n {
            let cx = cx.span(format!("round {}", history.len() + 1));
            let round = self.round(question, &history, &cx).await.unless_spent()?;
            let Some(round) = round else { break };
            near |= round.near;
            history.push(round.solved);
        }
        let mut context = vec![];
        if history.is_empty() {
            cx.note("no sub-question: reading the passages near the question");
            context = self.near(&question.text, cx).await?;
            near = !context.is_empty();
        }
        if !near && (question.abstain || history.is_empty()) {
            return close_unread(NOTHING_NEAR, question, cx).await;
        }
        let (pairs, read) = (Serde(&history), Serde(&context));
        let variables = context! { question => Serde(question), history => pairs, context => read };
        let reading = close(&ANSWER, variables, cx).await?;
        if history.is_empty() {
            return Ok(answer_from(reading, &context));
        }
        Ok(closing(reading, &history))
    }
}

impl GenGround {
    /// One turn of the loop; `None` when nothing is left to ask.
    async fn round(
        &self,
        question: &Question,
        history: &[Solved],
        cx: &Cx,
    ) -> Result<Option<Round>> {
        let variables = context! { question => Serde(question), history => Serde(history) };
        let deduced = cx.ask(&DEDUCE, variables).await;
        let deduced = deduced.unless_failed(cx, "no further sub-question is asked")?;
        let Some(Deduced { question: next, answer }) = deduced else { return Ok(None) };
        let next = next.trim().to_owned();
        if next.is_empty() {
            return Ok(None);
        }
        if history.iter().any(|solved| words(&solved.question) == words(&next)) {
            cx.note("this was asked before: no question is left");
            return Ok(None);
        }
        let passages = self.near(&next, cx).await?;
        let sub_question = question.sub_question(&next);
        for batch in passages.chunks(self.batch) {
            let variables = context! { question => Serde(&sub_question), context => Serde(batch), answer => &answer };
            let reading = cx.ask(&GROUND, variables).await;
            let reading = match reading.unless_failed(cx, "these passages are skipped") {
                Err(Error::Spent(_)) => break,
                reading => reading?,
            };
            let Some(reading) = reading else { continue };
            let solved = Solved::read(next.clone(), reading, batch);
            if !solved.answer.is_empty() {
                return Ok(Some(Round { solved, near: true }));
            }
        }
        cx.note("no passage supports the answer");
        let answer = if self.from_memory { answer.trim().to_owned() } else { String::new() };
        let solved = Solved { question: next, answer, citations: vec![] };
        Ok(Some(Round { solved, near: !passages.is_empty() }))
    }
    async fn near(&self, text: &str, cx: &Cx) -> Result<Vec<Hit>> {
        let chunks = self.batch * self.batches;
        let near = Near { chunks, atoms: 0, min_score: self.min_score, mode: self.mode };
        near.to(text, &[], cx).await
    }
}

/// The defaults are those of DEC, Appendix A.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct GenGround {
    /// N, the most rounds (DEC, Table 1: 5 on every set).
    pub(crate) n: usize,
    /// Chunks that are read at once (DEC, Appendix A).
    pub(crate) batch: usize,
    /// The most batches a round (DEC, Appendix A).
    pub(crate) batches: usize,
    /// Keep an answer that no batch supports, as the paper does; otherwise it counts as not found.
    pub(crate) from_memory: bool,
    /// δ as a cosine; `None` is the usual one of the embedder in use.
    pub(crate) min_score: Option<f32>,
    pub(crate) mode: Mode,
}

impl Default for GenGround {
    fn default() -> Self {
        Self { n: 5, batch: 3, batches: 3, from_memory: true, min_score: None, mode: Mode::Dense }
    }
}

impl GenGround {
    /// Refuses values with which the algorithm cannot run.
    pub(super) fn checked(self) -> std::result::Result<Self, String> {
        at_least_one("n", self.n)?;
        at_least_one("batch", self.batch)?;
        at_least_one("batches", self.batches)?;
        a_cosine("min_score", self.min_score)?;
        Ok(self)
    }
}
