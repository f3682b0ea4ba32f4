//! The passages of a page that are nearest to a query, by the words they share.
use std::collections::{HashMap, HashSet};

use halma_core::text::{content_words, sentences};

/// Characters of a passage, and of all passages of a page together.
const PASSAGE: usize = 600;
const TOGETHER: usize = 1_500;
/// Passages of a page, at most.
const MAX_PASSAGES: usize = 3;

/// The best passages in the order of the page, each on a line; empty where none has a word of the
/// query. A word counts the more the fewer passages have it.
pub(super) fn nearest(paragraphs: &[String], query: &str) -> String {
    let wanted: HashSet<String> = content_words(query).into_iter().collect();
    let passages: Vec<&str> = paragraphs.iter().flat_map(|paragraph| cut(paragraph)).collect();
    let shared: Vec<HashSet<String>> = passages
        .iter()
        .map(|passage| content_words(passage).into_iter().filter(|w| wanted.contains(w)).collect())
        .collect();
    let mut having: HashMap<&str, usize> = HashMap::new();
    for word in shared.iter().flatten() {
        *having.entry(word).or_default() += 1;
    }
    #[expect(clippy::cast_precision_loss, reason = "passages of a page are few")]
    let weight = |word: &String| (1.0 + passages.len() as f32 / having[word.as_str()] as f32).ln();
    let score = |at: &usize| shared[*at].iter().map(weight).sum::<f32>();
    let mut best: Vec<usize> = (0..passages.len()).filter(|at| !shared[*at].is_empty()).collect();
    best.sort_by(|a, b| score(b).total_cmp(&score(a)));
    let (mut kept, mut length) = (vec![], 0);
    for at in best.into_iter().take(MAX_PASSAGES) {
        let more = passages[at].chars().count();
        if length + more <= TOGETHER {
            length += more;
            kept.push(at);
        }
    }
    kept.sort_unstable();
    kept.into_iter().map(|at| passages[at]).collect::<Vec<_>>().join("\n")
}

/// A paragraph in runs of sentences; what is longer than a passage without an end is cut off.
fn cut(paragraph: &str) -> Vec<&str> {
    let mut runs: Vec<std::ops::Range<usize>> = vec![];
    for sentence in sentences(paragraph) {
        match runs.last_mut() {
            Some(run) if sentence.end - run.start <= PASSAGE => run.end = sentence.end,
            _ => runs.push(sentence),
        }
    }
    let short = |run: std::ops::Range<usize>| {
        let text = &paragraph[run];
        text.char_indices().nth(PASSAGE).map_or(text, |(end, _)| &text[..end])
    };
    runs.into_iter().map(short).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(paragraphs: &[&str]) -> Vec<String> {
        paragraphs.iter().map(|&paragraph| paragraph.to_owned()).collect()
    }

    #[test]
    fn what_shares_rare_words_comes_before_what_shares_common_ones() {
        let page = page(&[
            "The bridge is a bridge.",
            "Salt is mined inland.",
            "The bridge is grey.",
            "The harbour bridge was opened by Anna Reed.",
            "The bridge is long.",
        ]);
        let passages = nearest(&page, "Who opened the harbour bridge?");
        assert!(passages.lines().count() == 3 && !passages.contains("Salt"), "{passages}");
        // In the page's order.
        assert!(passages.starts_with("The bridge") && passages.contains("Anna Reed"), "{passages}");
        assert_eq!(nearest(&page, "Who painted ceilings?"), "");
        assert_eq!(nearest(&page, ""), "");
        assert_eq!(nearest(&[], "bridge"), "");
    }

    #[test]
    fn a_page_without_end_gives_no_more_than_a_short_one() {
        let endless = page(&["bridge ".repeat(50_000).as_str(), &"A bridge. ".repeat(5_000)]);
        let passages = nearest(&endless, "bridge");
        assert!(passages.chars().count() <= TOGETHER + MAX_PASSAGES, "{}", passages.len());
    }
}
