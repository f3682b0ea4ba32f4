//! The words of a text that say something, by their stems.
use std::collections::{HashMap, HashSet};

use unicode_segmentation::UnicodeSegmentation;

use crate::{is_stop_word, stem};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum TermKind {
    Number,
    Name,
    Other,
}

/// Calls `take` with the stem and the kind of each word that says something.
pub(super) fn each_term(text: &str, mut take: impl FnMut(&str, TermKind)) {
    let mut lower = String::new();
    for word in text.unicode_words() {
        lower.clear();
        if word.is_ascii() {
            lower.push_str(word);
            lower.make_ascii_lowercase();
        } else {
            lower = word.to_lowercase();
        }
        let kind = match word.chars().next() {
            Some(c) if c.is_ascii_digit() => TermKind::Number,
            _ if is_stop_word(&lower) => continue,
            Some(c) if c.is_uppercase() => TermKind::Name,
            _ => TermKind::Other,
        };
        let bare = lower.strip_suffix("'s").or_else(|| lower.strip_suffix("’s")).unwrap_or(&lower);
        match kind {
            TermKind::Number if bare.contains(',') => take(&bare.replace(',', ""), kind),
            TermKind::Number => take(bare, kind),
            _ => take(stem(bare), kind),
        }
    }
}

/// The stems of some texts as numbers, which are cheap to compare.
#[derive(Default)]
pub(super) struct Vocabulary(HashMap<String, usize>);

impl Vocabulary {
    pub(super) fn number(&mut self, stem: &str) -> usize {
        if let Some(known) = self.0.get(stem) {
            return *known;
        }
        self.0.insert(stem.to_owned(), self.0.len());
        self.0.len() - 1
    }

    /// The terms of a text, in order.
    pub(super) fn terms(&mut self, text: &str) -> Vec<(usize, TermKind)> {
        let mut terms = vec![];
        each_term(text, |stem, kind| terms.push((self.number(stem), kind)));
        terms
    }
}

/// The stems of some texts.
#[derive(Default)]
pub(super) struct Terms(pub(super) HashSet<String>);

impl Terms {
    pub(super) fn extend(&mut self, text: &str) {
        each_term(text, |stem, _| {
            if !self.0.contains(stem) {
                self.0.insert(stem.to_owned());
            }
        });
    }

    pub(super) fn contains(&self, stem: &str) -> bool {
        self.0.contains(stem)
    }
}
