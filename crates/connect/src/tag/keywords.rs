//! The words that say what a text is about, by how rare they are elsewhere.
use std::collections::HashMap;

use halma_core::text::content_words;

/// The content words of a text with their weights, the heaviest first, `most` at most: how often
/// the text has the word, times `idf`, which says how rare the word is in the base.
///
/// Words are in lower case, and each is given once. Equal weights keep the order of the text.
pub fn keywords(text: &str, most: usize, idf: impl Fn(&str) -> f32) -> Vec<(String, f32)> {
    let mut counts: HashMap<String, (usize, f32)> = HashMap::new();
    for (at, word) in content_words(text).into_iter().enumerate() {
        counts.entry(word).or_insert((at, 0.0)).1 += 1.0;
    }
    let mut weighed: Vec<(usize, String, f32)> = counts
        .into_iter()
        .map(|(word, (at, count))| {
            let weight = count * idf(&word);
            (at, word, weight)
        })
        .filter(|(_, _, weight)| *weight > 0.0)
        .collect();
    weighed.sort_by(|a, b| b.2.total_cmp(&a.2).then(a.0.cmp(&b.0)));
    weighed.truncate(most);
    weighed.into_iter().map(|(_, word, weight)| (word, weight)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_rare_elsewhere_and_frequent_here_comes_first() {
        let text = "The mill made salt. Salt from the mill went to the harbour by boat.";
        let idf = |word: &str| match word {
            "salt" => 3.0,
            "mill" => 2.0,
            "harbour" => 5.0,
            "boat" => f32::NAN,
            _ => 0.0,
        };
        let found = keywords(text, 9, idf);
        let expected = [("salt", 6.0), ("harbour", 5.0), ("mill", 4.0)];
        assert_eq!(found, expected.map(|(word, weight)| (word.to_owned(), weight)));
        assert_eq!(keywords(text, 1, idf).len(), 1);
        assert!(keywords("", 5, idf).is_empty());
    }
}
