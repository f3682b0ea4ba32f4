//! The settings of `BlendFilter` with the paper's constants.
use halma_core::Mode;
use serde::{Deserialize, Serialize};

use crate::shared::settings::{a_cosine, at_least_one};

/// The three switches are the parts that the paper's ablation leaves out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct BlendFilter {
    /// K, chunks for each of the three queries.
    pub(crate) chunks: usize,
    /// Search with what the model answers from memory.
    pub(crate) internal: bool,
    /// Search with what it answers from the first chunks.
    pub(crate) external: bool,
    /// Let the model filter what was found.
    pub(crate) filter: bool,
    /// δ as a cosine; `None` is the usual one of the embedder in use.
    pub(crate) min_score: Option<f32>,
    pub(crate) mode: Mode,
}

impl Default for BlendFilter {
    fn default() -> Self {
        let (internal, external, filter) = (true, true, true);
        Self { chunks: 5, internal, external, filter, min_score: None, mode: Mode::Dense }
    }
}

impl BlendFilter {
    /// Refuses values with which the algorithm cannot run.
    pub(super) fn checked(self) -> std::result::Result<Self, String> {
        at_least_one("chunks", self.chunks)?;
        a_cosine("min_score", self.min_score)?;
        Ok(self)
    }
}
