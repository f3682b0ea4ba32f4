//! The settings of DEC with the paper's constants.
use halma_core::Mode;
use serde::{Deserialize, Serialize};

use crate::shared::settings::{a_cosine, at_least_one};

/// The defaults are the paper's but for `mode`. The three switches are the ablations of Table 2.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Dec {
    /// Plan a chain of sub-questions (off: w/o QD).
    pub(crate) decompose: bool,
    /// Reword each sub-question by the answers before it (off: w/o QR).
    pub(crate) rewrite: bool,
    /// Keep the chunks that hold the sub-question's keywords (off: w/o EK).
    pub(crate) keywords: bool,
    /// The most sub-questions of a plan; the paper has no limit, and 3 to 4 on average (Table 1).
    pub(crate) max_sub_questions: usize,
    /// How often the question is reworded without a plan (Appendix B).
    pub(crate) iterations: usize,
    /// N, chunks among which keywords are looked for (Equation 7).
    pub(crate) chunks: usize,
    /// The nearest chunks, which are kept whatever they hold (Equation 8).
    pub(crate) backup: usize,
    /// Chunks for a sub-question without keywords (Appendix B).
    pub(crate) chunks_without_keywords: usize,
    /// δ as a cosine; `None` is the usual one of the embedder in use.
    pub(crate) min_score: Option<f32>,
    pub(crate) mode: Mode,
}

impl Default for Dec {
    fn default() -> Self {
        Self {
            decompose: true,
            rewrite: true,
            keywords: true,
            max_sub_questions: 10,
            iterations: 5,
            chunks: 10,
            backup: 2,
            chunks_without_keywords: 3,
            min_score: None,
            mode: Mode::Graph,
        }
    }
}

impl Dec {
    /// Refuses values with which the algorithm cannot run.
    pub(super) fn checked(self) -> std::result::Result<Self, String> {
        at_least_one("max_sub_questions", self.max_sub_questions)?;
        at_least_one("iterations", self.iterations)?;
        at_least_one("chunks", self.chunks)?;
        at_least_one("backup", self.backup)?;
        at_least_one("chunks_without_keywords", self.chunks_without_keywords)?;
        a_cosine("min_score", self.min_score)?;
        Ok(self)
    }
}
