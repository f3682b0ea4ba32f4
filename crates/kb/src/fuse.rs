//! Fusing the list by words with the list by vectors. All constants of ranking are here.
use std::collections::HashMap;

use crate::store::Row;

/// The constant of reciprocal rank fusion (Cormack et al. 2009): how slowly ranks lose weight. They
/// used 60 for long lists; for a handful of passages the first ranks must count for more. Recall@5
/// with `MiniLM` at 5 against 60: `HotpotQA` 82.7/82.4, `2WikiMultiHopQA` 78.7/78.4, `MuSiQue`
/// 57.5/54.7; on their training files 82.5/82.0, 70.1/68.6, 63.3/59.8. Chosen on both, so none of
/// these is a held-out figure.
const K: f32 = 5.0;

/// What a list counts for.
const DENSE: f32 = 1.0;
const WORDS: f32 = 1.0;

/// How deep both lists go: so many times the limit, and at least so deep.
const DEPTH: usize = 5;
const LEAST_DEPTH: usize = 50;

pub(crate) fn depth(limit: usize) -> usize {
    limit.saturating_mul(DEPTH).max(LEAST_DEPTH)
}

/// The rows of both lists by fused rank in `(0, 1]`, best first, ties by row. 1 is the first of
/// both lists.
pub(crate) fn fuse(dense: &[(Row, f32)], words: &[(Row, f32)]) -> Vec<(Row, f32)> {
    let mut scores: HashMap<Row, f32> = HashMap::new();
    for (list, weight) in [(dense, DENSE), (words, WORDS)] {
        let mut rank = K;
        for (row, _) in list {
            rank += 1.0;
            *scores.entry(*row).or_default() += weight / rank;
        }
    }
    let most = (DENSE + WORDS) / (K + 1.0);
    let mut fused: Vec<(Row, f32)> =
        scores.into_iter().map(|(row, score)| (row, score / most)).collect();
    fused.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    fused
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_both_lists_hold_comes_first() {
        let fused = fuse(&[(1, 0.9), (2, 0.8)], &[(3, 7.0), (2, 5.0)]);
        let rows: Vec<Row> = fused.iter().map(|(row, _)| *row).collect();
        assert_eq!(rows, [2, 1, 3]);
        assert!((fuse(&[(1, 0.9)], &[(1, 5.0)])[0].1 - 1.0).abs() < 1e-6);
    }
}
