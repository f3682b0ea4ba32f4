//! The settings of `GenGround` as DEC sets it up.
use halma_core::Mode;
use serde::{Deserialize, Serialize};

use crate::shared::settings::{a_cosine, at_least_one};

/// The defaults are those of DEC, Appendix A.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct GenGround {
    /// N, the most rounds (DEC, Table 1: 5 on every set).
    pub(crate) n: usize,
    /// Chunks that are read at once (DEC, Appendix A).
    pub(crate) batch: usize,
    /// The most batches a round (DEC, Appendix A).
    pub(crate) batches: usize,
    /// Keep an answer that no batch supports, as the paper does; otherwise it counts as not found.
    pub(crate) from_memory: bool,
    /// δ as a cosine; `None` is the usual one of the embedder in use.
    pub(crate) min_score: Option<f32>,
    pub(crate) mode: Mode,
}

impl Default for GenGround {
    fn default() -> Self {
        Self { n: 5, batch: 3, batches: 3, from_memory: true, min_score: None, mode: Mode::Dense }
    }
}

impl GenGround {
    /// Refuses values with which the algorithm cannot run.
    pub(super) fn checked(self) -> std::result::Result<Self, String> {
        at_least_one("n", self.n)?;
        at_least_one("batch", self.batch)?;
        at_least_one("batches", self.batches)?;
        a_cosine("min_score", self.min_score)?;
        Ok(self)
    }
}
