//! The best documents of all segments. tantivy's own collector starts over in each segment; here
//! the worst score that still counts is carried from one to the next, so that a base in several
//! segments is searched almost as fast as in one.
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use tantivy::query::{BooleanQuery, DisjunctionMaxQuery, EnableScoring, Occur, Query, Weight};
use tantivy::{DocAddress, Score, Searcher, SegmentReader};

/// Of a candidate's score, what the order of adding up may be about.
const ROUNDING: Score = 1e-5;

/// How often more candidates are looked at.
const ROUNDS: usize = 2;

/// Documents for each that is wanted up to which all that match are scored: finding out which of them
/// cannot be among the best takes longer than scoring them.
const FEW: u64 = 400;

/// A word of a query: the terms that it may be. It counts once, by the one that fits best.
pub(super) type Word = Vec<Box<dyn Query>>;

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

/// The documents that are searched.
#[derive(Clone, Copy)]
pub(super) struct Documents<'a> {
    pub(super) searcher: &'a Searcher,
    /// How many there are, about.
    pub(super) count: u64,
    pub(super) admits: &'a dyn Fn(DocAddress) -> bool,
}

impl<'a> Documents<'a> {
    /// All that a searcher sees.
    pub(super) fn all(searcher: &'a Searcher) -> Self {
        Self { searcher, count: searcher.num_docs(), admits: &|_| true }
    }

    /// The `limit` best for [`of_words`]. Where few documents are searched, all that match are scored
    /// so. In many it pays to skip, and only a query of plain terms skips what cannot be among the
    /// best: so candidates are those whose terms add up to most, which is never less than the words
    /// do, and as soon as the worst of the best is as good as the last candidate could be, no other
    /// one is better.
    pub(super) fn best_of_words(
        &self,
        words: &[Word],
        limit: usize,
    ) -> tantivy::Result<Vec<(Score, DocAddress)>> {
        let whole = of_words(words);
        if words.iter().all(|terms| terms.len() == 1) || !self.are_skipped(limit) {
            return self.best(&whole, limit);
        }
        let terms = words.iter().flatten().map(|term| (Occur::Should, term.box_clone()));
        let terms = BooleanQuery::new(terms.collect());
        let mut depth = limit.saturating_mul(2).saturating_add(20);
        for _ in 0..ROUNDS {
            let candidates = self.best(&terms, depth)?;
            let bound = candidates.iter().map(|(score, _)| *score).fold(Score::MAX, Score::min);
            let are_all = candidates.len() < depth;
            let mut best = scored(self.searcher, words, candidates)?;
            best.truncate(limit);
            let least = best.last().map_or(0.0, |(score, _)| *score);
            if are_all || best.len() == limit && least >= bound * (1.0 - ROUNDING) {
                return Ok(best);
            }
            depth = depth.saturating_mul(4);
        }
        self.best(&whole, limit)
    }

    /// The `limit` best, in no order.
    fn best(&self, query: &dyn Query, limit: usize) -> tantivy::Result<Vec<(Score, DocAddress)>> {
        let weight = query.weight(EnableScoring::enabled_from_searcher(self.searcher))?;
        let best = if self.are_skipped(limit) {
            self.best_skipping(weight.as_ref(), limit)?
        } else {
            self.best_of_all(weight.as_ref(), limit)?
        };
        Ok(best.into_iter().map(|scored| (scored.score, scored.address)).collect())
    }

    /// Whether documents that cannot be among the best are passed over.
    fn are_skipped(&self, limit: usize) -> bool {
        (limit as u64).saturating_mul(FEW) < self.count
    }

    /// The best, without a look at what cannot be among them.
    fn best_skipping(&self, weight: &dyn Weight, limit: usize) -> tantivy::Result<Vec<ScoredDoc>> {
        let mut best: BinaryHeap<Reverse<ScoredDoc>> = BinaryHeap::new();
        let mut worst = Score::MIN;
        for (segment, reader) in (0..).zip(self.searcher.segment_readers()) {
            let alive = reader.alive_bitset();
            weight.for_each_pruning(worst, reader, &mut |doc, score| {
                let address = DocAddress::new(segment, doc);
                // A score that is not above the worst is not passed on, except in the first segment.
                if score <= worst
                    || alive.is_some_and(|alive| alive.is_deleted(doc))
                    || !(self.admits)(address)
                {
                    return worst;
                }
                let entry = Reverse(ScoredDoc { score, address });
                if best.len() < limit {
                    best.push(entry);
                } else if let Some(mut last) = best.peek_mut() {
                    // It is better than the worst, whose place it takes.
                    *last = entry;
                }
                if best.len() == limit {
                    worst = best.peek().map_or(Score::MIN, |entry| entry.0.score);
                }
                worst
            })?;
        }
        Ok(best.into_iter().map(|Reverse(entry)| entry).collect())
    }

