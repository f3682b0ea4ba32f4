//! PIKE-RAG, level 4: questions that ask for ideas.
//!
//! Paper: "PIKE-RAG: specialised knowledge and rationale augmented generation", Sections 3.2 and
//! 5.5, Figure 15.
//!
//! ```text
//! board:        q_1 … q_n <- LLM(q, what the base holds)          -> pike_l4/ask.md
//!               each answered and cited by levels 1 to 3, concurrently
//! perspectives: a_1 … a_A <- LLM(q, board), which differ          -> pike_l4/perspectives.md
//! agents, concurrently:
//!               a search text, its chunks; at most look_ups times -> pike_l4/look_up.md
//!               proposals <- LLM(q, a_i, board, chunks)           -> pike_l4/propose.md
//! criticism, concurrently, so many rounds:
//!               scores, objections <- LLM(q, a_i, proposals of the others)
//!                                                                 -> pike_l4/criticise.md
//! synthesis:    proposals that say nearly the same are joined, in code
//!               â <- LLM(q, board, proposals, scores, objections) -> pike_l4/synthesise.md
//! ```
//!
//! Departures from the paper: `docs/developers/departures.md`.
mod agents;
mod board;
mod criticism;
mod perspectives;
mod proposals;
mod report;
mod synthesis;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use async_trait::async_trait;
use halma_core::{Answer, Cx, Entry, Question, Result, Strategy};
use serde::{Deserialize, Serialize};

use crate::pike_l2::PikeL2;
use crate::shared::kinds::Kind;
use crate::shared::settings::{self, at_least_one};

pub(crate) const ENTRY: Entry = Entry {
    name: "pike_l4",
    paper: "PIKE-RAG, Section 5.5 (level 4)",
    summary: "agents with different perspectives propose over cited facts, criticise, and are synthesised",
    calls: "2 + A (1 + look-ups) + A rounds + 1, 23 with 4 agents, and those of at most 6 sub-questions",
    needs: &[],
    build: |table| Ok(Arc::new(settings::parse::<PikeL4>(table)?.checked()?)),
};

/// The paper names no constants.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct PikeL4 {
    /// The most sub-questions whose answers are the evidence board.
    pub(crate) questions: usize,
    /// The most agents; each has a perspective of its own.
    pub(crate) agents: usize,
    /// Names of perspectives; empty: a model draws them from the question and the board.
    pub(crate) perspectives: Vec<String>,
    /// Give each agent a perspective; without them, an ablation, they differ by chance alone.
    pub(crate) own_perspectives: bool,
    /// Look-ups of each agent, and chunks that each brings.
    pub(crate) look_ups: usize,
    pub(crate) chunks: usize,
    /// The most proposals of each agent.
    pub(crate) ideas: usize,
    /// Rounds of criticism; 0 is an ablation.
    pub(crate) rounds: usize,
    /// Share of common words from which two ideas are one.
    pub(crate) alike: f64,
}

impl Default for PikeL4 {
    fn default() -> Self {
        let (questions, agents, look_ups, chunks) = (6, 4, 3, 4);
        let (ideas, rounds, alike, perspectives) = (3, 1, 0.7, vec![]);
        let own_perspectives = true;
        Self {
            questions,
            agents,
            perspectives,
            own_perspectives,
            look_ups,
            chunks,
            ideas,
            rounds,
            alike,
        }
    }
}

#[async_trait]
impl Strategy for PikeL4 {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn settings(&self) -> serde_json::Value {
        settings::json(self)
    }

    async fn answer(&self, question: &Question, cx: &Cx) -> Result<Answer> {
        cx.note(self.expected_calls());
        let Some(board) = self.board(question, &cx.span("board")).await? else {
            return summarise("no model could ask for the facts that ideas need", question, cx)
                .await;
        };
        let perspectives = self.perspectives(question, &board, &cx.span("perspectives")).await?;
        let mut proposals = self.propose(question, &board, &perspectives, cx).await?;
        if proposals.all.is_empty() {
            return summarise("no agent proposed anything", question, cx).await;
        }
        for round in 1..=self.rounds {
            let cx = cx.span(format!("criticism {round}"));
            self.criticise(question, (round, &perspectives), &mut proposals, &cx).await?;
        }
        self.synthesise(question, &board, &proposals, &cx.span("synthesis")).await
    }
}

/// What can be said without ideas.
async fn summarise(reason: &str, question: &Question, cx: &Cx) -> Result<Answer> {
    cx.note(format!("{reason}: summarizing instead"));
    let answer = PikeL2::default().of_kind(Kind::Summarising, question, cx).await?;
    let limitation =
        format!("These are not ideas but what the documents say about the question: {reason}.");
    Ok(Answer { limitation: Some(limitation), ..answer })
}

impl PikeL4 {
    fn expected_calls(&self) -> String {
        let Self { questions, look_ups, rounds, .. } = *self;
        let agents =
            if self.perspectives.is_empty() { self.agents } else { self.perspectives.len() };
        let calls = 2 + agents * (1 + look_ups) + agents * rounds + 1;
        format!(
            "at most {calls} calls with {agents} agents, and those of {questions} sub-questions"
        )
    }

    pub(crate) fn checked(self) -> std::result::Result<Self, String> {
        at_least_one("questions", self.questions)?;
        at_least_one("agents", self.agents)?;
        at_least_one("ideas", self.ideas)?;
        at_least_one("chunks", self.chunks)?;
        if !(0.0..=1.0).contains(&self.alike) {
            return Err(format!("`alike` is {}, but must be between 0 and 1", self.alike));
        }
        Ok(self)
    }
}
