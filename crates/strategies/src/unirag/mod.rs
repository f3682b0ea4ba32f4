//! `UniRAG`: entity-grounded decomposition, break-down reasoning, iterative rewriting.
//!
//! Paper: Kim et al., "`UniRAG`: A Unified RAG Framework for Knowledge-Intensive Queries with
//! Decomposition, Break-Down Prompting, and Iterative Rewriting", Section 3.
//!
//! ```text
//! q' <- q
//! repeat at most R times
//!     E  <- the entities of q'
//!     SQ <- LLM(q', E)              p single-hop queries, none used before  -> unirag/sub_queries.md
//!                                   (without a search: the steps of y)
//!     D_c <- D_q' + D_sq1 + … + D_sqp         k chunks each, in one search
//!     D_θ <- {d in D_c: s(d, q') >= θ}        by the reranker; none: the best 3
//!     y  <- LLM(q, D_θ)             constraint by constraint                -> unirag/break_down.md
//!     stop when y is accepted:      faithful, and mean of the RAGAs         -> unirag/gate.md
//!                                   criteria, from counts, >= τ
//!     q' <- LLM(q, y)               what y lacks                            -> unirag/rewrite.md
//! â <- the y that was accepted, or the one with the best mean
//! ```
//!
//! Departures from the paper: `docs/developers/departures.md`.
mod gate;
mod gather;
mod reason;
mod settings;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use async_trait::async_trait;
use halma_core::{
    Answer, Cx, Entry, Hit, Layer, Question, Result, Strategy, UnlessFailed as _, UnlessSpent as _,
};

use self::gate::Verdict;
use self::reason::Reasoned;
pub(crate) use self::settings::{Prompting, Unirag};
use crate::shared::citing::Solved;
use crate::shared::closing::close_unread;
use crate::shared::settings as table;
use crate::shared::steps::{NOTHING_NEAR, answer_from};

pub(crate) const ENTRY: Entry = Entry {
    name: "unirag",
    paper: "UniRAG: A Unified RAG Framework for Knowledge-Intensive Queries with Decomposition, \
            Break-Down Prompting, and Iterative Rewriting",
    summary: "searches with sub-queries, checks each constraint of the question, and rewrites it \
              until the passages support the answer",
    calls: "3 for each round, 4 where too few sub-queries come, and 1 between rounds; at most 14",
    needs: &[],
    build: |values| Ok(Arc::new(table::parse::<Unirag>(values)?.checked()?)),
};

/// An answer that was not accepted is never given more confidence than this.
const LOW: f32 = 0.5;

const EMPTY_BASE: &str = "the knowledge base has no passages: add documents with `halma index`, or \
                          set `unirag.retrieve` to false for questions that need none";

/// What the rounds leave to one another.
struct Rounds {
    /// q', with the options and the kind of q.
    query: Question,
    /// Every q' with what was answered to it.
    history: Vec<Solved>,
    /// Every sub-query so far, and without a search those of this round.
    used: Vec<String>,
    steps: Vec<String>,
    passages: Vec<Hit>,
    best: Option<(Answer, Option<Verdict>)>,
}

#[async_trait]
impl Strategy for Unirag {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn settings(&self) -> serde_json::Value {
        table::json(self)
    }

    async fn answer(&self, question: &Question, cx: &Cx) -> Result<Answer> {
        let query = question.clone();
        let (history, used, steps, passages) = (vec![], vec![], vec![], vec![]);
        let mut rounds = Rounds { query, history, used, steps, passages, best: None };
        let max_rounds = if self.rewrite { self.rounds } else { 1 };
        for round in 1..=max_rounds {
            let cx = cx.span(format!("round {round}"));
            if !self.look(&mut rounds, &cx).await? {
                break;
            }
            let Some(reasoned) = self.round(question, &mut rounds, &cx).await? else { break };
            if round == max_rounds || !self.reworded(question, &reasoned, &mut rounds, &cx).await? {
                break;
            }
        }
        match rounds.best {
            Some(best) => Ok(self.closing(best, cx)),
            None => close_unread(NOTHING_NEAR, question, cx).await,
        }
    }
}

impl Unirag {
    /// Adds what is relevant to what is read; whether there is anything new to read.
    async fn look(&self, rounds: &mut Rounds, cx: &Cx) -> Result<bool> {
        if !self.retrieve {
            if self.decompose {
                rounds.steps = self.sub_queries(&rounds.query, &rounds.used, cx).await?;
                rounds.used.extend(rounds.steps.iter().cloned());
            }
            return Ok(true);
        }
        if !self.keep_passages {
            rounds.passages.clear();
        }
        let hits = self.gather(&rounds.query, &mut rounds.used, &rounds.passages, cx).await?;
        if hits.is_empty() {
            cx.note("nothing new is near");
            if cx.catalog().await?.count(Layer::Chunk) == 0 {
                cx.note(EMPTY_BASE);
            }
        }
        let new = !hits.is_empty();
        // What is new comes first, so that the limit drops what did not settle the question.
        let earlier = std::mem::take(&mut rounds.passages);
        rounds.passages = hits.into_iter().chain(earlier).take(self.max_chunks).collect();
        Ok(new)
    }

    /// Reasons and judges. `None` when there is nothing left to do: the answer is accepted, or the
    /// budget is spent.
    async fn round(
        &self,
        question: &Question,
        rounds: &mut Rounds,
        cx: &Cx,
    ) -> Result<Option<Reasoned>> {
        // The reserve pays the first answer; later rounds better one that is there already.
        let first = rounds.best.is_none();
        let asking = if first { cx.reserve() } else { cx.clone() };
        let reasoned = self.reason(question, &rounds.passages, &rounds.steps, &asking).await;
        let reasoned = if first {
            Some(reasoned?)
        } else {
            reasoned.unless_failed(cx, "this round gives no answer").unless_spent()?
        };
        let Some(reasoned) = reasoned else { return Ok(None) };
        let answer = answer_from(reasoned.reading(), &rounds.passages);
        let verdict = if self.rewrite && !answer.abstained {
            let verdict = self.judge(question, &reasoned, &rounds.passages, cx).await;
            verdict.unless_failed(cx, "the answer is not judged").unless_spent()?
        } else {
            None
        };
        let text = rounds.query.text.clone();
        let history = Solved { question: text, answer: answer.text.clone(), citations: vec![] };
        rounds.history.push(history);
        let accepted = verdict.is_some_and(|verdict| verdict.accepted);
        let rank = |(answer, verdict): &(Answer, Option<Verdict>)| {
            (!answer.abstained, verdict.map_or(-1.0, |verdict| verdict.score))
        };
        let this = (answer, verdict);
        // Of equals the later one has read more.
        if rounds.best.as_ref().is_none_or(|best| accepted || rank(&this) >= rank(best)) {
            rounds.best = Some(this);
        }
        Ok((!accepted).then_some(reasoned))
    }

    fn closing(&self, (answer, verdict): (Answer, Option<Verdict>), cx: &Cx) -> Answer {
        let confidence = verdict.map(|Verdict { score, accepted }| {
            if accepted {
                return score;
            }
            let Self { accept, faithful, .. } = self;
            cx.note(format!(
                "low confidence: the best answer has {score:.2}; {accept:.2} is required, and \
                 faithfulness of {faithful:.2}"
            ));
            score.min(LOW)
        });
        Answer { confidence, ..answer }
    }
}
