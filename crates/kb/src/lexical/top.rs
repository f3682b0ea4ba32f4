//! The best documents of all segments. tantivy's own collector starts over in each segment; here
//! the worst score that still counts is carried from one to the next, so that a base in several
//! segments is searched almost as fast as in one.
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use tantivy::query::{EnableScoring, Query};
use tantivy::{DocAddress, Score, Searcher};

/// A document by its score; of equal ones the first is better.
#[derive(Debug, Clone, Copy, PartialEq)]
struct ScoredDoc {
    score: Score,
    address: DocAddress,
}

impl Eq for ScoredDoc {}

impl Ord for ScoredDoc {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then(other.address.cmp(&self.address))
    }
}

impl PartialOrd for ScoredDoc {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The `limit` best, in no order.
pub(super) fn search(
    searcher: &Searcher,
    query: &dyn Query,
    limit: usize,
) -> tantivy::Result<Vec<(Score, DocAddress)>> {
    let weight = query.weight(EnableScoring::enabled_from_searcher(searcher))?;
    let mut best: BinaryHeap<Reverse<ScoredDoc>> = BinaryHeap::new();
    let mut worst = Score::MIN;
    for (segment, reader) in (0..).zip(searcher.segment_readers()) {
        let alive = reader.alive_bitset();
        weight.for_each_pruning(worst, reader, &mut |doc, score| {
            // A score that is not above the worst is not passed on, except in the first segment.
            if score <= worst || alive.is_some_and(|alive| alive.is_deleted(doc)) {
                return worst;
            }
            let found = Reverse(ScoredDoc { score, address: DocAddress::new(segment, doc) });
            if best.len() < limit {
                best.push(found);
            } else if let Some(mut last) = best.peek_mut() {
                // It is better than the worst, whose place it takes.
                *last = found;
            }
            if best.len() == limit {
                worst = best.peek().map_or(Score::MIN, |found| found.0.score);
            }
            worst
        })?;
    }
    Ok(best.into_iter().map(|Reverse(found)| (found.score, found.address)).collect())
}

#[cfg(test)]
mod tests {
    use tantivy::collector::TopDocs;
    use tantivy::query::QueryParser;
    use tantivy::schema::{Schema, TEXT};
    use tantivy::{Index, Term, doc};

    use super::*;

    /// The same as tantivy's own collector finds, whatever the segments and what was deleted.
    #[test]
    fn the_best_of_all_segments_are_found() {
        let mut schema = Schema::builder();
        let text = schema.add_text_field("text", TEXT);
        let index = Index::create_in_ram(schema.build());
        let mut writer = index.writer_with_num_threads(1, 15_000_000).unwrap();
        for i in 0..600_usize {
            let words = format!("a{} {}b{} w{i}", i % 3, "c ".repeat(i % 7), i * i % 11);
            writer.add_document(doc!(text => words)).unwrap();
            if i % 150 == 149 {
                writer.commit().unwrap();
            }
        }
        for i in [3, 200, 201, 599] {
            writer.delete_term(Term::from_field_text(text, &format!("w{i}")));
        }
        writer.commit().unwrap();
        let searcher = index.reader().unwrap().searcher();
        assert!(searcher.segment_readers().len() > 1);
        let parser = QueryParser::for_index(&index, vec![text]);
        for asked in ["a1", "c", "a2 b3 c", "b1 b4 b9", "w200", "w202 c"] {
            let query = parser.parse_query(asked).unwrap();
            for limit in [1, 7, 50, 1000] {
                let top = TopDocs::with_limit(limit).order_by_score();
                let expected = searcher.search(&query, &top).unwrap();
                let mut found = search(&searcher, &query, limit).unwrap();
                found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
                assert_eq!(found, expected, "{asked} {limit}");
            }
        }
    }
}
