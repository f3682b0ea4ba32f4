//! `ProbTree`: a tree of sub-questions, and at each node the answer the model is surest of.
//!
//! Paper: Cao et al., "Probabilistic Tree-of-thought Reasoning", EMNLP 2023, as a baseline of
//! "From Complex to Atomic" (ICML 2025), Appendix A.2, and of `AtomR`.
//!
//! ```text
//! T, p_d <- LLM(q)                     the tree; p_d of each list of parts  -> prob_tree/tree.md
//! for each node q_i of T, its parts before it, references in it replaced by their answers
//!     CB <- LLM(q_i)                   closed book                         -> prob_tree/closed.md
//!     OB <- LLM(q_i, chunks near q_i)  open book                           -> prob_tree/open.md
//!     CA <- LLM(q_i, answers of its n parts)                               -> prob_tree/parts.md
//!     p(CB), p(OB), p_c = mean log-probability of the reasoning
//!     p(CA) = (p_c + p_d + Σ p(answer of a part)) / (n + 2)
//!     answer of q_i <- the one with the highest p
//! â <- answer of the root
//! ```
//!
//! Departures from the paper: `docs/developers/departures.md`.
mod confidence;
mod node;
mod reply;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use async_trait::async_trait;
use halma_core::{
    Answer, Cx, Entry, Error, Mode, Need, Prompt, Question, Result, Strategy, UnlessFailed as _,
    UnlessSpent as _,
};
use minijinja::context;
use minijinja::value::Serde;
use serde::{Deserialize, Serialize};

use self::node::{BETWEEN, Candidate, NodeResult, best, read};
use crate::shared::citing::citations;
use crate::shared::closing::{close_unread, unread};
use crate::shared::settings;
use crate::shared::sources::{Near, text_alone};
use crate::shared::steps::Reading;

pub(crate) const ENTRY: Entry = Entry {
    name: "prob_tree",
    paper: "Probabilistic Tree-of-thought Reasoning (EMNLP 2023), as a baseline of KAR³ and AtomR",
    summary: "divides the question into a tree and believes at each node what it is surest of",
    calls: "1 for the tree, 2 for each leaf, 3 for each inner node",
    needs: &[Need::LogProbs("proposer"), Need::LogProbs("reader")],
    build: |table| Ok(Arc::new(settings::parse::<ProbTree>(table)?.checked()?)),
};

const CLOSED: Prompt<Reading> = Prompt::json("prob_tree/closed");
const OPEN: Prompt<Reading> = Prompt::json("prob_tree/open");
const PARTS: Prompt<Reading> = Prompt::json("prob_tree/parts");

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ProbTree {
    /// Answer each question from memory as well; the paper does. Such an answer cites nothing.
    pub(crate) closed_book: bool,
    /// The most sub-questions in the whole tree; the paper has no limit, and its
    /// released trees 8 at most.
    pub(crate) max_parts: usize,
    /// The most questions that one becomes where what it refers to has several answers.
    pub(crate) fan_out: usize,
    /// Where a question is looked up: `text` is the base, the others are sources of texts by their
    /// names (AtomR, Section 4.1.3: the web and texts).
    pub(crate) sources: Vec<String>,
    /// Chunks of each source for each question (KAR³, Appendix A.3, for searches of a single step).
    pub(crate) chunks: usize,
    /// δ as a cosine; `None` is the usual one of the embedder in use.
    pub(crate) min_score: Option<f32>,
    pub(crate) mode: Mode,
}

impl Default for ProbTree {
    fn default() -> Self {
        let (closed_book, max_parts, fan_out, chunks) = (true, 16, 8, 4);
        let (sources, min_score, mode) = (text_alone(), None, Mode::Dense);
        Self { closed_book, max_parts, fan_out, sources, chunks, min_score, mode }
    }
}

#[async_trait]
impl Strategy for ProbTree {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn settings(&self) -> serde_json::Value {
        settings::json(self)
    }

    async fn answer(&self, question: &Question, cx: &Cx) -> Result<Answer> {
        let tree = node::planned(question, self.max_parts, cx).await;
        let tree = tree.unless_failed(cx, "the question has no parts").unless_spent()?;
        let solved = self.solve(&tree.unwrap_or_default(), question, cx).await?;
        let Candidate { text, reason, confidence, citations } =
            if solved.refused { self.closing(solved, question, cx).await? } else { solved.best };
        if text.is_empty() && !self.closed_book && !question.abstain {
            return close_unread(&reason, question, cx).await;
        }
        let text = text.replace(BETWEEN, ", ");
        let abstained = text.is_empty();
        let confidence = (!abstained).then(|| confidence.exp().min(1.0));
        Ok(Answer { text, reason, citations, abstained, confidence, ..Answer::default() })
    }
}

impl ProbTree {
    /// What the budget keeps back pays for one more answer at the root: from the parts where one
    /// of them has an answer, else from the passages.
    async fn closing(&self, solved: NodeResult, question: &Question, cx: &Cx) -> Result<Candidate> {
        let NodeResult { best: before, history, .. } = solved;
        let cx = cx.reserve();
        let last = if history.iter().any(|part| !part.answer.is_empty()) {
            let variables = context! { question => Serde(question), history => Serde(&history) };
            let read = read(&PARTS, variables, &[], &cx).await;
            read.map(|last| Candidate { citations: citations(&history), ..last })
        } else {
            self.open(question, &cx).await
        };
        match last {
            // An answer is there already.
            Err(Error::Spent(_) | Error::BadReply { .. } | Error::Llm { .. })
                if !before.text.is_empty() =>
            {
                Ok(before)
            }
            // There is none, and none is given.
            Err(error @ Error::BadReply { .. }) => {
                let reason = unread(&error, &cx).rationale;
                Ok(Candidate { reason, ..before })
            }
            last => Ok(best([last?, before])),
        }
    }

    fn near(&self) -> Near {
        Near { chunks: self.chunks, atoms: 0, min_score: self.min_score, mode: self.mode }
    }

    fn checked(self) -> std::result::Result<Self, String> {
        settings::at_least_one("max_parts", self.max_parts)?;
        settings::at_least_one("fan_out", self.fan_out)?;
        settings::at_least_one("sources", self.sources.len())?;
        settings::at_least_one("chunks", self.chunks)?;
        settings::a_cosine("min_score", self.min_score)?;
        Ok(self)
    }
}
