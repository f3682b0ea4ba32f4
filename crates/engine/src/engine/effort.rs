//! How much is spent on a question, for those who do not choose a strategy.
use serde::{Deserialize, Serialize};

/// A strategy by what it costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Effort {
    /// One search and one reading (`naive`).
    Quick,
    /// The cheapest method that has a supported answer (`auto`).
    Normal,
    /// Hop by hop (`kar3`).
    Deep,
    /// Hop by hop, with more hops and more candidates for each.
    Exhaustive,
}

/// Calls of a question, and prompt and reply tokens of all calls together.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ExpectedUse {
    pub(crate) calls: u64,
    pub(crate) prompt_tokens: u64,
    pub(crate) completion_tokens: u64,
}

impl Effort {
    pub const ALL: [Self; 4] = [Self::Quick, Self::Normal, Self::Deep, Self::Exhaustive];

    pub fn name(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Normal => "normal",
            Self::Deep => "deep",
            Self::Exhaustive => "exhaustive",
        }
    }

    pub fn strategy(self) -> &'static str {
        match self {
            Self::Quick => "naive",
            Self::Normal => "auto",
            Self::Deep | Self::Exhaustive => "kar3",
        }
    }

    /// Settings of the strategy, which replace the configured ones.
    pub(crate) fn settings(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Quick | Self::Normal | Self::Deep => &[],
            // The most hops of the paper (KAR³, Figure 5), and twice the candidates.
            Self::Exhaustive => &[("n", "10"), ("k", "8"), ("stop_on_none", "false")],
        }
    }

    /// What a question needs where a model has all roles. `quick` and `deep` were measured on a
    /// question of the demo with Qwen2.5-Coder-1.5B. `normal` is the mean of `auto` in
    /// `docs/reference/calls-and-tokens.md` and the call that writes the answer. `exhaustive` is not
    /// measured and counts as two of `deep`.
    pub(crate) fn expected(self) -> ExpectedUse {
        let (calls, prompt_tokens, completion_tokens) = match self {
            Self::Quick => (2, 1_840, 80),
            Self::Normal => (6, 5_800, 220),
            Self::Deep => (12, 8_100, 460),
            Self::Exhaustive => (24, 16_200, 920),
        };
        ExpectedUse { calls, prompt_tokens, completion_tokens }
    }
}
