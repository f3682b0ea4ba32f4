//! KAR³: knowledge-aware dual rewriting and reasoning.
//!
//! Paper: "From Complex to Atomic" (ICML 2025), Algorithm 1.
//!
//! ```text
//! C <- {}                            the context
//! for t = 1 … N
//!     Q <- f_p(q, C)                 atomic query proposals; none: stop    -> kar3/propose.md
//!     P <- R_atom(Q)                 k atoms near each, Sim >= δ, chunk not in C
//!          if P is empty: the same with q; then chunks near q; then stop
//!     s <- LLM(q, C, P)              the most useful, or none: stop        -> kar3/select.md
//!     C <- C + chunk(s)
//! â <- LLM(q, C)                                                           -> kar3/answer.md
//! ```
//!
//! Departures from the paper: `docs/strategies/kar3.md`.
mod candidates;
mod settings;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use async_trait::async_trait;
use halma_core::{Answer, Cx, Entry, Hit, Prompt, Question, Result, Strategy, UnlessSpent};
use minijinja::context;
use minijinja::value::Serde;
use serde::Deserialize;

pub(crate) use self::settings::{Kar3, Proposals, Retrieve, SelectBy};
use crate::shared::settings as table;
use crate::shared::steps::{Reading, answer_from};

pub(crate) const ENTRY: Entry = Entry {
    name: "kar3",
    paper: "From Complex to Atomic: Enhancing Augmented Generation via Knowledge-Aware Dual \
            Rewriting and Reasoning, ICML 2025",
    summary: "collects one chunk a hop: proposes sub-questions, searches the atoms, selects one",
    calls: "2 for each hop and 1 to 2 more; at most 11 with 5 hops",
    needs: &[],
    build: |values| Ok(Arc::new(table::parse::<Kar3>(values)?.checked()?)),
};

const PROPOSE: Prompt<SubQuestions> = Prompt::json("kar3/propose");
const PROPOSE_ONE: Prompt<SubQuestions> = Prompt::json("kar3/propose_one");
const ANSWER: Prompt<Reading> = Prompt::json("kar3/answer");

#[derive(Deserialize)]
struct SubQuestions {
    sub_questions: Vec<String>,
}

#[async_trait]
impl Strategy for Kar3 {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn settings(&self) -> serde_json::Value {
        table::json(self)
    }

    async fn answer(&self, question: &Question, cx: &Cx) -> Result<Answer> {
        let mut context: Vec<Hit> = vec![];
        for t in 1..=self.n {
            let cx = cx.span(format!("hop {t}"));
            match self.hop(question, &context, &cx).await.unless_spent()? {
                Some(chunk) => context.push(chunk),
                None => break,
            }
        }
        let variables = context! { question => Serde(question), context => Serde(&context) };
        let reading = cx.reserve().ask(&ANSWER, variables).await?;
        Ok(answer_from(reading, &context))
    }
}

impl Kar3 {
    /// One turn of the loop. `None` when there is nothing more to ask, to find or to choose.
    async fn hop(&self, question: &Question, context: &[Hit], cx: &Cx) -> Result<Option<Hit>> {
        let proposals = self.propose(question, context, cx).await?;
        if proposals.is_empty() {
            cx.note("enough is known");
            return Ok(None);
        }
        let candidates = self.retrieve(question, proposals, context, cx).await?;
        if candidates.is_empty() {
            cx.note("nothing new is near");
            return Ok(None);
        }
        self.select(question, context, candidates, cx).await
    }

    async fn propose(&self, question: &Question, context: &[Hit], cx: &Cx) -> Result<Vec<String>> {
        let prompt = if self.proposals == Proposals::One { &PROPOSE_ONE } else { &PROPOSE };
        let worded = |reply: &SubQuestions| {
            let empty = reply.sub_questions.iter().any(|sub_question| sub_question.trim() == "");
            if empty { Err("one of `sub_questions` is empty".to_owned()) } else { Ok(()) }
        };
        let variables = context! { question => Serde(question), context => Serde(context) };
        let reply = cx.ask_checked(prompt, variables, worded).await?;
        let mut proposals: Vec<String> = vec![];
        for proposal in reply.sub_questions {
            if !proposals.contains(&proposal) {
                proposals.push(proposal);
            }
        }
        if self.proposals == Proposals::One {
            proposals.truncate(1);
        }
        Ok(proposals)
    }
}
