//! The pool of chunks that contexts are sampled from (PIKE-RAG, Algorithm 2): scores S and visits V.
use std::collections::BTreeMap;

use halma_core::NodeId;

/// S(c) and V(c) of every chunk that came near.
#[derive(Debug, Default)]
pub(super) struct Pool {
    chunks: BTreeMap<NodeId, Standing>,
}

#[derive(Debug)]
struct Standing {
    score: f32,
    visits: u16,
}

impl Default for Standing {
    fn default() -> Self {
        Self { score: 0.0, visits: 1 }
    }
}

/// How a chunk is drawn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Draw {
    /// α.
    pub(super) alpha: f32,
    /// The scale of the noise that is added to the bounds.
    pub(super) noise: f32,
    pub(super) seed: u64,
}

impl Pool {
    /// Line 13: S(c) grows by the similarity of what was near, but not near enough.
    pub(super) fn add(&mut self, chunk: &NodeId, similarity: f32) {
        self.chunks.entry(chunk.clone()).or_default().score += similarity.max(0.0);
    }

    /// A chunk was shown to the proposer: its visits grow as well, or what was chosen, which is not drawn
    /// again, would be all that is ever visited, and α would weigh nothing.
    pub(super) fn visit(&mut self, chunk: &NodeId) {
        let standing = self.chunks.entry(chunk.clone()).or_default();
        standing.visits = standing.visits.saturating_add(1);
    }

    /// Lines 23 and 24, for a chunk that was chosen.
    pub(super) fn choose(&mut self, chunk: &NodeId) {
        self.visit(chunk);
        if let Some(standing) = self.chunks.get_mut(chunk) {
            standing.score = 0.0;
        }
    }

    /// Line 5: the chunk with the greatest S(c) + α·√(ln t / V(c)), of those with a score that
    /// are not in the context. `turn` is t, from 1.
    pub(super) fn sample(&self, t: usize, context: &[&NodeId], draw: Draw) -> Option<NodeId> {
        #[expect(clippy::cast_precision_loss, reason = "a handful of turns")]
        let log = (t.max(1) as f32).ln();
        let open = self.chunks.iter().filter(|(id, s)| s.score > 0.0 && !context.contains(id));
        let bounds = open.map(|(id, standing)| {
            let explore = draw.alpha * (log / f32::from(standing.visits)).sqrt();
            let uniform = uniform(draw.seed, t, id);
            // Gumbel's noise: the maximum is a draw by the softmax of the bounds.
            let bound = standing.score + explore - draw.noise * (-uniform.ln()).ln();
            (id, bound, uniform)
        });
        let best = bounds.max_by(|a, b| a.1.total_cmp(&b.1).then(a.2.total_cmp(&b.2)));
        best.map(|(id, ..)| id.clone())
    }
}

/// A number in (0, 1) that depends on nothing but its arguments: FNV-1a, mixed as in `SplitMix64`.
fn uniform(seed: u64, t: usize, id: &NodeId) -> f32 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64 ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    for byte in (t as u64).to_le_bytes().iter().chain(id.0.as_bytes()) {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    let high = u16::try_from((hash ^ (hash >> 31)) >> 48).unwrap_or(u16::MAX);
    (f32::from(high) + 0.5) / 65_536.0
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXACT: Draw = Draw { alpha: 1.0, noise: 0.0, seed: 0 };

    fn pool(scores: &[(&str, f32)]) -> Pool {
        let mut pool = Pool::default();
        for (id, score) in scores {
            pool.add(&(*id).into(), *score);
        }
        pool
    }

    #[test]
    fn only_chunks_with_a_score_that_are_not_read_yet_are_drawn() {
        assert_eq!(Pool::default().sample(1, &[], EXACT), None);
        let mut pool = pool(&[("a", 0.4), ("b", 0.3), ("b", 0.3)]);
        assert_eq!(pool.sample(2, &[], EXACT), Some("b".into()));
        assert_eq!(pool.sample(2, &[&"b".into()], EXACT), Some("a".into()));
        pool.choose(&"b".into());
        assert_eq!(pool.sample(3, &[], EXACT), Some("a".into()));
    }

    #[test]
    fn visits_make_a_chunk_less_interesting_as_turns_pass() {
        let mut pool = Pool::default();
        pool.visit(&"a".into());
        pool.add(&"a".into(), 0.5);
        pool.add(&"b".into(), 0.3);
        // ln 1 = 0: the score alone counts in the first turn.
        assert_eq!(pool.sample(1, &[], EXACT), Some("a".into()));
        assert_eq!(pool.sample(3, &[], EXACT), Some("b".into()));
        assert_eq!(pool.sample(3, &[], Draw { alpha: 0.0, ..EXACT }), Some("a".into()));
    }

    #[test]
    fn seeds_break_ties_and_differ_by_noise() {
        let tie = pool(&[("a", 0.4), ("b", 0.4), ("c", 0.4)]);
        let drawn = |pool: &Pool, noise: f32| {
            let of = |seed| pool.sample(2, &[], Draw { noise, seed, ..EXACT });
            (0..20).filter_map(of).collect::<std::collections::BTreeSet<NodeId>>().len()
        };
        assert_eq!(drawn(&tie, 0.0), 3);
        let near = pool(&[("a", 0.40), ("b", 0.35)]);
        assert_eq!(drawn(&near, 0.0), 1);
        assert_eq!(drawn(&near, 0.2), 2);
        let one = near.sample(2, &[], Draw { noise: 0.2, seed: 7, ..EXACT });
        assert_eq!(one, near.sample(2, &[], Draw { noise: 0.2, seed: 7, ..EXACT }));
    }
}
