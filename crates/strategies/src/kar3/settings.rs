//! The settings of KAR³ with the paper's constants.
use halma_core::Mode;
use serde::{Deserialize, Serialize};

use crate::shared::settings::{a_cosine, at_least_one, at_least_zero};

/// The constants of the algorithm; the defaults but for `mode` are the paper's (Section 4.1, Appendix A.3) or,
/// where it is silent, the reference code's. The enumerations are the ablations of Table 3.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of its own in the configuration"
)]
pub(crate) struct Kar3 {
    /// N, the most hops (Section 4.1; 1 to 10 in Figure 5).
    pub(crate) n: usize,
    /// k, atoms for each proposal (Section 4.1).
    pub(crate) k: usize,
    /// k when there is a single query (reference code); never less than `k`.
    pub(crate) k_single: usize,
    /// δ as a cosine; `None` is the usual one of the embedder in use.
    pub(crate) min_score: Option<f32>,
    pub(crate) proposals: Proposals,
    pub(crate) retrieve: Retrieve,
    pub(crate) select_by: SelectBy,
    /// Search with the question when nothing is near the proposals.
    pub(crate) fall_back_question: bool,
    /// Then search chunks with the question.
    pub(crate) fall_back_chunks: bool,
    /// Stop when no candidate is chosen (Algorithm 1, lines 6 to 8); else propose once more first.
    pub(crate) stop_on_none: bool,
    /// Offer the candidates' whole chunks when none of the atoms was chosen (reference code).
    pub(crate) second_look: bool,
    pub(crate) mode: Mode,
    /// What proposes: a model with a prompt, or one that was trained (PIKE-RAG, Section 6.4), whose
    /// single call replaces lines 3 to 5.
    pub(crate) proposer: Proposer,
    /// Answer the sub-question of every hop from its chunk, and record the hop for training.
    pub(crate) sub_answers: bool,
    /// Show the proposer a sampled chunk in addition to the context (PIKE-RAG, Algorithm 2).
    pub(crate) sample: bool,
    /// α, the weight of exploration in sampling.
    pub(crate) sample_alpha: f32,
    /// K', atoms for each proposal when sampling; more than `k`.
    pub(crate) sample_k: usize,
    /// δ - δ': by how much less than δ a chunk may be near to get into the pool.
    pub(crate) sample_below: f32,
    /// The scale of the noise on the bounds, by which seeds differ; 0 leaves ties to the seed.
    pub(crate) sample_noise: f32,
    pub(crate) sample_seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Proposer {
    Prompted,
    Trained,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Proposals {
    Many,
    One,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Retrieve {
    Atoms,
    Chunks,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SelectBy {
    Atom,
    Chunk,
}

impl Default for Kar3 {
    fn default() -> Self {
        Self {
            n: 5,
            k: 4,
            k_single: 8,
            min_score: None,
            proposals: Proposals::Many,
            retrieve: Retrieve::Atoms,
            select_by: SelectBy::Atom,
            fall_back_question: true,
            fall_back_chunks: true,
            stop_on_none: true,
            second_look: false,
            mode: Mode::Graph,
            proposer: Proposer::Prompted,
            sub_answers: false,
            sample: false,
            sample_alpha: 1.0,
            sample_k: 8,
            sample_below: 0.1,
            sample_noise: 0.2,
            sample_seed: 0,
        }
    }
}

impl Kar3 {
    /// Refuses values with which the algorithm cannot run.
    pub(crate) fn checked(self) -> std::result::Result<Self, String> {
        at_least_one("n", self.n)?;
        at_least_one("k", self.k)?;
        a_cosine("min_score", self.min_score)?;
        at_least_zero("sample_alpha", self.sample_alpha)?;
        at_least_zero("sample_below", self.sample_below)?;
        at_least_zero("sample_noise", self.sample_noise)?;
        if self.sample && self.sample_k <= self.k {
            let (more, k) = (self.sample_k, self.k);
            return Err(format!("`sample_k` is {more}, but must be more than `k`, which is {k}"));
        }
        if self.sample && self.proposer == Proposer::Trained {
            return Err("`sample` is for `proposer = \"prompted\"`: a trained proposer sees no \
                        passages"
                .into());
        }
        Ok(self)
    }
}
