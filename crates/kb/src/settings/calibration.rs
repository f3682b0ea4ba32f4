//! What a calibration measures of an embedder, as it is stored.
use serde::{Deserialize, Serialize};

/// What was measured, of the vectors of one embedder.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// The least cosines of chunks and atoms that are above those of most unrelated pairs.
    pub chunk: f32,
    pub atom: f32,
    /// The chunks that the base had then.
    pub chunks: u64,
}

/// How much cosines say about the text of a base: with a part of a passage as the query, how often
/// the passage itself is the first, by cosine and by BM25. An embedder that cannot read the
/// language of the text finds few of those that BM25 finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DenseTrust {
    /// Passages whose parts were the queries.
    pub queries: u32,
    /// Passages that were searched.
    pub passages: u32,
    /// Queries whose own passage was the first.
    pub dense: u32,
    pub bm25: u32,
    /// The chunks that the base had then.
    pub chunks: u64,
}

impl DenseTrust {
    /// The shares of what BM25 finds at which cosines are not looked at, and from which on they
    /// are trusted in full. Parts of a passage are words of it, which is where BM25 is at its best.
    const NONE: f32 = 0.4;
    const FULL: f32 = 0.6;

    /// What cosines weigh, from 0 where their order is noise to 1.
    pub fn weight(&self) -> f32 {
        #[expect(clippy::cast_precision_loss, reason = "counts of some hundred")]
        let share = |part: u32, of: u32| part as f32 / of.max(1) as f32;
        let above = |count: u32| share(count, self.queries) - share(1, self.passages);
        let (dense, bm25) = (above(self.dense), above(self.bm25));
        // Where BM25 finds no more than chance either, the queries say nothing.
        if bm25 <= 0.0 {
            return 1.0;
        }
        ((dense / bm25 - Self::NONE) / (Self::FULL - Self::NONE)).clamp(0.0, 1.0)
    }

    /// Whether searches compare vectors at all.
    pub fn are_compared(&self) -> bool {
        self.weight() > 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cosines_weigh_what_they_find_of_what_bm25_finds() {
        let weight = |dense, bm25| {
            DenseTrust { queries: 64, passages: 400, dense, bm25, chunks: 600 }.weight()
        };
        for (dense, bm25) in [(62, 64), (46, 64), (64, 60)] {
            assert!((weight(dense, bm25) - 1.0).abs() < f32::EPSILON, "{dense} of {bm25}");
        }
        assert!((0.3..0.7).contains(&weight(32, 64)), "{}", weight(32, 64));
        for dense in [0, 5, 24] {
            assert!(weight(dense, 63).abs() < f32::EPSILON, "{dense}");
        }
        // Texts that not even BM25 finds say nothing of the embedder.
        assert!((weight(0, 0) - 1.0).abs() < f32::EPSILON);
    }
}
