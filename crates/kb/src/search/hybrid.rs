//! BM25 and cosines, fused by rank; summaries of the chunks as two further lists.
use std::collections::HashMap;

use halma_core::ScorePart;

use super::ranker::{Ranked, Ranker, Search};
use super::summaries::SUMMARIES;
use crate::KbError;
use crate::store::Row;

/// The weight of each list; that of cosines where they are trusted in full.
const DENSE: f32 = 1.0;
const LEXICAL: f32 = 1.0;

/// How deep all lists go: this many times the limit, and at least so deep.
const DEPTH: usize = 5;
const LEAST_DEPTH: usize = 50;

pub(crate) fn depth(limit: usize) -> usize {
    limit.saturating_mul(DEPTH).max(LEAST_DEPTH)
}

pub(super) struct Hybrid;

/// Rows in order, with the name of what gave the order and its weight.
struct RankedList {
    part: &'static str,
    weight: f32,
    rows: Vec<Row>,
}

impl RankedList {
    fn new(part: &'static str, weight: f32, rows: impl IntoIterator<Item = Row>) -> Self {
        Self { part, weight, rows: rows.into_iter().collect() }
    }
}

impl Ranker for Hybrid {
    fn rank(&self, search: &Search<'_>) -> Result<Vec<Vec<Ranked>>, KbError> {
        let query = search.query;
        let (depth, k) = (depth(query.limit), f32::from(search.settings.rrf_k));
        let (weight, trust) = (search.settings.summaries, search.dense_weight);
        let mut lists = vec![];
        let dense = search.nearest(query.layer, depth)?;
        let summaries = search.by_summaries(depth)?;
        for ((text, dense), summaries) in query.texts.iter().zip(dense).zip(summaries) {
            if search.is_cancelled() {
                break;
            }
            let lexical = search.bm25(query.layer, text, depth)?;
            let row = |(row, _): (Row, f32)| row;
            let led_to = |(row, ..): &(Row, f32, Row)| *row;
            let mut ranked = fuse(
                &[
                    RankedList::new("dense", DENSE * trust, dense.into_iter().map(row)),
                    RankedList::new("bm25", LEXICAL, lexical.into_iter().map(row)),
                    RankedList::new(SUMMARIES, weight * trust, summaries.dense.iter().map(led_to)),
                    RankedList::new(SUMMARIES, weight, summaries.bm25.iter().map(led_to)),
                ],
                k,
            );
            search.store.read(|reader| search.name_summaries(reader, &mut ranked, &summaries))?;
            lists.push(ranked);
        }
        Ok(lists)
    }
}

/// Reciprocal rank fusion with the constant `k` (Cormack et al. 2009): the rows of all lists by
/// fused rank in `(0, 1]`, best first, ties by row. 1 is the first of the first two lists, and of
/// the others where they hold anything.
fn fuse(lists: &[RankedList], k: f32) -> Vec<Ranked> {
    let counts =
        |list: &&RankedList| matches!(list.part, "dense" | "bm25") || !list.rows.is_empty();
    let highest = lists.iter().filter(counts).map(|list| list.weight).sum::<f32>() / (k + 1.0);
    let mut fused: HashMap<Row, Ranked> = HashMap::new();
    for list in lists {
        let mut rank = k;
        for row in &list.rows {
            rank += 1.0;
            let score = list.weight / rank / highest;
            let ranked = fused.entry(*row).or_insert_with(|| Ranked::plain((*row, 0.0)));
            ranked.score += score;
            match ranked.parts.iter_mut().find(|part| part.name == list.part) {
                Some(part) => part.score += score,
                None => ranked.parts.push(ScorePart {
                    name: list.part.to_owned(),
                    score,
                    through: String::new(),
                }),
            }
        }
    }
    let mut fused: Vec<Ranked> = fused.into_values().collect();
    fused.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.row.cmp(&b.row)));
    fused
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both(dense: &[Row], lexical: &[Row]) -> [RankedList; 2] {
        let list = |part, rows: &[Row]| RankedList::new(part, 1.0, rows.iter().copied());
        [list("dense", dense), list("bm25", lexical)]
    }

    fn rows(fused: &[Ranked]) -> Vec<Row> {
        fused.iter().map(|ranked| ranked.row).collect()
    }

    #[test]
    fn what_both_lists_hold_comes_first() {
        let fused = fuse(&both(&[1, 2], &[3, 2]), 5.0);
        assert_eq!(rows(&fused), [2, 1, 3]);
        let names: Vec<&str> = fused[0].parts.iter().map(|part| part.name.as_str()).collect();
        assert_eq!(names, ["dense", "bm25"]);
        assert!((fuse(&both(&[1], &[1]), 5.0)[0].score - 1.0).abs() < 1e-6);
    }

    #[test]
    fn a_large_constant_prefers_what_both_lists_hold_far_down() {
        let lists = both(&[1, 2, 3, 4, 5, 9], &[6, 7, 8, 10, 11, 9]);
        assert_eq!(fuse(&lists, 0.0)[0].row, 1);
        assert_eq!(fuse(&lists, 60.0)[0].row, 9);
    }

    #[test]
    fn summaries_count_by_their_weight() {
        let with = |weight: f32| {
            let [dense, lexical] = both(&[1, 2], &[1, 2]);
            let summaries = RankedList::new(SUMMARIES, weight, [2]);
            let again = RankedList::new(SUMMARIES, weight, [2]);
            fuse(&[dense, lexical, summaries, again], 5.0)
        };
        assert_eq!(rows(&with(0.1)), [1, 2]);
        let heavy = with(1.0);
        assert_eq!(rows(&heavy), [2, 1]);
        assert!(heavy[0].score < 1.0 && heavy[0].parts.len() == 3, "{}", heavy[0].score);
    }
}
