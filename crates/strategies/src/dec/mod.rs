//! DEC: the dynamic enhancement chain.
//!
//! Paper: Ji et al., "Resource-Friendly Dynamic Enhancement Chain for Multi-Hop Question
//! Answering" (2025), Section 3.
//!
//! ```text
//! {q_1 … q_n} <- M(Q)             planned once; none: answer Q as it is   -> dec/decompose.md
//! H <- []
//! for i = 1 … n
//!     q'_i <- R(Q, q_i, H)        for i ≥ 2                               -> dec/rewrite.md
//!     D  <- the N chunks nearest to q'_i
//!     K  <- EK(q'_i)                                                      -> dec/keywords.md
//!     D* <- {d in D: all K occur in d} + Top_2(D)
//!     a_i <- M(q'_i, D*)                                                  -> dec/answer_one.md
//!     H <- H + (q'_i, a_i)
//! â <- M(Q, H)                                                            -> dec/answer.md
//! without a plan (w/o QD), at most five times: q'_i <- R(Q, Q, H)         -> dec/rewrite.md
//! ```
//!
//! Departures from the paper: `docs/developers/departures.md`.
mod settings;
mod solve;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use async_trait::async_trait;
use futures::future::try_join_all;
use halma_core::text::words;
use halma_core::{
    Answer, Cx, Entry, Prompt, Question, Result, Strategy, UnlessFailed as _, UnlessSpent as _,
};
use minijinja::context;
use minijinja::value::Serde;
use serde::Deserialize;

pub(crate) use self::settings::Dec;
use crate::shared::citing::{Solved, closing};
use crate::shared::plan::chain;
use crate::shared::references::fill;
use crate::shared::settings as table;
use crate::shared::steps::{Reading, abstain};

pub(crate) const ENTRY: Entry = Entry {
    name: "dec",
    paper: "Resource-Friendly Dynamic Enhancement Chain for Multi-Hop Question Answering, 2025",
    summary: "plans a chain of sub-questions, rewrites each by the answers before it, and keeps \
              the passages that hold its keywords",
    calls: "at most 4n + 1 for n sub-questions; n is usually 3",
    needs: &[],
    build: |values| Ok(Arc::new(table::parse::<Dec>(values)?.checked()?)),
};

const DECOMPOSE: Prompt<Plan> = Prompt::json("dec/decompose");
const ANSWER: Prompt<Reading> = Prompt::json("dec/answer");

#[derive(Deserialize)]
struct Plan {
    sub_questions: Vec<String>,
}

#[async_trait]
impl Strategy for Dec {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn settings(&self) -> serde_json::Value {
        table::json(self)
    }

    async fn answer(&self, question: &Question, cx: &Cx) -> Result<Answer> {
        let history = match (self.decompose, self.rewrite) {
            (true, rewrite) => {
                let chain = self.plan(question, cx).await?;
                if rewrite {
                    self.walk(question, &chain, cx).await?
                } else {
                    self.side_by_side(question, &chain, cx).await?
                }
            }
            (false, true) => {
                let same = vec![question.text.clone(); self.iterations];
                self.walk(question, &same, cx).await?
            }
            (false, false) => vec![],
        };
        if history.is_empty() {
            return self.whole(question, cx).await;
        }
        if question.abstain && history.iter().all(|solved| solved.answer.is_empty()) {
            cx.note("no sub-question has an answer");
            return Ok(abstain("the knowledge base answers none of the sub-questions"));
        }
        let variables = context! { question => Serde(question), history => Serde(&history) };
        let reading = cx.reserve().ask(&ANSWER, variables).await;
        match reading.unless_failed(cx, "the last answer stands for the whole")? {
            Some(reading) => Ok(closing(reading, &history)),
            None => Ok(last_answer(&history)),
        }
    }
}

/// Notes how many sub-questions were searched for.
fn counted(history: Vec<Solved>, searched: usize, cx: &Cx) -> Vec<Solved> {
    if !history.is_empty() {
        cx.note(format!("#SQA: {searched}"));
    }
    history
}

/// The answer of the last sub-question that has one, where no reply puts the history together.
fn last_answer(history: &[Solved]) -> Answer {
    let last = history.iter().rev().find(|solved| !solved.answer.is_empty());
    let answer = last.map_or_else(String::new, |solved| solved.answer.clone());
    let rationale = "The answer of the last sub-question.".to_owned();
    closing(Reading { answer, rationale }, history)
}

impl Dec {
    /// The chain; empty where there is nothing to divide.
    async fn plan(&self, question: &Question, cx: &Cx) -> Result<Vec<String>> {
        let cx = cx.span("decompose");
        let worded = |plan: &Plan| {
            let empty = plan.sub_questions.iter().any(|text| text.trim().is_empty());
            if empty { Err("one of `sub_questions` is empty".to_owned()) } else { Ok(()) }
        };
        let variables = context! { question => Serde(question) };
        let plan = cx.ask_checked(&DECOMPOSE, variables, worded).await;
        let plan = plan.unless_failed(&cx, "the question is not divided").unless_spent()?;
        let Some(Plan { sub_questions }) = plan else { return Ok(vec![]) };
        Ok(chain(&sub_questions, &question.text, self.max_sub_questions, &cx))
    }

    /// H: each sub-question is worded by the answers before it. Without a plan (w/o QD, Appendix B)
    /// each is the question itself, until rewriting it gives nothing new.
    async fn walk(&self, question: &Question, chain: &[String], cx: &Cx) -> Result<Vec<Solved>> {
        let (mut history, mut searched) = (vec![], 0);
        for (i, sub_question) in chain.iter().enumerate() {
            let cx = cx.span(format!("sub-question {}", i + 1));
            let worded = self.worded(question, sub_question, &history, &cx).await.map(Some);
            let Some(text) = worded.unless_spent()? else { break };
            let same = |earlier: &&Solved| words(&earlier.question) == words(&text);
            if let Some(before) = history.iter().find(same).cloned() {
                cx.note("this was asked before");
                if !self.decompose {
                    break;
                }
                // It keeps its place, by which later ones refer to it.
                history.push(before);
                continue;
            }
            searched += 1;
            let solved = self.solve(question.sub_question(text), &cx).await.map(Some);
            let Some(solved) = solved.unless_spent()? else { break };
            history.push(solved);
        }
        Ok(counted(history, searched, cx))
    }

    /// H without rewriting (w/o QR): no sub-question waits for the answer of another.
    async fn side_by_side(
        &self,
        question: &Question,
        chain: &[String],
        cx: &Cx,
    ) -> Result<Vec<Solved>> {
        let spans: Vec<Cx> =
            (1..=chain.len()).map(|i| cx.span(format!("sub-question {i}"))).collect();
        let solved = chain.iter().zip(&spans).map(|(sub_question, cx)| async move {
            let text = fill(sub_question, &question.text, |_| "");
            self.solve(question.sub_question(text), cx).await.map(Some).unless_spent()
        });
        let history = try_join_all(solved).await?;
        let history: Vec<Solved> = history.into_iter().flatten().collect();
        let searched = history.len();
        Ok(counted(history, searched, cx))
    }
}
