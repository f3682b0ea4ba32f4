//! The sentences of passages, and what the words of a question weigh among them.
use std::collections::HashSet;

use super::terms::{TermKind, each_term, number, terms};
use super::{Explained, Sentence, TitledText, prose, words_of};

/// What a word of the reason weighs, compared with one of the question.
const REASON_WEIGHT: f32 = 0.5;

/// A sentence of a passage, by the numbers of its stems.
pub(super) struct PassageLine {
    pub(super) sentence: Sentence,
    /// Ascending, those of the title included.
    pub(super) stems: Vec<u64>,
    /// Capitalised words and numbers among them.
    pub(super) names: Vec<u64>,
}

impl PassageLine {
    pub(super) fn read_all(passages: &[TitledText<'_>]) -> Vec<Self> {
        let mut lines = vec![];
        for (passage, TitledText { title, text }) in passages.iter().enumerate() {
            let title = terms(title);
            for range in prose(text) {
                let mut sentence_terms = terms(&text[range.clone()]);
                sentence_terms.extend(&title);
                let names = sentence_terms.iter().filter(|(_, kind)| *kind != TermKind::Other);
                lines.push(Self {
                    names: ascending(names.map(|(stem, _)| *stem)),
                    stems: ascending(sentence_terms.iter().map(|(stem, _)| *stem)),
                    sentence: Sentence { passage, range },
                });
            }
        }
        lines
    }

    pub(super) fn has(&self, stem: u64) -> bool {
        self.stems.binary_search(&stem).is_ok()
    }

    pub(super) fn gain(&self, missing: &[(u64, f32)]) -> f32 {
        missing.iter().filter(|(stem, _)| self.has(*stem)).map(|(_, weight)| weight).sum()
    }

    pub(super) fn holds(&self, wanted: &[String], passages: &[TitledText<'_>]) -> bool {
        let TitledText { text, .. } = passages[self.sentence.passage];
        let words = words_of(&text[self.sentence.range.clone()]);
        words.windows(wanted.len()).any(|run| run == wanted)
    }
}

fn ascending(stems: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut stems: Vec<u64> = stems.collect();
    stems.sort_unstable();
    stems.dedup();
    stems
}

/// What the words of a question and of a reason weigh: more the fewer sentences have them, names
/// twice.
pub(super) struct Weights {
    /// In the order of the texts.
    pub(super) of: Vec<(u64, f32)>,
    pub(super) total: f32,
    /// The names and numbers among them.
    pub(super) named: HashSet<u64>,
}

impl Weights {
    pub(super) fn new(explained: Explained<'_>, lines: &[PassageLine]) -> Self {
        let mut weights = Self { of: vec![], total: 0.0, named: HashSet::new() };
        for (text, weight) in [(explained.question, 1.0), (explained.reason, REASON_WEIGHT)] {
            weights.add(text, weight, lines);
        }
        weights.total = weights.of.iter().map(|(_, weight)| weight).sum();
        weights
    }

    #[expect(clippy::cast_precision_loss, reason = "there are few sentences")]
    fn add(&mut self, text: &str, weight: f32, lines: &[PassageLine]) {
        let mut at = 0;
        each_term(text, |stem, kind| {
            let number = number(stem);
            let is_first = at == 0;
            at += 1;
            // A short number may be that of a passage.
            let is_short = kind == TermKind::Number && stem.len() < 3;
            if is_short || self.of.iter().any(|(listed, _)| *listed == number) {
                return;
            }
            let having = lines.iter().filter(|line| line.has(number)).count();
            let rare = (1.0 + lines.len() as f32 / (1.0 + having as f32)).ln();
            let is_name = kind != TermKind::Other && !is_first;
            if is_name {
                self.named.insert(number);
            }
            self.of.push((number, if is_name { 2.0 } else { 1.0 } * rare * weight));
        });
    }
}
