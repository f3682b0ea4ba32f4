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
//!     s <- LLM(q, C, P)              the most useful, or none: stop, or    -> kar3/select.md
//!                                    propose once more (`stop_on_none`)
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
use halma_core::{
    Answer, Cx, Entry, Hit, Prompt, Question, Result, Strategy, UnlessFailed, UnlessSpent,
};
use minijinja::context;
use minijinja::value::Serde;
use serde::{Deserialize, Serialize};

pub(crate) use self::settings::{Kar3, Proposals, Retrieve, SelectBy};
use crate::shared::closing::close;
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
        let context = self.collect(question, cx).await?;
        let variables = context! { question => Serde(question), context => Serde(&context) };
        let reading = close(&ANSWER, variables, cx).await?;
        Ok(answer_from(reading, &context))
    }
}

/// A sub-question that was searched for.
#[derive(Debug, Serialize)]
struct Proposal {
    text: String,
    /// Nothing new was near it, or none of the candidates of its hop was chosen.
    in_vain: bool,
}

/// What one turn of the loop comes to.
enum Hop {
    Read(Box<Hit>),
    /// Nothing new is near, or no candidate is chosen.
    InVain,
    Enough,
}

impl Kar3 {
    /// The context of at most N hops; what was collected when the budget is spent.
    pub(crate) async fn collect(&self, question: &Question, cx: &Cx) -> Result<Vec<Hit>> {
        let (mut context, mut proposed): (Vec<Hit>, Vec<Proposal>) = (vec![], vec![]);
        let mut in_vain = false;
        for t in 1..=self.n {
            let cx = cx.span(format!("hop {t}"));
            let hop = self.hop(question, &context, &mut proposed, &cx).await;
            match hop.map(Some).unless_spent()? {
                Some(Hop::Read(chunk)) => {
                    context.push(*chunk);
                    in_vain = false;
                }
                Some(Hop::InVain) if !self.stop_on_none && !in_vain => in_vain = true,
                Some(Hop::InVain | Hop::Enough) | None => break,
            }
        }
        Ok(context)
    }

    async fn hop(
        &self,
        question: &Question,
        context: &[Hit],
        proposed: &mut Vec<Proposal>,
        cx: &Cx,
    ) -> Result<Hop> {
        let proposals = self.propose(question, context, proposed, cx).await?;
        if proposals.is_empty() {
            cx.note("enough is known");
            return Ok(Hop::Enough);
        }
        let earlier = proposed.len();
        proposed.extend(proposals.into_iter().map(|text| Proposal { text, in_vain: false }));
        let proposals = &mut proposed[earlier..];
        let candidates = self.retrieve(question, proposals, context, cx).await?;
        if candidates.is_empty() {
            cx.note("nothing new is near");
            return Ok(Hop::InVain);
        }
        if let Some(chunk) = self.select(question, context, candidates, cx).await? {
            return Ok(Hop::Read(Box::new(chunk)));
        }
        for proposal in proposals {
            proposal.in_vain = true;
        }
        Ok(Hop::InVain)
    }

    async fn propose(
        &self,
        question: &Question,
        context: &[Hit],
        proposed: &[Proposal],
        cx: &Cx,
    ) -> Result<Vec<String>> {
        let prompt = if self.proposals == Proposals::One { &PROPOSE_ONE } else { &PROPOSE };
        let worded = |reply: &SubQuestions| {
            let blank = |sub_question: &String| sub_question.trim().is_empty();
            let empty = !reply.sub_questions.is_empty() && reply.sub_questions.iter().all(blank);
            if empty { Err("every one of `sub_questions` is empty".to_owned()) } else { Ok(()) }
        };
        let variables = context! {
            question => Serde(question),
            context => Serde(context),
            proposed => Serde(proposed),
        };
        let reply = cx.ask_checked(prompt, variables, worded).await;
        let Some(reply) = reply.unless_failed(cx, "no sub-question is proposed")? else {
            // The question itself is a proposal for the first hop, and asks nothing new later.
            return Ok(if context.is_empty() { vec![question.text.clone()] } else { vec![] });
        };
        let mut proposals: Vec<String> = vec![];
        for proposal in reply.sub_questions.iter().map(|text| text.trim()) {
            if !proposal.is_empty() && !proposals.iter().any(|earlier| earlier == proposal) {
                proposals.push(proposal.to_owned());
            }
        }
        if self.proposals == Proposals::One && proposals.len() > 1 {
            cx.note(format!("of {} sub-questions, the first is used", proposals.len()));
            proposals.truncate(1);
        }
        Ok(proposals)
    }
}
