//! Which phrases name one relation, in general English: `birthplace` and `born in`, `founder` and
//! its other side `founder of`.
use std::collections::HashMap;

use super::words::Phrase;

/// The head of the file describes its format.
const RELATIONS: &str = include_str!("data/relations.txt");

/// The side of a relation that a phrase names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SynonymSide {
    /// Read from head to tail.
    Forward,
    Backward,
    /// Symmetric.
    Both,
}

/// A relation by its line, and the side of it.
pub(crate) type Sense = (u16, SynonymSide);

/// The list, read once.
pub(crate) struct Synonyms(HashMap<Vec<String>, Vec<Sense>>);

impl Synonyms {
    pub(crate) fn new() -> Self {
        let mut senses: HashMap<Vec<String>, Vec<Sense>> = HashMap::new();
        let lines = RELATIONS.lines().map(str::trim);
        let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
        for (number, line) in (0_u16..).zip(lines) {
            let (both, line) = match line.strip_prefix('=') {
                Some(rest) => (true, rest),
                None => (false, line),
            };
            let (forward, backward) = line.split_once('|').unwrap_or((line, ""));
            let first = if both { SynonymSide::Both } else { SynonymSide::Forward };
            for (side, phrases) in [(first, forward), (SynonymSide::Backward, backward)] {
                let phrases = phrases.split(';').map(str::trim).filter(|words| !words.is_empty());
                for phrase in phrases {
                    let key = Phrase::new(phrase).all;
                    let entry = senses.entry(key).or_default();
                    if !entry.iter().any(|(line, _)| *line == number) {
                        entry.push((number, side));
                    }
                }
            }
        }
        Self(senses)
    }

    /// What a phrase may mean; empty for one that is not in the list.
    pub(crate) fn senses(&self, phrase: &Phrase) -> &[Sense] {
        if phrase.content.is_empty() {
            return &[];
        }
        self.0.get(&phrase.all).map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phrase_has_the_senses_of_its_lines() {
        let list = Synonyms::new();
        let of = |text: &str| list.senses(&Phrase::new(text)).to_vec();
        assert_eq!(of("birthplace"), of("place of birth"));
        assert_eq!(of("birthplace").len(), 1);
        assert!(of("born").len() >= 2, "a place or a date");
        assert_ne!(of("founder")[0].1, of("founder of")[0].1);
        assert_eq!(of("sister")[0].1, SynonymSide::Both);
        assert_eq!(of("gravel"), []);
    }

    #[test]
    fn every_line_has_phrases_and_no_mark_out_of_place() {
        for line in RELATIONS.lines().filter(|line| !line.starts_with('#')) {
            assert!(!line.trim().is_empty() && line.matches('|').count() <= 1, "{line}");
            assert!(!line.starts_with('=') || !line.contains('|'), "{line}");
        }
    }
}
