//! The weights of graph search.
use serde::{Deserialize, Serialize};

/// The `[kb.graph]` table: what each part of a chunk's score weighs, and how far activation
/// spreads. A weight of 0 turns its part off. The defaults were chosen on the training files of
/// three question sets (`docs/results.md`).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GraphSettings {
    /// Cosine of the chunk, from 0 for the farthest chunk of the base to 1 for the nearest.
    pub dense: f32,
    /// BM25 of the chunk, as a share of the best.
    pub words: f32,
    /// Names in the chunk that the question leads to.
    pub entities: f32,
    /// Such names that are the title or heading of the chunk.
    pub titles: f32,
    /// A name of the question that no entity has just so stands for the most similar one, if they
    /// share at least this part of their letters; above 1 only equal names count.
    pub likeness: f32,
    /// How often activation spreads from names through sentences to other names.
    pub rounds: usize,
    /// Through so many of each name's sentences, those nearest to the question.
    pub sentences: usize,
    /// Names below this activation spread nothing.
    pub least: f32,
    /// So many of the best chunks are chosen from hop by hop; 0 leaves them as they are.
    pub hops: usize,
    /// Hop by hop: the share of the question's words that a chunk covers and those chosen before
    /// it do not.
    pub covers: f32,
    /// Hop by hop: a title that a chosen chunk names.
    pub led_to: f32,
    /// When atoms are searched: the score of an atom's chunk, as a share of the best.
    pub atoms: f32,
}

impl Default for GraphSettings {
    fn default() -> Self {
        Self {
            dense: 1.0,
            words: 0.5,
            entities: 0.4,
            titles: 1.5,
            likeness: 0.5,
            rounds: 3,
            sentences: 2,
            least: 0.1,
            hops: 60,
            covers: 1.5,
            led_to: 1.5,
            atoms: 0.5,
        }
    }
}
