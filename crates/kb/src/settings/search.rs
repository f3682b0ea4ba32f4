//! Settings of searching: the constant of hybrid search and the weights of graph search.
use serde::{Deserialize, Serialize};

/// The `[kb.search]` table.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SearchSettings {
    /// The constant K of reciprocal rank fusion, in hybrid search: how slowly ranks lose weight. A
    /// list adds 1 / (K + rank) to the score of a node, ranks from 1.
    pub rrf_k: u16,
    /// What the summaries of chunks and tables weigh when chunks are searched in hybrid mode,
    /// compared to their text; 0 leaves them out. Only some bases have any (`kb.chunks = "model"`,
    /// tables).
    pub summaries: f32,
    /// What a tag counts for that the question names, or that its words stand for as samples have
    /// shown, next to the question itself: its terms are searched as well, and the question's
    /// vector moves towards it. 0 turns the expansion of questions off.
    pub tags: f32,
    /// The least cosine between a question and a tag that it does not name.
    pub tag_score: f32,
}

impl Default for SearchSettings {
    /// Cormack et al. (2009) use 60 for long lists; for the few passages of an answer the first
    /// ranks must count for more (measured: docs/developers/measurements.md).
    fn default() -> Self {
        Self { rrf_k: 10, summaries: 0.5, tags: 1.0, tag_score: 0.6 }
    }
}

/// The cosine that most unrelated texts stay below with all-MiniLM-L6-v2, with which the defaults
/// of least cosines were chosen.
const USUAL_CHANCE: f32 = 0.15;

/// A least cosine with the embedder of a base, where unrelated texts stay below `chance`: the
/// default lies as far between that and 1 as it does with all-MiniLM-L6-v2, and is never lower than
/// there. Another number than the default stays as it is set.
pub(crate) fn least_cosine(set: f32, default: f32, chance: f32) -> f32 {
    if (set - default).abs() > f32::EPSILON {
        return set;
    }
    let share = (default - USUAL_CHANCE) / (1.0 - USUAL_CHANCE);
    default.max(chance + share * (1.0 - chance))
}

/// The `[kb.graph]` table: what each part of a chunk's score weighs, and how far activation
/// spreads. A weight of 0 turns its part off. The defaults were chosen on the training files of
/// three question sets (`docs/developers/measurements.md`).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GraphSettings {
    /// Cosine of the chunk, from 0 for the farthest chunk of the base to 1 for the nearest.
    pub dense: f32,
    /// BM25 of the chunk, as a share of the best.
    pub bm25: f32,
    /// Names in the chunk that the question leads to.
    pub entities: f32,
    /// Such names that are the title or heading of the chunk.
    pub titles: f32,
    /// A name of the question that no entity has just so stands for the most similar one, if they
    /// share at least this part of their letters; above 1 only equal names count.
    pub similarity: f32,
    /// Tags of the chunk that the question names or stands for, the rarer the more; in bases with
    /// tags.
    pub tags: f32,
    /// A name of the question that is another name of an entity, or the name of several, activates
    /// it this much; several share it.
    pub aliases: f32,
    /// Activation passed along a fact from one entity to the other.
    pub facts: f32,
    /// The score of a chunk whose document links to that of a better one, or is linked to by it,
    /// rises by this share of that one's.
    pub links: f32,
    /// The same for the chunk before or after a better one.
    pub next: f32,
    /// How often activation spreads from names through sentences to other names.
    pub rounds: usize,
    /// Through this many of each name's sentences, those nearest to the question.
    pub sentences: usize,
    /// Names below this activation spread nothing.
    pub least: f32,
    /// Number of the best chunks that are reordered hop by hop; 0 leaves them as they are.
    pub hops: usize,
    /// Summaries of the chunk, compared to its text.
    pub summaries: f32,
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
            bm25: 0.5,
            entities: 0.4,
            titles: 1.5,
            similarity: 0.5,
            tags: 1.0,
            aliases: 1.0,
            facts: 0.2,
            links: 0.0,
            next: 0.0,
            rounds: 3,
            sentences: 2,
            least: 0.1,
            hops: 60,
            // Summaries made by rule bring nothing here (docs/developers/measurements.md).
            summaries: 0.0,
            covers: 1.5,
            led_to: 1.5,
            atoms: 0.5,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::least_cosine;

    #[test]
    fn a_default_is_as_far_above_chance_with_every_embedder() {
        for (set, chance, expected) in [
            (0.6, 0.15, 0.6),
            (0.6, 0.0, 0.6),
            // Unrelated texts of e5 are this near to each other.
            (0.6, 0.8, 0.906),
            (0.5, 0.8, 0.5),
        ] {
            let cut = least_cosine(set, 0.6, chance);
            assert!((cut - expected).abs() < 1e-3, "{set} with {chance}: {cut}");
        }
    }
}
