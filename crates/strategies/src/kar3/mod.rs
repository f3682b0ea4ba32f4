//! KAR³: knowledge-aware dual rewriting and reasoning.
//!
//! Paper: "From Complex to Atomic" (ICML 2025), Algorithm 1.
//!
//! ```text
//! C <- {}                            the context
//! for t = 1 … N
//!     Q <- f_p(q, C)                 atomic query proposals; none: stop    -> kar3/propose.md
//!                                    (in the first hop: q itself)
//!     P <- R_atom(Q)                 k atoms near each, Sim >= δ, chunk not in C
//!          if P is empty: the same with q; then chunks near q; then stop
//!     s <- LLM(q, C, P)              the most useful, or none: stop, or    -> kar3/select.md
//!                                    propose once more (`stop_on_none`)
//!     C <- C + chunk(s)
//! â <- LLM(q, C)                                                           -> kar3/answer.md
//! ```
//!
//! With a trained proposer (`trained.rs`) one call replaces proposing and choosing. For collecting
//! training data the proposer sees a sampled chunk (`pool.rs`), and hops are recorded (`record.rs`).
//!
//! Departures from the paper: `docs/strategies/kar3.md`.
mod candidates;
mod pool;
mod record;
mod settings;
#[cfg(test)]
mod tests;
mod trained;
#[cfg(test)]
mod training_tests;

use std::sync::Arc;

use async_trait::async_trait;
use halma_core::{
    Answer, Cx, Entry, Hit, NodeId, Prompt, Question, Result, Strategy, UnlessFailed, UnlessSpent,
};
use minijinja::context;
use minijinja::value::Serde;
use serde::{Deserialize, Serialize};

use self::pool::{Draw, Pool};
use self::record::recorded;
pub(crate) use self::settings::{Kar3, Proposals, Proposer, Retrieve, SelectBy};
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

/// What a run has come to.
#[derive(Default)]
struct State {
    /// C.
    context: Vec<Hit>,
    proposed: Vec<Proposal>,
    /// S and V, where contexts are sampled.
    pool: Pool,
}

/// What one turn of the loop comes to.
enum Hop {
    Read,
    /// Nothing new is near, or no candidate is chosen.
    InVain,
    Enough,
}

impl Kar3 {
    /// The context of at most N hops; what was collected when the budget is spent.
    pub(crate) async fn collect(&self, question: &Question, cx: &Cx) -> Result<Vec<Hit>> {
        if self.proposer == Proposer::Trained {
            return self.follow(question, cx).await;
        }
        let mut state = State::default();
        let mut in_vain = false;
        for t in 1..=self.n {
            let cx = cx.span(format!("hop {t}"));
            let hop = self.hop(question, t, &mut state, &cx).await;
            match hop.map(Some).unless_spent()? {
                Some(Hop::Read) => in_vain = false,
                Some(Hop::InVain) if !self.stop_on_none && !in_vain => in_vain = true,
                Some(Hop::InVain | Hop::Enough) | None => break,
            }
        }
        Ok(state.context)
    }

    async fn hop(&self, question: &Question, t: usize, state: &mut State, cx: &Cx) -> Result<Hop> {
        let sampled = self.sampled(t, state, cx).await?;
        let mut record = recorded(sampled.as_ref());
        record.proposals = self.proposals(question, sampled, state, cx).await?;
        if record.proposals.is_empty() {
            cx.note("enough is known");
            self.record(&record, cx);
            return Ok(Hop::Enough);
        }
        let earlier = state.proposed.len();
        let proposal = |text: &String| Proposal { text: text.clone(), in_vain: false };
        state.proposed.extend(record.proposals.iter().map(proposal));
        let proposals = &mut state.proposed[earlier..];
        let candidates = self.retrieve(question, proposals, &state.context, cx).await?;
        if self.sample {
            self.pool_others(&mut record, &candidates, state, cx).await?;
        }
        if candidates.is_empty() {
            cx.note("nothing new is near");
            self.record(&record, cx);
            return Ok(Hop::InVain);
        }
        record.candidates = candidates.iter().map(record::candidate).collect();
        let selected = self.select(question, &state.context, candidates, cx).await?;
        let Some(selected) = selected else {
            for proposal in &mut state.proposed[earlier..] {
                proposal.in_vain = true;
            }
            self.record(&record, cx);
            return Ok(Hop::InVain);
        };
        state.pool.choose(&selected.chunk.id);
        self.record_choice(record, &selected, question, cx).await?;
        state.context.push(selected.chunk);
        Ok(Hop::Read)
    }

    /// Line 5 of Algorithm 2 of PIKE-RAG: a chunk to be shown to the proposer.
    async fn sampled(&self, t: usize, state: &mut State, cx: &Cx) -> Result<Option<Hit>> {
        if !self.sample {
            return Ok(None);
        }
        let (alpha, noise, seed) = (self.sample_alpha, self.sample_noise, self.sample_seed);
        let context: Vec<&NodeId> = state.context.iter().map(|chunk| &chunk.id).collect();
        let Some(id) = state.pool.sample(t, &context, Draw { alpha, noise, seed }) else {
            return Ok(None);
        };
        state.pool.visit(&id);
        let chunk = cx.get(&id).await?;
        cx.note(format!("shows the proposer “{}” as well", chunk.title));
        Ok(Some(chunk))
    }

    /// Line 6: proposals from the context and the sampled chunk; where that leaves nothing to ask,
    /// from the context alone, as the sampled chunk is not in it.
    async fn proposals(
        &self,
        question: &Question,
        sampled: Option<Hit>,
        state: &State,
        cx: &Cx,
    ) -> Result<Vec<String>> {
        let State { context, proposed, .. } = state;
        if let Some(sampled) = sampled {
            let shown: Vec<Hit> = context.iter().cloned().chain([sampled]).collect();
            let proposals = self.propose(question, &shown, proposed, cx).await?;
            if !proposals.is_empty() {
                return Ok(proposals);
            }
            cx.note("nothing is proposed with the sampled chunk: proposing without it");
        }
        self.propose(question, context, proposed, cx).await
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
        if proposals.is_empty() && context.is_empty() && proposed.is_empty() {
            cx.note("nothing is proposed and nothing was read: searches with the question");
            proposals.push(question.text.clone());
        }
        Ok(proposals)
    }
}
