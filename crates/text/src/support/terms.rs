//! The words of a text that say something, by their stems.
use std::collections::HashSet;

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

/// A stem as a number, which is cheap to compare: its hash (FNV-1a, 64 bits). Of a thousand stems, as
/// many as a question's passages have, two have the same one with a probability below 10⁻¹³.
pub(super) fn number(stem: &str) -> u64 {
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    stem.bytes().fold(0xcbf2_9ce4_8422_2325, mix)
}

/// The terms of a text, in order.
pub(super) fn terms(text: &str) -> Vec<(u64, TermKind)> {
    let mut terms = vec![];
    each_term(text, |stem, kind| terms.push((number(stem), kind)));
    terms
}

/// The stems of some texts.
#[derive(Default)]
pub(super) struct Terms(pub(super) HashSet<u64>);

impl Terms {
    pub(super) fn extend(&mut self, text: &str) {
        each_term(text, |stem, _| {
            self.0.insert(number(stem));
        });
    }

    pub(super) fn contains(&self, stem: &str) -> bool {
        self.0.contains(&number(stem))
    }
}
