//! Iter-RetGen: answer, search with the answer and its reasoning, answer again.
//!
//! Paper: Shao et al., Findings of EMNLP 2023, Section 3, as set up in "From Complex to Atomic"
//! (ICML 2025), Appendix A.2 and A.3: 5 rounds, 16 chunks each.
//!
//! ```text
//! y <- ""
//! repeat N times
//!     D <- chunks near q + y
//!     y <- LLM(q, D)               reasoning and answer     -> iter_retgen/answer.md
//! â <- the answer of the last y
//! ```
//!
//! Departures from the papers: `docs/developers/departures.md`.
use std::sync::Arc;

use async_trait::async_trait;
use halma_core::{
    Answer, Cx, Entry, Mode, Prompt, Question, Result, Strategy, UnlessFailed as _,
    UnlessSpent as _,
};
use minijinja::context;
use minijinja::value::Serde;
use serde::{Deserialize, Serialize};

use crate::shared::closing::{close, close_unread};
use crate::shared::settings;
use crate::shared::sources::Near;
use crate::shared::steps::{NOTHING_NEAR, Reading, answer_from};

pub(crate) const ENTRY: Entry = Entry {
    name: "iter_retgen",
    paper: "Iter-RetGen (EMNLP 2023), as a baseline of KAR³ (Appendix A.2)",
    summary: "answers in rounds and searches with the last answer and its reasoning",
    calls: "1 for each round; at most 5",
    needs: &[],
    build: |table| Ok(Arc::new(settings::parse::<IterRetgen>(table)?.checked()?)),
};

const ANSWER: Prompt<Reading> = Prompt::json("iter_retgen/answer");

/// The defaults are those of KAR³, Section 4.1 and Appendix A.3.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct IterRetgen {
    /// Rounds of searching and answering (Section 4.1).
    pub(crate) n: usize,
    /// The most chunks a round (Appendix A.3).
    pub(crate) chunks: usize,
    /// δ as a cosine; `None` is the usual one of the embedder in use.
    pub(crate) min_score: Option<f32>,
    pub(crate) mode: Mode,
}

impl Default for IterRetgen {
    fn default() -> Self {
        Self { n: 5, chunks: 16, min_score: None, mode: Mode::Dense }
    }
}

#[async_trait]
impl Strategy for IterRetgen {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn settings(&self) -> serde_json::Value {
        settings::json(self)
    }

    async fn answer(&self, question: &Question, cx: &Cx) -> Result<Answer> {
        let near =
            Near { chunks: self.chunks, atoms: 0, min_score: self.min_score, mode: self.mode };
        let mut last: Option<(Answer, String)> = None;
        for round in 1..=self.n {
            let cx = cx.span(format!("round {round}"));
            let reasoned = last.as_ref().map_or("", |(_, reasoned)| reasoned);
            let query = format!("{} {reasoned}", question.text);
            let chunks = near.to(query.trim(), &[], &cx).await?;
            if chunks.is_empty() {
                break;
            }
            let variables = context! { question => Serde(question), context => Serde(&chunks) };
            // The reserve pays the first answer; later rounds better one that is there already.
            let reading = if last.is_none() {
                Some(close(&ANSWER, variables, &cx).await?)
            } else {
                let reading = cx.ask(&ANSWER, variables).await;
                reading.unless_failed(&cx, "the answer of the round before stays").unless_spent()?
            };
            let Some(reading) = reading else { break };
            let reasoned = format!("{} {}", reading.rationale, reading.answer);
            let settled = last.as_ref().is_some_and(|(_, before)| *before == reasoned);
            last = Some((answer_from(reading, &chunks), reasoned));
            if settled {
                break;
            }
        }
        match last {
            Some((answer, _)) => Ok(answer),
            None => close_unread(NOTHING_NEAR, question, cx).await,
        }
    }
}

impl IterRetgen {
    fn checked(self) -> std::result::Result<Self, String> {
        settings::at_least_one("n", self.n)?;
        settings::at_least_one("chunks", self.chunks)?;
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

    const STEP: &str = r#"{"rationale": "Ilse Thorn was the architect. Where Ilse Thorn was born is open.", "answer": ""}"#;
    const NORWAY: &str = r#"{"rationale": "Ilse Thorn was born in Norway.", "answer": "Norway"}"#;

    fn small() -> IterRetgen {
        IterRetgen { chunks: 2, n: 3, ..IterRetgen::default() }
    }

    #[tokio::test]
    async fn the_last_answer_and_its_reasoning_are_searched_for() {
        let model = Script::new([
            ("iter_retgen/answer", STEP),
            ("iter_retgen/answer", NORWAY),
            ("iter_retgen/answer", NORWAY),
        ]);
        golden("iter_retgen/rounds", &small(), Run::new(model)).await;
    }

    #[tokio::test]
    async fn a_spent_budget_keeps_the_answer_before() {
        let budget = Budget { calls: Some(2), ..Budget::default() };
        let model = Script::new([("iter_retgen/answer", NORWAY)]);
        golden("iter_retgen/spent_budget", &small(), Run { budget, ..Run::new(model) }).await;
    }

    #[tokio::test]
    async fn nothing_found_abstains_without_a_call() {
        let run = Run { knowledge: Toy::empty(), ..Run::new(Script::new([])) };
        golden("iter_retgen/empty_search", &small(), run).await;
    }

    #[tokio::test]
    async fn a_round_that_cannot_be_read_keeps_the_answer_before() {
        let bad = ("iter_retgen/answer", "?");
        let model = Script::new([("iter_retgen/answer", STEP), bad, bad, bad]);
        golden("iter_retgen/bad_round", &small(), Run::new(model)).await;
    }

    #[tokio::test]
    async fn a_first_reply_that_stays_malformed_is_asked_for_plainly() {
        let (bad, plain) = (("iter_retgen/answer", "?"), ("closing/plain", "{"));
        let model = Script::new([bad, bad, bad, plain, plain, plain]);
        golden("iter_retgen/always_malformed", &IterRetgen { n: 1, ..small() }, Run::new(model))
            .await;
    }
}
