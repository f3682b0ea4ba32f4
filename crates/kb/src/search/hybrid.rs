//! BM25 and cosines, fused by rank.
use std::collections::HashMap;

use super::ranker::{Ranked, Ranker, Search};
use crate::KbError;
use crate::store::Row;

/// The weight of each list.
const DENSE: f32 = 1.0;
const LEXICAL: f32 = 1.0;

/// How deep both lists go: this many times the limit, and at least so deep.
const DEPTH: usize = 5;
const LEAST_DEPTH: usize = 50;

pub(crate) fn depth(limit: usize) -> usize {
    limit.saturating_mul(DEPTH).max(LEAST_DEPTH)
}

pub(super) struct Hybrid;

impl Ranker for Hybrid {
    fn rank(&self, search: &Search<'_>) -> Result<Vec<Vec<Ranked>>, KbError> {
        let query = search.query;
        let (depth, k) = (depth(query.limit), f32::from(search.settings.rrf_k));
        let mut lists = vec![];
        for (text, dense) in query.texts.iter().zip(search.nearest(query.layer, depth)) {
            if search.is_cancelled() {
                break;
            }
            let lexical = search.bm25(query.layer, text, depth)?;
            lists.push(fuse(&dense, &lexical, k).into_iter().map(Ranked::plain).collect());
        }
        Ok(lists)
    }
}

/// Reciprocal rank fusion with the constant `k` (Cormack et al. 2009): the rows of both lists by
/// fused rank in `(0, 1]`, best first, ties by row. 1 is the first of both lists.
fn fuse(dense: &[(Row, f32)], lexical: &[(Row, f32)], k: f32) -> Vec<(Row, f32)> {
    let mut scores: HashMap<Row, f32> = HashMap::new();
    for (list, weight) in [(dense, DENSE), (lexical, LEXICAL)] {
        let mut rank = k;
        for (row, _) in list {
            rank += 1.0;
            *scores.entry(*row).or_default() += weight / rank;
        }
    }
    let most = (DENSE + LEXICAL) / (k + 1.0);
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
        let fused = fuse(&[(1, 0.9), (2, 0.8)], &[(3, 7.0), (2, 5.0)], 5.0);
        let rows: Vec<Row> = fused.iter().map(|(row, _)| *row).collect();
        assert_eq!(rows, [2, 1, 3]);
        assert!((fuse(&[(1, 0.9)], &[(1, 5.0)], 5.0)[0].1 - 1.0).abs() < 1e-6);
    }

    #[test]
    fn a_large_constant_prefers_what_both_lists_hold_far_down() {
        let list = |rows: [Row; 6]| rows.map(|row| (row, 1.0));
        let (dense, lexical) = (list([1, 2, 3, 4, 5, 9]), list([6, 7, 8, 10, 11, 9]));
        assert_eq!(fuse(&dense, &lexical, 0.0)[0].0, 1);
        assert_eq!(fuse(&dense, &lexical, 60.0)[0].0, 9);
    }
}
