//! Words of a text with their places, as span finding needs them.
use std::ops::Range;

use halma_core::text::is_stop_word;

use super::lexicon::Lexicon;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Lower,
    Capital,
    Digit,
}

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
}

impl Sentence {
    pub(crate) fn new(text: &str, lexicon: &Lexicon) -> Self {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let words = split(&text).into_iter().map(|range| word(&text, range, lexicon)).collect();
        Self { text, words }
    }

    pub(crate) fn word(&self, index: usize) -> &str {
        &self.text[self.words[index].range.clone()]
    }

    /// What stands between word `index` and the next.
    pub(crate) fn gap(&self, index: usize) -> &str {
        let end = self.words.get(index + 1).map_or(self.text.len(), |next| next.range.start);
        &self.text[self.words[index].range.end..end]
    }

    /// The text of the words `from..to`.
    pub(crate) fn slice(&self, words: &Range<usize>) -> &str {
        &self.text[self.words[words.start].range.start..self.words[words.end - 1].range.end]
    }
}

fn word(text: &str, range: Range<usize>, lexicon: &Lexicon) -> Word {
    let said = &text[range.clone()];
    let lower = said.to_lowercase();
    let shape = match said.chars().next() {
        Some(c) if c.is_ascii_digit() => Shape::Digit,
        Some(c) if c.is_uppercase() => Shape::Capital,
        _ => Shape::Lower,
    };
    Word { range, stem: lexicon.stem(&lower), shape, stop: is_stop_word(&lower) }
}

/// Byte ranges of the words of `text`: letters and digits, with the stops of `U.S`, the commas
/// of `1,200` and inner apostrophes; a possessive `s` is left out.
pub(crate) fn split(text: &str) -> Vec<Range<usize>> {
    let mut found = vec![];
    let mut chars = text.char_indices().peekable();
    while let Some((start, c)) = chars.next() {
        if !c.is_alphanumeric() {
            continue;
        }
        let mut end = start + c.len_utf8();
        while let Some(&(i, c)) = chars.peek() {
            let next = text[i + c.len_utf8()..].chars().next();
            if !(c.is_alphanumeric() || joins(&text[start..end], c, next)) {
                break;
            }
            end = i + c.len_utf8();
            chars.next();
        }
        let said = &text[start..end];
        let length = ["'s", "’s"].iter().find_map(|s| said.strip_suffix(s)).unwrap_or(said).len();
        found.push(start..start + length);
    }
    found
}

/// Whether `c` between `before` and `next` is part of a word.
fn joins(before: &str, c: char, next: Option<char>) -> bool {
    let last = before.chars().next_back();
    match c {
        ',' => last.is_some_and(|l| l.is_ascii_digit()) && next.is_some_and(|n| n.is_ascii_digit()),
        '.' => {
            let initials = before.chars().rev().nth(1).is_none_or(|c| c == '.');
            let digits = last.is_some_and(|l| l.is_ascii_digit())
                && next.is_some_and(|n| n.is_ascii_digit());
            digits || (initials && next.is_some_and(char::is_uppercase))
        }
        '\'' | '’' => next.is_some_and(char::is_alphabetic),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Vec<&str> {
        split(text).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn words_keep_what_belongs_to_them() {
        assert_eq!(
            said("Anna's 1,250 U.S. maps (O'Neil-Lee, 3.5 m), 1999."),
            ["Anna", "1,250", "U.S", "maps", "O'Neil", "Lee", "3.5", "m", "1999"]
        );
    }

    #[test]
    fn a_sentence_knows_its_gaps() {
        let sentence = Sentence::new("Ada\nLovelace (born 1815).", &Lexicon::new());
        assert_eq!(sentence.slice(&(0..2)), "Ada Lovelace");
        assert_eq!(sentence.gap(1), " (");
        assert_eq!(sentence.gap(3), ").");
    }
}
