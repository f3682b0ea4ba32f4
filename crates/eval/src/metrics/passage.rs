//! How many of the passages that an answer rests on were found and cited.
use halma_core::{Citation, Hit};

use super::share;
use crate::GoldPassage;

/// The share of the gold passages that a citation lies in; `None` where none are known. Measures
/// what `HotpotQA`'s supporting-fact recall does, by passages instead of sentences.
pub fn support_recall(gold: &[GoldPassage], citations: &[Citation]) -> Option<f64> {
    let cited =
        |passage: &&GoldPassage| citations.iter().any(|c| passage.matches(&c.title, &c.quote));
    (!gold.is_empty()).then(|| share(gold.iter().filter(cited).count(), gold.len()))
}

/// Recall@k of passages (Karpukhin et al., 2020, for several passages as in `HippoRAG`): the share
/// of the gold passages among the first `k` hits; `None` where none are known.
pub fn recall_at_k(gold: &[GoldPassage], hits: &[Hit], k: usize) -> Option<f64> {
    recall_of_ranks(&ranks(gold, hits), k)
}

/// For each gold passage the place (from 1) of the first hit in it.
pub(crate) fn ranks(gold: &[GoldPassage], hits: &[Hit]) -> Vec<Option<usize>> {
    let place = |passage: &GoldPassage| {
        let at = hits.iter().position(|hit| passage.matches(&hit.title, &hit.text));
        at.map(|at| at + 1)
    };
    gold.iter().map(place).collect()
}

pub(crate) fn recall_of_ranks(ranks: &[Option<usize>], k: usize) -> Option<f64> {
    let found = ranks.iter().filter(|rank| rank.is_some_and(|rank| rank <= k)).count();
    (!ranks.is_empty()).then(|| share(found, ranks.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recall_counts_passages_among_the_first_hits() {
        let ranks = [Some(1), Some(4), None, Some(9)];
        assert_eq!(recall_of_ranks(&ranks, 2), Some(0.25));
        assert_eq!(recall_of_ranks(&ranks, 5), Some(0.5));
        assert_eq!(recall_of_ranks(&ranks, 10), Some(0.75));
        assert_eq!(recall_of_ranks(&[], 10), None);
    }
}
