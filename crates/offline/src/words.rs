//! Words of a text with their places and stems, as span finding needs them.
use std::ops::Range;

use halma_core::text::Words;
pub(crate) use halma_core::text::{Shape, split_words as split};

use crate::lexicon::Lexicon;

/// A word of a sentence. `range` is in bytes of the sentence.
#[derive(Debug, Clone)]
pub(crate) struct Word {
    pub(crate) range: Range<usize>,
    pub(crate) stem: String,
    pub(crate) shape: Shape,
    pub(crate) stop: bool,
}

/// A sentence with its words.
#[derive(Debug, Clone)]
pub(crate) struct Sentence {
    pub(crate) text: String,
    pub(crate) words: Vec<Word>,
    /// The same without stems.
    pub(crate) plain: Words<'static>,
}

impl Sentence {
    pub(crate) fn new(text: &str, lexicon: &Lexicon) -> Self {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let plain = Words::new(text.clone());
        let stem = |word: &halma_core::text::Word| Word {
            range: word.range.clone(),
            stem: lexicon.stem(&text[word.range.clone()]),
            shape: word.shape,
            stop: word.stop,
        };
        let words = plain.words.iter().map(stem).collect();
        Self { text, words, plain }
    }

    pub(crate) fn word(&self, index: usize) -> &str {
        self.plain.word(index)
    }

    /// All words in lower case.
    pub(crate) fn lower_words(&self) -> Vec<String> {
        (0..self.words.len()).map(|at| self.word(at).to_lowercase()).collect()
    }

    /// What stands between word `index` and the next.
    pub(crate) fn gap(&self, index: usize) -> &str {
        self.plain.gap(index)
    }

    /// The text of the words `from..to`.
    pub(crate) fn slice(&self, words: &Range<usize>) -> &str {
        self.plain.slice(words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_knows_its_gaps() {
        let sentence = Sentence::new("Ada\nLovelace (born 1815).", &Lexicon::new());
        assert_eq!(sentence.slice(&(0..2)), "Ada Lovelace");
        assert_eq!(sentence.gap(1), " (");
        assert_eq!(sentence.gap(3), ").");
    }
}
