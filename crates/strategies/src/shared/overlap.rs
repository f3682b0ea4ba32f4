//! How many of a question's words a text holds: an order for what no search has ranked.
use std::collections::HashSet;

use halma_core::Hit;
use halma_core::text::content_words;

/// The words that a question is about.
pub(crate) struct QueryWords(HashSet<String>);

impl QueryWords {
    pub(crate) fn new(text: &str) -> Self {
        Self(content_words(text).into_iter().collect())
    }

    /// How many of them a text holds.
    pub(crate) fn in_text(&self, text: &str) -> usize {
        let words: HashSet<String> = content_words(text).into_iter().collect();
        self.0.intersection(&words).count()
    }

    /// How many of them a node holds, its title included.
    pub(crate) fn in_hit(&self, hit: &Hit) -> usize {
        self.in_text(&format!("{} {}", hit.title, hit.text))
    }

    /// Hits with most of them first, equals in their order.
    pub(crate) fn sorted(&self, mut hits: Vec<Hit>) -> Vec<Hit> {
        hits.sort_by_cached_key(|hit| std::cmp::Reverse(self.in_hit(hit)));
        hits
    }
}
