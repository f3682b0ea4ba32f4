//! How many of the passages that an answer rests on were found and cited.
use halma_core::{Citation, Hit};

use serde::{Deserialize, Serialize};

use super::share;

/// A passage that supports the answer.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct GoldPassage {
    pub title: String,
    /// Empty where the file names the passage and does not hold it (`HotpotQA`'s full-wiki
    /// setting): then the title alone decides.
    pub text: String,
}

impl GoldPassage {
    /// Whether a hit or a citation lies in this passage: the titles are equal and the hit's text
    /// is a part of the passage's. White space does not count at all, because pools join a
    /// passage's sentences in different ways. A passage without a title is found by its text; a title
    /// like `id__*` stands for every title that begins with `id__`.
    pub fn matches(&self, title: &str, text: &str) -> bool {
        let text = without_space(text);
        let gold = without_space(&self.title);
        let title = without_space(title);
        let is_title = match gold.strip_suffix("__*") {
            Some(id) => title.strip_prefix(id).is_some_and(|rest| rest.starts_with("__")),
            None => gold.is_empty() || title == gold,
        };
        is_title
            && !text.is_empty()
            && (without_space(&self.text).contains(&text)
                || self.text.is_empty() && !gold.is_empty())
    }
}

pub(crate) fn without_space(text: &str) -> String {
    text.split_whitespace().collect()
}

/// The share of the gold passages that a citation lies in; `None` where none are known. Measures
/// what `HotpotQA`'s supporting-fact recall does, by passages instead of sentences.
pub fn support_recall(gold: &[GoldPassage], citations: &[Citation]) -> Option<f64> {
    let cited =
        |passage: &&GoldPassage| citations.iter().any(|c| passage.matches(&c.title, &c.quote));
    (!gold.is_empty()).then(|| share(gold.iter().filter(cited).count(), gold.len()))
}

/// For each gold passage the place (from 1) of the first hit in it.
pub(crate) fn ranks(gold: &[GoldPassage], hits: &[Hit]) -> Vec<Option<usize>> {
    let place = |passage: &GoldPassage| {
        let at = hits.iter().position(|hit| passage.matches(&hit.title, &hit.text));
        at.map(|at| at + 1)
    };
    gold.iter().map(place).collect()
}

/// Recall@k of passages (Karpukhin et al., 2020, for several passages as in `HippoRAG`): the share
/// of the gold passages among the first `k` hits; `None` where there are none.
pub(crate) fn recall_of_ranks(ranks: &[Option<usize>], k: usize) -> Option<f64> {
    let within = ranks.iter().filter(|rank| rank.is_some_and(|rank| rank <= k)).count();
    (!ranks.is_empty()).then(|| share(within, ranks.len()))
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
