//! Words of a text with their places and shapes, as the finding of names and values needs them.
use std::borrow::Cow;
use std::ops::Range;

use crate::cjk::is_cjk;
use crate::sentences::is_stop_word_in_any_case;
use crate::spelling::is_within_word;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    Lower,
    Capital,
    Digit,
}

/// A word of a text. `range` is in bytes of that text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    pub range: Range<usize>,
    pub shape: Shape,
    /// Whether it says nothing about what a text is about.
    pub stop: bool,
}

/// A text, best a sentence, with its words.
#[derive(Debug, Clone)]
pub struct Words<'t> {
    pub text: Cow<'t, str>,
    pub words: Vec<Word>,
}

impl<'t> Words<'t> {
    pub fn new(text: impl Into<Cow<'t, str>>) -> Self {
        let text = text.into();
        let words = split_words(&text).into_iter().map(|range| word(&text, range)).collect();
        Self { text, words }
    }

    pub fn word(&self, index: usize) -> &str {
        &self.text[self.words[index].range.clone()]
    }

    /// What stands between word `index` and the next. A line break within a paragraph is a blank.
    pub fn gap(&self, index: usize) -> &str {
        let end = self.words.get(index + 1).map_or(self.text.len(), |next| next.range.start);
        let gap = &self.text[self.words[index].range.end..end];
        let blank = gap.len() > 1 || gap.starts_with(['\n', '\t']);
        if blank && gap.chars().all(char::is_whitespace) && gap.matches('\n').count() < 2 {
            return " ";
        }
        gap
    }

    /// The bytes that the words `from..to` take up.
    pub fn bytes(&self, words: &Range<usize>) -> Range<usize> {
        self.words[words.start].range.start..self.words[words.end - 1].range.end
    }

    /// The text of the words `from..to`.
    pub fn slice(&self, words: &Range<usize>) -> &str {
        &self.text[self.bytes(words)]
    }
}

fn word(text: &str, range: Range<usize>) -> Word {
    let said = &text[range.clone()];
    let shape = match said.chars().next() {
        Some(c) if c.is_ascii_digit() => Shape::Digit,
        Some(c) if c.is_uppercase() => Shape::Capital,
        _ => Shape::Lower,
    };
    let stop = shape != Shape::Digit && is_stop_word_in_any_case(said);
    Word { range, shape, stop }
}

/// Byte ranges of the words of `text`: letters and digits, with the stops of `U.S`, the commas
/// of `1,200` and inner apostrophes; a possessive `s` is left out.
pub fn split_words(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::with_capacity(text.len() / 6);
    let mut at = 0;
    while let Some(first) = char_at(text, at) {
        let start = at;
        at += first.len_utf8();
        if !first.is_alphanumeric() {
            continue;
        }
        let mut end = at;
        while let Some(c) = char_at(text, end) {
            let after = end + c.len_utf8();
            let goes_on = if c.is_alphanumeric() {
                // `NBA球队` and `2019年` are two words each.
                is_cjk(c) == is_cjk(first)
            } else {
                joins(&text[start..end], c, char_at(text, after))
            };
            if !goes_on {
                break;
            }
            end = after;
        }
        at = end;
        let said = &text[start..end];
        let length = ["'s", "’s"].iter().find_map(|s| said.strip_suffix(s)).unwrap_or(said).len();
        ranges.push(start..start + length);
    }
    ranges
}

/// The character that begins at a byte; most are ASCII.
fn char_at(text: &str, at: usize) -> Option<char> {
    match text.as_bytes().get(at) {
        Some(byte) if byte.is_ascii() => Some(char::from(*byte)),
        _ => text[at..].chars().next(),
    }
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
        c => is_within_word(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Vec<&str> {
        split_words(text).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn words_keep_what_belongs_to_them() {
        assert_eq!(
            said("Anna's 1,250 U.S. maps (O'Neil-Lee, 3.5 m), 1999."),
            ["Anna", "1,250", "U.S", "maps", "O'Neil", "Lee", "3.5", "m", "1999"]
        );
    }

    #[test]
    fn a_text_knows_its_gaps() {
        let words = Words::new("Ada\nLovelace (born 1815).\n\nShe");
        assert_eq!(words.slice(&(0..2)), "Ada\nLovelace");
        assert_eq!((words.gap(0), words.gap(1)), (" ", " ("));
        assert_eq!(words.gap(3), ").\n\n");
    }
}