    /// The best, with a score for all that match. Twice as many as are wanted are held and cut now
    /// and then, which costs less than a heap where no score has to be known at once.
    fn best_of_all(&self, weight: &dyn Weight, limit: usize) -> tantivy::Result<Vec<ScoredDoc>> {
        let mut best: Vec<ScoredDoc> = vec![];
        let mut worst = Score::MIN;
        for (segment, reader) in (0..).zip(self.searcher.segment_readers()) {
            let alive = reader.alive_bitset();
            weight.for_each(reader, &mut |doc, score| {
                let address = DocAddress::new(segment, doc);
                if score <= worst
                    || alive.is_some_and(|alive| alive.is_deleted(doc))
                    || !(self.admits)(address)
                {
                    return;
                }
                best.push(ScoredDoc { score, address });
                if best.len() >= limit.saturating_mul(2) {
                    worst = cut(&mut best, limit);
                }
            })?;
        }
        cut(&mut best, limit);
        Ok(best)
    }
}

/// Leaves the `limit` best; returns the score that others must be above to be among them.
fn cut(best: &mut Vec<ScoredDoc>, limit: usize) -> Score {
    let Some(last) = limit.checked_sub(1).filter(|last| *last < best.len()) else {
        return Score::MIN;
    };
    let (_, last, _) = best.select_nth_unstable_by(last, |a, b| b.cmp(a));
    let worst = last.score;
    best.truncate(limit);
    worst
}

/// The query in which each word counts once.
pub(super) fn of_words(words: &[Word]) -> BooleanQuery {
    let word = |terms: &Word| -> (Occur, Box<dyn Query>) {
        if let [only] = terms.as_slice() {
            return (Occur::Should, only.box_clone());
        }
        let terms = terms.iter().map(|term| term.box_clone()).collect();
        (Occur::Should, Box::new(DisjunctionMaxQuery::new(terms)))
    };
    BooleanQuery::new(words.iter().map(word).collect())
}

/// Documents with their scores for [`of_words`], best first.
fn scored(
    searcher: &Searcher,
    words: &[Word],
    candidates: Vec<(Score, DocAddress)>,
) -> tantivy::Result<Vec<(Score, DocAddress)>> {
    let scoring = EnableScoring::enabled_from_searcher(searcher);
    let weights = |word: &Word| word.iter().map(|term| term.weight(scoring)).collect();
    let weights = words.iter().map(weights).collect::<tantivy::Result<Vec<Vec<_>>>>()?;
    let mut docs: Vec<DocAddress> = candidates.into_iter().map(|(_, address)| address).collect();
    docs.sort_unstable();
    let mut scored: Vec<ScoredDoc> = Vec::with_capacity(docs.len());
    for of_segment in docs.chunk_by(|a, b| a.segment_ord == b.segment_ord) {
        let reader = searcher.segment_reader(of_segment[0].segment_ord);
        let from = scored.len();
        scored.extend(of_segment.iter().map(|address| ScoredDoc { score: 0.0, address: *address }));
        for word in &weights {
            add_word(word, reader, &mut scored[from..])?;
        }
    }
    scored.sort_unstable_by(|a, b| b.cmp(a));
    Ok(scored.into_iter().map(|document| (document.score, document.address)).collect())
}

