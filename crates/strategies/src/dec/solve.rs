//! One sub-question: worded by the history, answered from its passages.
use halma_core::{Answer, Cx, Hit, Prompt, Question, Result, UnlessFailed as _};
use minijinja::context;
use minijinja::value::Serde;
use serde::Deserialize;

use super::Dec;
use super::settings::Keywords;
use crate::shared::citing::Solved;
use crate::shared::closing::{close, close_unread};
use crate::shared::recall::{Recall, record};
use crate::shared::references::fill;
use crate::shared::sources::Near;
use crate::shared::steps::{NOTHING_NEAR, Reading, answer_from};

const REWRITE: Prompt<Rewritten> = Prompt::json("dec/rewrite");
const ANSWER_ONE: Prompt<Reading> = Prompt::json("dec/answer_one");
const READ: Prompt<Reading> = Prompt::json("dec/read");

/// The dependency that the prompt asks for is there to make the model look for one first.
#[derive(Deserialize)]
struct Rewritten {
    question: String,
}

impl Dec {
    /// The sub-question as it is searched for.
    pub(super) async fn worded(
        &self,
        question: &Question,
        sub_question: &str,
        history: &[Solved],
        cx: &Cx,
    ) -> Result<String> {
        if history.is_empty() {
            return Ok(fill(sub_question, &question.text, |_| ""));
        }
        let worded = |reply: &Rewritten| match reply.question.trim() {
            "" => Err("`question` is empty".to_owned()),
            _ => Ok(()),
        };
        let variables =
            context! { question => Serde(question), sub_question, history => Serde(history) };
        let rewritten = cx.ask_checked(&REWRITE, variables, worded).await;
        let rewritten = rewritten.unless_failed(cx, "only the references are filled in")?;
        let rewritten = rewritten.map_or_else(|| sub_question.to_owned(), |reply| reply.question);
        // What the model left open is filled in from the history.
        let answer = |number: usize| {
            let solved = number.checked_sub(1).and_then(|at| history.get(at));
            solved.map_or("", |solved| solved.answer.as_str())
        };
        Ok(fill(rewritten.trim(), &question.text, answer))
    }

    /// The sub-question's answer, read from D*.
    pub(super) async fn solve(&self, question: Question, cx: &Cx) -> Result<Solved> {
        let passages = self.recall(&question.text, cx).await?;
        if passages.is_empty() {
            cx.note("nothing in the knowledge base is near it");
            return Ok(Solved::unanswered(question.text));
        }
        let variables = context! { question => Serde(&question), context => Serde(&passages) };
        let reading = cx.ask(&ANSWER_ONE, variables).await;
        match reading.unless_failed(cx, "the sub-question stays without an answer")? {
            Some(reading) => Ok(Solved::read(question.text, reading, &passages)),
            None => Ok(Solved::unanswered(question.text)),
        }
    }

    /// The question answered from its own D*, where it is not divided (w/o COT).
    pub(super) async fn whole(&self, question: &Question, cx: &Cx) -> Result<Answer> {
        let cx = cx.span("whole question");
        let passages = self.recall(&question.text, &cx).await?;
        cx.note("#SQA: 1");
        if passages.is_empty() {
            return close_unread(NOTHING_NEAR, question, &cx).await;
        }
        let variables = context! { question => Serde(question), context => Serde(&passages) };
        Ok(answer_from(close(&READ, variables, &cx).await?, &passages))
    }

    /// D*.
    async fn recall(&self, text: &str, cx: &Cx) -> Result<Vec<Hit>> {
        let without_keywords = self.chunks_without_keywords;
        let off = self.keywords == Keywords::Off;
        let chunks = if off { without_keywords } else { self.chunks };
        let near = Near { chunks, atoms: 0, min_score: self.min_score, mode: self.mode };
        if off {
            let hits = near.to(text, &[], cx).await?;
            let ids = hits.iter().map(|hit| hit.id.clone()).collect();
            record(text, (ids, vec![]), &hits, cx);
            return Ok(hits);
        }
        let backup = if self.keywords == Keywords::Only { 0 } else { self.backup };
        Recall { near, backup, without_keywords }.to(text, cx).await
    }
}
