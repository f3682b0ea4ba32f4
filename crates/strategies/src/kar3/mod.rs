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
//! With a trained proposer (`trained.rs`) one call replaces proposing and choosing. Training data
//! for one come from a loop that records its hops (`recording.rs`).
//!
//! Departures from the paper: `docs/developers/departures.md`.
mod candidates;
mod pool;
mod propose;
mod recording;
mod settings;
#[cfg(test)]
mod tests;
mod trained;
#[cfg(test)]
mod training_tests;

use std::sync::Arc;

use async_trait::async_trait;
use halma_core::{Answer, Cx, Entry, Hit, Prompt, Question, Result, Strategy, UnlessSpent as _};
use minijinja::context;
use minijinja::value::Serde;

use self::candidates::Selected;
use self::propose::Proposal;
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

const ANSWER: Prompt<Reading> = Prompt::json("kar3/answer");

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

/// The state of a run.
#[derive(Default)]
struct State {
    /// C.
    context: Vec<Hit>,
    proposed: Vec<Proposal>,
    /// Whether the last hop read nothing.
    nothing_read: bool,
}

/// The end of a hop.
enum Hop {
    Read,
    /// Nothing new is near, or no candidate is chosen.
    NothingRead,
    Enough,
}

impl Kar3 {
    /// The context of at most N hops; what was collected when the budget is spent.
    pub(crate) async fn collect(&self, question: &Question, cx: &Cx) -> Result<Vec<Hit>> {
        if self.proposer == Proposer::Trained {
            return self.follow(question, cx).await;
        }
        if self.sub_answers || self.sample {
            return self.collect_recorded(question, cx).await;
        }
        let mut state = State::default();
        for t in 1..=self.n {
            let cx = cx.span(format!("hop {t}"));
            let hop = self.hop(question, &mut state, &cx).await;
            if !self.continues(hop, &mut state)? {
                break;
            }
        }
        Ok(state.context)
    }

    async fn hop(&self, question: &Question, state: &mut State, cx: &Cx) -> Result<Hop> {
        let mut proposals = self.propose(question, &state.context, &state.proposed, cx).await?;
        if proposals.is_empty() {
            cx.note("enough is known");
            return Ok(Hop::Enough);
        }
        let candidates = self.retrieve(question, &mut proposals, &state.context, cx).await?;
        let selected = self.select(question, &state.context, candidates, cx).await?;
        Ok(state.read(proposals, selected))
    }

    /// Whether another hop follows: after one that read nothing, once, unless `stop_on_none`.
    fn continues(&self, hop: Result<Hop>, state: &mut State) -> Result<bool> {
        let repeated = state.nothing_read;
        let hop = hop.map(Some).unless_spent()?;
        state.nothing_read = matches!(hop, Some(Hop::NothingRead));
        let retries = state.nothing_read && !self.stop_on_none && !repeated;
        Ok(retries || matches!(hop, Some(Hop::Read)))
    }
}

impl State {
    /// C <- C + chunk(s); without one, all proposals of the hop were in vain.
    fn read(&mut self, mut proposals: Vec<Proposal>, selected: Option<Selected>) -> Hop {
        let hop = if selected.is_some() { Hop::Read } else { Hop::NothingRead };
        for proposal in &mut proposals {
            proposal.in_vain |= selected.is_none();
        }
        self.proposed.extend(proposals);
        self.context.extend(selected.map(|selected| selected.chunk));
        hop
    }
}
