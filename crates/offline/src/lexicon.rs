//! Word knowledge of the offline model: word families and countries.
use std::collections::HashMap;

use halma_core::text::{is_stop_word, strip_ending};

use crate::verbs::Verbs;

/// Word families, one a line; lines that start with `#` are comments.
const FAMILIES: &str = include_str!("data/families.txt");

/// `country: name, name, …`; lines that start with `#` are comments.
const COUNTRIES: &str = include_str!("data/countries.txt");

/// The word lists, read once.
#[derive(Debug, Clone)]
pub(crate) struct Lexicon {
    families: HashMap<&'static str, &'static str>,
    countries: HashMap<String, &'static str>,
    pub(crate) verbs: Verbs,
}

impl Lexicon {
    pub(crate) fn new() -> Self {
        let mut families = HashMap::new();
        for line in lines(FAMILIES) {
            let mut words = line.split_whitespace();
            let Some(first) = words.next() else { continue };
            families.insert(first, first);
            families.extend(words.map(|word| (word, first)));
        }
        let mut countries = HashMap::new();
        for line in lines(COUNTRIES) {
            let Some((country, names)) = line.split_once(':') else { continue };
            countries.insert(country.to_lowercase(), country);
            countries.extend(names.split(',').map(|name| (name.trim().to_lowercase(), country)));
        }
        Self { families, countries, verbs: Verbs::new() }
    }

    /// The form by which `word` is compared with others: its family's first word, or itself
    /// without its ending.
    pub(crate) fn stem(&self, word: &str) -> String {
        let word = word.to_lowercase();
        match self.families.get(word.as_str()) {
            Some(first) => (*first).to_owned(),
            None => strip_ending(&word).to_owned(),
        }
    }

    /// Whether the word belongs to a family, as common words do.
    pub(crate) fn is_common(&self, word: &str) -> bool {
        self.families.contains_key(word)
    }

    /// The country that `name` or its people are called by.
    pub(crate) fn country(&self, name: &str) -> Option<&'static str> {
        self.countries.get(&name.to_lowercase()).copied()
    }

    /// The stems of the words of `text` that say what it is about.
    pub(crate) fn content(&self, text: &str) -> Vec<String> {
        let words = crate::words::split(text);
        let words = words.into_iter().map(|range| text[range].to_lowercase());
        words.filter(|word| !is_stop_word(word)).map(|word| self.stem(&word)).collect()
    }
}

fn lines(list: &'static str) -> impl Iterator<Item = &'static str> {
    list.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_shares_a_stem() {
        let lexicon = Lexicon::new();
        for (a, b) in [("wrote", "author"), ("parties", "party"), ("bakers", "bake")] {
            assert_eq!(lexicon.stem(a), lexicon.stem(b), "{a} and {b}");
        }
        assert_ne!(lexicon.stem("Turin"), lexicon.stem("tune"));
    }

    #[test]
    fn a_people_names_its_country() {
        let lexicon = Lexicon::new();
        assert_eq!(lexicon.country("danish"), lexicon.country("Denmark"));
        assert_eq!(lexicon.country("Elbonia"), None);
    }

    #[test]
    fn no_word_belongs_to_two_families() {
        let mut seen = std::collections::BTreeSet::new();
        for word in lines(FAMILIES).flat_map(str::split_whitespace) {
            assert!(seen.insert(word), "`{word}` is in two families");
        }
    }
}
