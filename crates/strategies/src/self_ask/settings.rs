//! The settings of Self-Ask with the papers' constants.
use halma_core::Mode;
use serde::{Deserialize, Serialize};

use crate::shared::settings::{a_cosine, at_least_one};
use crate::shared::sources::text_alone;

/// From where a follow-up is answered (PIKE-RAG, Section 6.1).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FollowUps {
    /// From what the model knows.
    None,
    /// From chunks near it (w/ R).
    #[default]
    Flat,
    /// From chunks near it and chunks of atoms near it (w/ H-R).
    Hierarchical,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct SelfAsk {
    /// N, the most follow-ups (KAR³, Section 4.1).
    pub(crate) n: usize,
    pub(crate) retrieve: FollowUps,
    /// Where a follow-up is looked up: `text` is the base, the others are sources of texts by their
    /// names; the web alone is Self-Ask with Google (AtomR, Section 4.1.3).
    pub(crate) sources: Vec<String>,
    /// Chunks for each follow-up (KAR³, Appendix A.3); 3 in DEC.
    pub(crate) chunks: usize,
    /// Atoms for each follow-up with `hierarchical` (PIKE-RAG, Section 6.1).
    pub(crate) atoms: usize,
    /// Keep of more chunks those that hold the follow-up's keywords (DEC, Table 2: w/ EK).
    pub(crate) keywords: bool,
    /// Chunks among which keywords are looked for, with `keywords` (DEC, Equation 7).
    pub(crate) keyword_chunks: usize,
    /// The nearest chunks, which are kept whatever they hold, with `keywords` (DEC, Equation 8).
    pub(crate) backup: usize,
    /// δ as a cosine; `None` is the usual one of the embedder in use.
    pub(crate) min_score: Option<f32>,
    pub(crate) mode: Mode,
}

impl Default for SelfAsk {
    fn default() -> Self {
        Self {
            n: 5,
            retrieve: FollowUps::Flat,
            sources: text_alone(),
            chunks: 4,
            atoms: 4,
            keywords: false,
            keyword_chunks: 10,
            backup: 2,
            min_score: None,
            mode: Mode::Dense,
        }
    }
}

impl SelfAsk {
    pub(super) fn checked(self) -> std::result::Result<Self, String> {
        at_least_one("n", self.n)?;
        at_least_one("chunks", self.chunks)?;
        at_least_one("atoms", self.atoms)?;
        at_least_one("keyword_chunks", self.keyword_chunks)?;
        at_least_one("backup", self.backup)?;
        at_least_one("sources", self.sources.len())?;
        if self.keywords && self.sources != text_alone() {
            return Err("`keywords` are looked for in the base, but `sources` names others".into());
        }
        if self.keywords && self.retrieve == FollowUps::None {
            return Err("`keywords` are looked for in chunks, but `retrieve` is \"none\"".into());
        }
        a_cosine("min_score", self.min_score)?;
        Ok(self)
    }
}
