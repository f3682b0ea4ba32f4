//! The settings of `UniRAG` with the paper's constants.
use halma_core::Mode;
use serde::{Deserialize, Serialize};

use crate::settings::{a_cosine, at_least_one};

/// The first three switches are the rows of the paper's Table 5, `prompt` those of Table 3.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(clippy::struct_excessive_bools, reason = "three are rows of the paper's Table 5")]
pub struct Unirag {
    /// Search with sub-queries beside the question.
    pub decompose: bool,
    /// Reword the question until the answer is accepted.
    pub rewrite: bool,
    /// Keep what the reranker finds relevant.
    pub rerank: bool,
    pub prompt: Reasoning,
    /// p, the most sub-queries a round (Figure 3, Table 7).
    pub p: usize,
    /// p for claims to be verified (Table 7: `SciFact`, FEVER).
    pub p_verdict: usize,
    /// k, chunks for the question and for each sub-query; the paper does not give it.
    pub k: usize,
    /// θ, the least relevance by the reranker (Section 3.2.1: 0.8 to 0.9).
    pub theta: f32,
    /// Passages that are kept when none reaches θ.
    pub best: usize,
    /// The most rounds (Tables 8 and 9).
    pub rounds: usize,
    /// The least mean of the criteria for an answer; the paper does not give it.
    pub accept: f32,
    /// The most passages that are read at once; the paper has no limit but θ.
    pub max_chunks: usize,
    /// A later round reads what earlier ones kept as well.
    pub keep_passages: bool,
    /// Off for logic and arithmetic, which rest on no base (Section 4.1).
    pub retrieve: bool,
    /// δ as a cosine; `None` is the usual one of the embedder in use.
    pub min_score: Option<f32>,
    pub mode: Mode,
}

/// How the answer is reasoned out (Table 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reasoning {
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
            prompt: Reasoning::BreakDown,
            p: 8,
            p_verdict: 2,
            k: 5,
            theta: 0.8,
            best: 3,
            rounds: 3,
            accept: 0.7,
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
        for (key, share) in [("theta", self.theta), ("accept", self.accept)] {
            if !(0.0..=1.0).contains(&share) {
                return Err(format!("`{key}` is {share}, but lies between 0 and 1"));
            }
        }
        a_cosine("min_score", self.min_score)?;
        Ok(self)
    }
}
