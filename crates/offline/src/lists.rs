//! Word lists in data files, one list a line: `name: entries`; lines that start with `#` are
//! comments.
use std::collections::HashMap;
use std::sync::LazyLock;

use halma_core::text::split_words;

/// Lists of words and phrases by name.
static LISTS: LazyLock<HashMap<&str, Vec<&str>>> = LazyLock::new(|| {
    let lists = lines(include_str!("data/lists.txt"));
    lists.map(|(name, entries)| (name, entries.split(", ").collect())).collect()
});

/// Nouns that name one thing by another (`director`, `birthplace`), by what they lead to.
const RELATIONS: &str = include_str!("data/relations.txt");

/// The lines of a data file with the text before and after the colon.
pub(crate) fn lines(file: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = file.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_once(':')).map(|(name, entries)| (name, entries.trim()))
}

/// The words and phrases of a list of `lists.txt`; none for an unknown name.
pub(crate) fn list(name: &str) -> impl Iterator<Item = &'static str> {
    LISTS.get(name).into_iter().flatten().copied()
}

/// Whether a list has the word.
pub(crate) fn is_listed(name: &str, word: &str) -> bool {
    list(name).any(|entry| entry == word)
}

/// The first entry of a list that stands in a text as whole words.
pub(crate) fn cue(name: &str, text: &str) -> Option<&'static str> {
    let words: Vec<String> =
        split_words(text).into_iter().map(|range| text[range].to_lowercase()).collect();
    let words = format!(" {} ", words.join(" "));
    list(name).find(|cue| words.contains(&format!(" {cue} ")))
}

/// The name of the line that has the noun, in the singular or the plural.
pub(crate) fn line_with(file: &'static str, noun: &str) -> Option<&'static str> {
    let singular = noun.strip_suffix('s').unwrap_or(noun);
    let holds = |nouns: &str| nouns.split(' ').any(|entry| entry == noun || entry == singular);
    lines(file).find(|(_, nouns)| holds(nouns)).map(|(name, _)| name)
}

/// What a noun of a relation leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leads {
    Person,
    Place,
    Thing,
}

/// What a noun in lower case leads to; `None` where it is not the noun of a relation.
pub(crate) fn leads(noun: &str) -> Option<Leads> {
    Some(match line_with(RELATIONS, noun)? {
        "person" => Leads::Person,
        "place" => Leads::Place,
        _ => Leads::Thing,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_noun_leads_somewhere_or_nowhere() {
        assert_eq!(leads("director"), Some(Leads::Person));
        assert_eq!(leads("directors"), Some(Leads::Person));
        assert_eq!(leads("birthplace"), Some(Leads::Place));
        assert_eq!(leads("continent"), Some(Leads::Thing));
        assert_eq!(leads("gravel"), None);
    }

    #[test]
    fn lists_hold_words_and_phrases() {
        assert!(is_listed("predictive", "next year") && is_listed("organisation", "force"));
        assert!(!is_listed("predictive", "next") && !is_listed("unknown", "next"));
    }

    #[test]
    fn no_entry_stands_twice_in_a_line() {
        for (name, entries) in LISTS.iter() {
            let mut distinct = entries.clone();
            distinct.sort_unstable();
            distinct.dedup();
            assert_eq!(distinct.len(), entries.len(), "{name}");
        }
    }
}
