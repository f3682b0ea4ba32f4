//! Chain-of-Knowledge: where several tries from memory disagree, one is put right by the base.
//!
//! Paper: Li et al., ICLR 2024, Section 3, as a baseline of `AtomR`.
//!
//! ```text
//! (R_1, a_1) … (R_m, a_m) <- LLM(q)          m tries, T > 0   -> chain_of_knowledge/rationale.md
//! a <- the answer that most of them give
//! its share is at least τ:  â <- a, nothing is looked up
//! else                      R <- the first try that gave a
//!     S <- LLM(q, the sources)                   -> chain_of_knowledge/domains.md
//!     for each step r_i of R
//!         D <- what each of S has for r_i; a graph   -> chain_of_knowledge/query.md
//!              is asked for a thing and a relation
//!         r_i, r_i+1 <- LLM(q, r_1 … r_i+1, D)                -> chain_of_knowledge/correct.md
//!                                            r_i put right, and the next one to follow from it
//!     â <- LLM(q, R, all chunks)                              -> chain_of_knowledge/answer.md
//! ```
//!
//! Departures from the paper: `docs/developers/departures.md`.
mod domains;
#[cfg(test)]
mod tests;
mod tries;

use std::collections::VecDeque;
use std::sync::Arc;

use async_trait::async_trait;
use halma_core::{
    Answer, AnswerText, Cx, Entry, Hit, Mode, Prompt, Question, Result, Strategy,
    UnlessFailed as _, UnlessSpent as _,
};
use minijinja::context;
use minijinja::value::Serde;
use serde::{Deserialize, Serialize};

use crate::shared::closing::close;
use crate::shared::settings;
use crate::shared::sources::text_alone;
use crate::shared::steps::{Reading, abstain, answer_from, unseen};

pub(crate) const ENTRY: Entry = Entry {
    name: "chain_of_knowledge",
    paper: "Chain-of-Knowledge (ICLR 2024), as a baseline of AtomR",
    summary: "reasons several times from memory, and where the attempts disagree corrects one by the knowledge base",
    calls: "5 tries; 1 for each step and 1 where they disagree",
    needs: &[],
    build: |table| Ok(Arc::new(settings::parse::<ChainOfKnowledge>(table)?.checked()?)),
};

const CORRECT: Prompt<Corrected> = Prompt::json("chain_of_knowledge/correct");
const ANSWER: Prompt<Reading> = Prompt::json("chain_of_knowledge/answer");

/// A step put right, and the one after it so that it follows; empty where it may stay as it is.
#[derive(Deserialize)]
struct Corrected {
    step: String,
    #[serde(default)]
    next: AnswerText,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ChainOfKnowledge {
    /// m, tries from memory (the paper).
    pub(crate) tries: usize,
    /// τ, the share of the tries that must agree for nothing to be looked up (the paper); above 1
    /// it is always looked up.
    pub(crate) agreement: f32,
    /// The most steps that are put right; the paper has no limit.
    pub(crate) max_steps: usize,
    /// Where a step may be looked up (the paper's domains): `text` is the base, `kg` the knowledge
    /// graph, the others are sources of texts by their names.
    pub(crate) sources: Vec<String>,
    /// Let the model choose among several sources, once for each question (the paper).
    pub(crate) select: bool,
    /// Chunks of each source for a step (`AtomR`'s k).
    pub(crate) chunks: usize,
    /// δ as a cosine; `None` is the usual one of the embedder in use.
    pub(crate) min_score: Option<f32>,
    pub(crate) mode: Mode,
}

impl Default for ChainOfKnowledge {
    fn default() -> Self {
        let (tries, agreement, max_steps, chunks) = (5, 0.5, 8, 3);
        let (sources, select, min_score, mode) = (text_alone(), true, None, Mode::Dense);
        Self { tries, agreement, max_steps, sources, select, chunks, min_score, mode }
    }
}

#[async_trait]
impl Strategy for ChainOfKnowledge {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn settings(&self) -> serde_json::Value {
        settings::json(self)
    }

    async fn answer(&self, question: &Question, cx: &Cx) -> Result<Answer> {
        let chosen = self.tried(question, cx).await?;
        if chosen.share >= self.agreement && !chosen.answer.is_empty() {
            cx.note("the attempts agree: no lookup is needed");
            let Reading { answer, rationale } = chosen.reading();
            let confidence = Some(chosen.share);
            return Ok(Answer { confidence, ..answer_from(Reading { answer, rationale }, &[]) });
        }
        let domains = self.domains(question, cx).await?;
        let (mut thoughts, mut chunks) = (vec![], vec![]);
        // Where no try has a step, the question is what to look up.
        let steps =
            if chosen.steps.is_empty() { vec![question.text.clone()] } else { chosen.steps };
        let mut steps = VecDeque::from(steps);
        while let Some(step) = steps.pop_front() {
            let cx = cx.span(format!("step {}", thoughts.len() + 1));
            let pair = [step.as_str(), steps.front().map_or("", String::as_str)];
            let hits = self.near(question, &step, &domains, &cx).await.map(Some).unless_spent()?;
            let Some(hits) = hits else { break };
            chunks.extend(unseen(vec![hits.clone()], &chunks));
            let corrected = self.correct(question, &thoughts, pair, &hits, &cx).await.map(Some);
            let Some(Corrected { step, next }) = corrected.unless_spent()? else { break };
            thoughts.push(step.trim().to_owned());
            if let Some(front) = steps.front_mut().filter(|_| !next.0.trim().is_empty()) {
                next.0.trim().clone_into(front);
            }
        }
        if question.abstain && chunks.is_empty() {
            return Ok(abstain("the tries disagree, and no source has anything near a step"));
        }
        let (question, context) = (Serde(question), Serde(&chunks));
        let variables = context! { question, context, thoughts };
        Ok(answer_from(close(&ANSWER, variables, cx).await?, &chunks))
    }
}

impl ChainOfKnowledge {
    /// `r_i` put right by what is near it, and `r_i+1`, which is searched for next, to follow.
    async fn correct(
        &self,
        question: &Question,
        thoughts: &[String],
        [step, next]: [&str; 2],
        hits: &[Hit],
        cx: &Cx,
    ) -> Result<Corrected> {
        let unchanged = Corrected { step: step.to_owned(), next: AnswerText(next.to_owned()) };
        if hits.is_empty() {
            cx.note("no result is near: the step stays unchanged");
            return Ok(unchanged);
        }
        let worded = |reply: &Corrected| match reply.step.trim() {
            "" => Err("`step` is empty".to_owned()),
            _ => Ok(()),
        };
        let (question, thoughts, context) = (Serde(question), Serde(thoughts), Serde(hits));
        let variables = context! { question, thoughts, thought => step, next, context };
        let corrected = cx.ask_checked(&CORRECT, variables, worded).await;
        let corrected = corrected.unless_failed(cx, "the step stays unchanged")?;
        Ok(corrected.unwrap_or(unchanged))
    }

    fn checked(self) -> std::result::Result<Self, String> {
        settings::at_least_one("tries", self.tries)?;
        settings::at_least_one("max_steps", self.max_steps)?;
        settings::at_least_one("sources", self.sources.len())?;
        settings::at_least_one("chunks", self.chunks)?;
        settings::a_cosine("min_score", self.min_score)?;
        if self.agreement.is_nan() || self.agreement < 0.0 {
            return Err(format!("`agreement` is {}, but a share is at least 0", self.agreement));
        }
        Ok(self)
    }
}
