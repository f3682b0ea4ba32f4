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

use super::record::answer_one;
use super::{Kar3, Retrieve};
use crate::shared::citing::Solved;
use crate::shared::steps::chunk_of;

const DECOMPOSE: Prompt<NextQuestion> =
    Prompt { name: "kar3/decompose", parse: NextQuestion::parse };

/// What the hops have come to.
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
        let Some(asked) = next(question, &chain.history, cx).await? else { return Ok(false) };
        let same = |earlier: &Solved| words(&earlier.question) == words(&asked);
        if chain.history.iter().any(same) {
            // The model would ask it again and again: it sees the same history.
            cx.note("this was asked before: no more is asked");
            return Ok(false);
        }
        let Some(chunk) = self.nearest(&asked, cx).await? else {
            cx.note("nothing is near the sub-question");
            chain.history.push(Solved {
                question: asked,
                answer: String::new(),
                citations: vec![],
            });
            return Ok(true);
        };
        cx.note(format!("reads “{}”", chunk.title));
        let answer = answer_one(question, &asked, &chunk, cx).await?;
        let chosen = ChosenHop {
            candidate: 0,
            sub_question: asked.clone(),
            answer: answer.clone(),
            chunk: chunk.id.clone(),
        };
        let proposals = vec![asked.clone()];
        let chosen = Some(chosen);
        self.record(&DecompositionHop { proposals, chosen, ..DecompositionHop::default() }, cx);
        chain.history.push(Solved { question: asked, answer, citations: vec![] });
        if !chain.context.iter().any(|earlier| earlier.id == chunk.id) {
            chain.context.push(chunk);
        }
        Ok(true)
    }

    /// The chunk of the nearest atom; failing that, the nearest chunk. One that the context holds
    /// already may answer another sub-question.
    async fn nearest(&self, asked: &str, cx: &Cx) -> Result<Option<Hit>> {
        let layer = if self.retrieve == Retrieve::Atoms { Layer::Atom } else { Layer::Chunk };
        let mut layers = vec![layer];
        if self.fall_back_chunks && layer == Layer::Atom {
            layers.push(Layer::Chunk);
        }
        for layer in layers {
            let query = self.query(vec![asked.to_owned()], layer, &[]);
            if let Some(best) = cx.search(&query).await?.into_iter().flatten().next() {
                return chunk_of(&best, cx).await.map(Some);
            }
        }
        Ok(None)
    }
}

/// q^t; `None` when no more is needed. Without a readable reply, and without a sub-question, the
/// first hop asks the question itself.
async fn next(question: &Question, history: &[Solved], cx: &Cx) -> Result<Option<String>> {
    let variables = context! { question => Serde(question), history => Serde(history) };
    let reply = cx.ask(&DECOMPOSE, variables).await;
    match reply.unless_failed(cx, "no sub-question is proposed")? {
        Some(NextQuestion::Ask(asked)) => Ok(Some(asked)),
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
