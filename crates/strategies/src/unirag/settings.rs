//! The settings of `UniRAG` with the paper's constants.
use halma_core::Mode;
use serde::{Deserialize, Serialize};

use crate::shared::settings::{a_cosine, at_least_one};

/// The first three switches are the rows of the paper's Table 5, `prompt` those of Table 3.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(clippy::struct_excessive_bools, reason = "three are rows of the paper's Table 5")]
pub(crate) struct Unirag {
    /// Search with sub-queries in addition to the question.
    pub(crate) decompose: bool,
    /// Reword the question until the answer is accepted.
    pub(crate) rewrite: bool,
    /// Keep what the reranker finds relevant.
    pub(crate) rerank: bool,
    pub(crate) prompt: Prompting,
    /// p, the sub-queries of a round (Figure 3, Table 7).
    pub(crate) p: usize,
    /// p for claims to be verified (Table 7: `SciFact`, FEVER).
    pub(crate) p_verdict: usize,
    /// k, chunks for the question and for each sub-query; the paper does not give it.
    pub(crate) k: usize,
    /// θ, the least relevance by the reranker (Section 3.2.1: 0.8 to 0.9).
    pub(crate) theta: f32,
    /// Passages that are kept when none reaches θ.
    pub(crate) best: usize,
    /// The most rounds (Tables 8 and 9).
    pub(crate) rounds: usize,
    /// The least mean of the criteria for an answer; the paper does not give it.
    pub(crate) accept: f32,
    /// The least faithfulness of an answer: the share of its statements that the passages support.
    /// The paper has the mean alone.
    pub(crate) faithful: f32,
    /// The most passages that are read at once; the paper has no limit but θ.
    pub(crate) max_chunks: usize,
    /// A later round reads what earlier ones kept as well.
    pub(crate) keep_passages: bool,
    /// Off for logic and arithmetic, which rest on no base (Section 4.1): the sub-queries are then
    /// steps of the reasoning.
    pub(crate) retrieve: bool,
    /// δ as a cosine; `None` is the usual one of the embedder in use.
    pub(crate) min_score: Option<f32>,
    pub(crate) mode: Mode,
}

/// How the answer is reasoned out (Table 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Prompting {
    /// Constraint by constraint, each checked on its own.
    BreakDown,
    /// Step by step, each built on the one before.
    Cot,
}

impl Default for Unirag {
    fn default() -> Self {
        Self {
            decompose: true,
            rewrite: true,
            rerank: true,
            prompt: Prompting::BreakDown,
            p: 8,
            p_verdict: 2,
            k: 5,
            theta: 0.8,
            best: 3,
            rounds: 3,
            accept: 0.7,
            faithful: 0.8,
            max_chunks: 24,
            keep_passages: true,
            retrieve: true,
            min_score: None,
            mode: Mode::Graph,
        }
    }
}

impl Unirag {
    /// Refuses values with which the algorithm cannot run.
    pub(super) fn checked(self) -> std::result::Result<Self, String> {
        for (key, count) in [
            ("p", self.p),
            ("p_verdict", self.p_verdict),
            ("k", self.k),
            ("best", self.best),
            ("rounds", self.rounds),
            ("max_chunks", self.max_chunks),
        ] {
            at_least_one(key, count)?;
        }
        for (key, share) in
            [("theta", self.theta), ("accept", self.accept), ("faithful", self.faithful)]
        {
            if !(0.0..=1.0).contains(&share) {
                return Err(format!("`{key}` is {share}, but lies between 0 and 1"));
            }
        }
        a_cosine("min_score", self.min_score)?;
        Ok(self)
    }
}
