//! The loop with a trained proposer (PIKE-RAG, Section 5.3.3: lines 3 to 5 of Algorithm 1 become a
//! single call).
//!
//! ```text
//! C, H <- {}
//! for t = 1 … N
//!     q^t <- M(q, H)                one sub-question; none: stop          -> kar3/decompose.md
//!     c^t <- the chunk of the atom nearest to q^t; else the chunk nearest
//!     a^t <- LLM(q^t, c^t)                                                -> kar3/answer_one.md
//!     C <- C + c^t; H <- H + (q^t, a^t)
//! ```
use halma_core::text::words;
use halma_core::{
    ChosenHop, Cx, DecompositionHop, Hit, Layer, NextQuestion, Prompt, Question, Result,
    UnlessFailed as _, UnlessSpent as _,
};
use minijinja::context;
use minijinja::value::Serde;

use super::Kar3;
use super::recording::answer_one;
use crate::shared::citing::Solved;
use crate::shared::steps::chunk_of;

const DECOMPOSE: Prompt<NextQuestion> =
    Prompt { name: "kar3/decompose", parse: NextQuestion::parse };

/// The state of a run: C and H.
#[derive(Default)]
struct Chain {
    context: Vec<Hit>,
    history: Vec<Solved>,
}

impl Kar3 {
    /// The context that the sub-questions lead to; what was collected when the budget is spent.
    pub(super) async fn follow(&self, question: &Question, cx: &Cx) -> Result<Vec<Hit>> {
        let mut chain = Chain::default();
        for t in 1..=self.n {
            let cx = cx.span(format!("hop {t}"));
            let more = self.step(question, &mut chain, &cx).await.map(Some);
            if more.unless_spent()? != Some(true) {
                break;
            }
        }
        Ok(chain.context)
    }

    /// One sub-question with its answer; `false` after the last.
    async fn step(&self, question: &Question, chain: &mut Chain, cx: &Cx) -> Result<bool> {
        let Some(sub_question) = next(question, &chain.history, cx).await? else {
            return Ok(false);
        };
        let same = |earlier: &Solved| words(&earlier.question) == words(&sub_question);
        if chain.history.iter().any(same) {
            // The model would ask it again and again: it sees the same history.
            cx.note("this was asked before: no more is asked");
            return Ok(false);
        }
        let Some(chunk) = self.nearest(&sub_question, cx).await? else {
            cx.note("nothing is near the sub-question");
            chain.history.push(Solved::unanswered(sub_question));
            return Ok(true);
        };
        cx.note(format!("reads “{}”", chunk.title));
        let answer = answer_one(question, &sub_question, &chunk, cx).await?;
        if self.sub_answers {
            cx.note(recorded_hop(&sub_question, &answer, &chunk).note());
        }
        chain.history.push(Solved { question: sub_question, answer, citations: vec![] });
        if !chain.context.iter().any(|earlier| earlier.id == chunk.id) {
            chain.context.push(chunk);
        }
        Ok(true)
    }

    /// The chunk of the nearest atom; failing that, the nearest chunk. One that the context holds
    /// already may answer another sub-question.
    async fn nearest(&self, sub_question: &str, cx: &Cx) -> Result<Option<Hit>> {
        let mut layers = vec![self.layer()];
        if self.fall_back_chunks && self.layer() == Layer::Atom {
            layers.push(Layer::Chunk);
        }
        for layer in layers {
            let query = self.query(vec![sub_question.to_owned()], layer, &[]);
            if let Some(best) = cx.search(&query).await?.into_iter().flatten().next() {
                return chunk_of(&best, cx).await.map(Some);
            }
        }
        Ok(None)
    }
}

fn recorded_hop(sub_question: &str, answer: &str, chunk: &Hit) -> DecompositionHop {
    let (sub_question, answer, chunk) = (sub_question.into(), answer.into(), chunk.id.clone());
    let proposals = vec![String::clone(&sub_question)];
    let chosen = Some(ChosenHop { candidate: 0, sub_question, answer, chunk });
    DecompositionHop { proposals, chosen, ..DecompositionHop::default() }
}

/// q^t; `None` when no more is needed. Without a readable reply, and without a sub-question, the
/// first hop asks the question itself.
async fn next(question: &Question, history: &[Solved], cx: &Cx) -> Result<Option<String>> {
    let variables = context! { question => Serde(question), history => Serde(history) };
    let reply = cx.ask(&DECOMPOSE, variables).await;
    match reply.unless_failed(cx, "no sub-question is proposed")? {
        Some(NextQuestion::Ask(sub_question)) => Ok(Some(sub_question)),
        Some(NextQuestion::Stop) if history.is_empty() => {
            cx.note("nothing is asked and nothing was read: searches with the question");
            Ok(Some(question.text.clone()))
        }
        Some(NextQuestion::Stop) => {
            cx.note("enough is known");
            Ok(None)
        }
        None => Ok(history.is_empty().then(|| question.text.clone())),
    }
}
