//! The settings of DEC with the paper's constants.
use halma_core::Mode;
use serde::{Deserialize, Deserializer, Serialize};

use crate::shared::settings::{a_cosine, at_least_one};

/// The defaults are the paper's but for `mode`. The three switches are the ablations of Table 2.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Dec {
    /// Plan a chain of sub-questions (off: w/o QD).
    pub(crate) decompose: bool,
    /// Reword each sub-question by the answers before it (off: w/o QR).
    pub(crate) rewrite: bool,
    /// Whether the keywords of a sub-question decide which chunks are read.
    #[serde(deserialize_with = "keywords")]
    pub(crate) keywords: Keywords,
    /// The most sub-questions of a plan; the paper has no limit, and 3 to 4 on average (Table 1).
    pub(crate) max_sub_questions: usize,
    /// How often the question is rewritten without a plan (Appendix B).
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

/// What the keywords decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Keywords {
    /// The nearest chunks are read (w/o EK).
    Off,
    /// Chunks that hold all of them, and the nearest in any case (Equation 8).
    Hybrid,
    /// Chunks that hold all of them alone, as in collecting training data (Section 3.2).
    Only,
}

/// By name, or as a switch: earlier configurations have `true` and `false`.
fn keywords<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Keywords, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "`keywords` is not \"off\", \"hybrid\" or \"only\"")]
    enum Setting {
        Switch(bool),
        Name(Keywords),
    }
    Ok(match Setting::deserialize(deserializer)? {
        Setting::Switch(true) => Keywords::Hybrid,
        Setting::Switch(false) => Keywords::Off,
        Setting::Name(keywords) => keywords,
    })
}

impl Default for Dec {
    fn default() -> Self {
        Self {
            decompose: true,
            rewrite: true,
            keywords: Keywords::Hybrid,
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