/// Adds what a word is worth in documents of a segment, which are in order.
fn add_word(
    terms: &[Box<dyn Weight>],
    reader: &SegmentReader,
    docs: &mut [ScoredDoc],
) -> tantivy::Result<()> {
    let mut best = vec![0.0; docs.len()];
    for term in terms {
        let mut scorer = term.scorer(reader, 1.0)?;
        for (doc, best) in docs.iter().zip(&mut best) {
            let doc = doc.address.doc_id;
            if scorer.doc() < doc {
                scorer.seek(doc);
            }
            if scorer.doc() == doc {
                *best = scorer.score().max(*best);
            }
        }
    }
    for (doc, best) in docs.iter_mut().zip(best) {
        doc.score += best;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use tantivy::collector::TopDocs;
    use tantivy::query::{QueryParser, TermQuery};
    use tantivy::schema::{Field, IndexRecordOption, Schema, TEXT};
    use tantivy::{Index, IndexWriter, Term, doc};

    use super::*;

    impl<'a> Documents<'a> {
        /// All, as if there were so many.
        fn of(searcher: &'a Searcher, count: u64) -> Self {
            Self { count, ..Self::all(searcher) }
        }
    }

    /// An index in several segments of the texts that `words` makes.
    fn index(count: usize, words: impl Fn(usize) -> String) -> (Index, Field) {
        let mut schema = Schema::builder();
        let text = schema.add_text_field("text", TEXT);
        let index = Index::create_in_ram(schema.build());
        let mut writer: IndexWriter = index.writer_with_num_threads(1, 15_000_000).unwrap();
        for i in 0..count {
            writer.add_document(doc!(text => words(i))).unwrap();
            if (i + 1) % (count / 4) == 0 {
                writer.commit().unwrap();
            }
        }
        (index, text)
    }

    /// What tantivy's own collector finds, whatever the segments and what was deleted.
    #[test]
    fn the_best_of_all_segments_are_found() {
        let words = |i| format!("a{} {}b{} w{i}", i % 3, "c ".repeat(i % 7), i * i % 11);
        let (index, text) = index(600, words);
        let mut writer: IndexWriter = index.writer_with_num_threads(1, 15_000_000).unwrap();
        for i in [3, 200, 201, 599] {
            writer.delete_term(Term::from_field_text(text, &format!("w{i}")));
        }
        writer.commit().unwrap();
        let searcher = index.reader().unwrap().searcher();
        assert!(searcher.segment_readers().len() > 1);
        let parser = QueryParser::for_index(&index, vec![text]);
        for text in ["a1", "c", "a2 b3 c", "b1 b4 b9", "w200", "w202 c"] {
            let query = parser.parse_query(text).unwrap();
            let weight = query.weight(EnableScoring::enabled_from_searcher(&searcher)).unwrap();
            let all = |_| true;
            let some = |at: DocAddress| !at.doc_id.is_multiple_of(3);
            for (limit, is_all) in
                [1, 7, 50, 1000].into_iter().flat_map(|n| [(n, true), (n, false)])
            {
                let top = TopDocs::with_limit(1000).order_by_score();
                let mut expected = searcher.search(&query, &top).unwrap();
                expected.retain(|(_, at)| is_all || some(*at));
                expected.truncate(limit);
                let admits: &dyn Fn(DocAddress) -> bool = if is_all { &all } else { &some };
                let documents = Documents { searcher: &searcher, count: 600, admits };
                for mut ranked in [
                    documents.best_skipping(weight.as_ref(), limit).unwrap(),
                    documents.best_of_all(weight.as_ref(), limit).unwrap(),
                ] {
                    ranked.sort_unstable_by(|a, b| b.cmp(a));
                    // Scores are added up in any order, so that equal ones may differ by rounding.
                    let is_same =
                        |(a, b): (&ScoredDoc, &(Score, DocAddress))| (a.score - b.0).abs() < 1e-5;
                    assert_eq!(ranked.len(), expected.len(), "{text} {limit}");
                    assert!(ranked.iter().all(|document| admits(document.address)));
                    assert!(ranked.iter().zip(&expected).all(is_same), "{ranked:?} {expected:?}");
                }
            }
        }
    }

    /// The same as the query in which each word counts once finds, also where documents hold several
    /// terms of a word.
    #[test]
    fn a_word_counts_by_its_best_term() {
        let words = |i| format!("a{} a{} {}b{} w{i}", i % 3, i % 5, "c ".repeat(i % 7), i * i % 11);
        let (index, text) = index(2_000, words);
        let searcher = index.reader().unwrap().searcher();
        let term = |term: &&str| -> Box<dyn Query> {
            let term = Term::from_field_text(text, term);
            Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs))
        };
        let queries: [&[&[&str]]; 6] = [
            &[&["a1", "a2"], &["c"]],
            &[&["a0", "a1", "a4"], &["b3", "c"]],
            &[&["b1", "b9"], &["w7", "w8"], &["c", "a1"]],
            &[&["a1", "a2"]],
            &[&["w200", "w201"], &["none", "nothing"]],
            &[&["none", "nothing"]],
        ];
        for words in queries {
            let words: Vec<Word> =
                words.iter().map(|terms| terms.iter().map(term).collect()).collect();
            for limit in [1, 7, 50, 3_000, usize::MAX] {
                let scores = |mut ranked: Vec<(Score, DocAddress)>| {
                    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
                    ranked.into_iter().map(|(score, _)| score).collect::<Vec<_>>()
                };
                let (many, few) = (Documents::of(&searcher, u64::MAX), Documents::of(&searcher, 0));
                let expected = scores(few.best(&of_words(&words), limit).unwrap());
                let computed = scores(many.best_of_words(&words, limit).unwrap());
                assert_eq!(computed.len(), expected.len());
                let differ = |(a, b): (&Score, &Score)| (a - b).abs() > 1e-4 * b;
                assert!(
                    !computed.iter().zip(&expected).any(differ),
                    "{limit}: {computed:?} {expected:?}"
                );
            }
        }
    }
}
