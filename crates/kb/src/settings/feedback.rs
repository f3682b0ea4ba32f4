//! Settings of feedback.
use serde::{Deserialize, Serialize};

/// The `[feedback]` table.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FeedbackSettings {
    /// Whether searches find what was accepted from answers.
    pub search: bool,
    /// Whether a question that was answered before is answered by the accepted answer, without its
    /// strategy: at once when it is the same, after one check when it is worded differently.
    pub recall: bool,
    /// The least similarity of a reworded question to the one that was answered: the cosine of
    /// their vectors, or the share of words that they have in common.
    pub recall_score: f32,
    /// What the chunks of an accepted answer gain when a similar question searches chunks: this
    /// share of the best score, times the similarity.
    pub weight: f32,
    /// What the chunks of an answer that was marked wrong lose when a similar question searches
    /// chunks: this share of their score, times the similarity. 0 turns it off: an answer can be
    /// wrong though its passages are right.
    pub penalty: f32,
    /// The least share of words in common from which questions are similar, for the two above.
    pub similarity: f32,
    /// What a verifier accepts: candidates that the passages support this much, from 0 to 1.
    pub verify_score: f32,
    /// Whether evaluations find what was accepted; else an accepted answer to one of their
    /// questions would be measured.
    pub eval: bool,
}

impl Default for FeedbackSettings {
    fn default() -> Self {
        Self {
            search: true,
            recall: true,
            recall_score: 0.75,
            weight: 0.5,
            penalty: 0.0,
            similarity: 0.6,
            verify_score: 0.9,
            eval: false,
        }
    }
}
