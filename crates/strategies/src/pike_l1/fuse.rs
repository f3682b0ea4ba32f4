//! f of Figure 8: the lists of all layers as one.
use std::collections::HashMap;

use halma_core::{Hit, Layer, NodeId, ScorePart};

/// κ, the constant of reciprocal rank fusion (Cormack et al. 2009): how slowly ranks lose weight.
/// Scores of different layers cannot be compared, ranks can. Only the first few passages count, so
/// it is small; the base fuses BM25 and vectors with `kb.search.rrf_k`, 10.
const KAPPA: f32 = 5.0;

/// Chunks by S(c) = Σ w / (κ + rank of c), best first, equals in the order in which they came.
/// The contribution of each layer is in the parts.
pub(super) fn fused(lists: impl Iterator<Item = (Layer, f32, Vec<Hit>)>) -> Vec<Hit> {
    let mut chunks: Vec<Hit> = vec![];
    let mut places: HashMap<NodeId, usize> = HashMap::new();
    for (layer, weight, list) in lists {
        let mut rank = KAPPA;
        for hit in list {
            rank += 1.0;
            let score = weight / rank;
            let part = ScorePart { name: layer.name().to_owned(), score, through: String::new() };
            let place = *places.entry(hit.id.clone()).or_insert_with(|| {
                chunks.push(Hit { score: 0.0, parts: vec![], ..hit });
                chunks.len() - 1
            });
            chunks[place].score += score;
            chunks[place].parts.push(part);
        }
    }
    chunks.sort_by(|a, b| b.score.total_cmp(&a.score));
    chunks
}
