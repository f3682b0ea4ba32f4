//! From bytes to characters, in any order, at the cost of one pass over the text.
use std::ops::Range;

use crate::store::TextPlace;

/// Characters are counted from the last of these before a byte.
const STEP: usize = 1024;

pub(crate) struct Places<'a> {
    text: &'a str,
    /// Characters before each `STEP` bytes; empty where bytes are characters.
    counted: Vec<usize>,
}

impl<'a> Places<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        if text.is_ascii() {
            return Self { text, counted: vec![] };
        }
        let mut counted = vec![0];
        let mut chars = 0;
        for step in text.as_bytes().chunks(STEP) {
            chars += starts(step);
            counted.push(chars);
        }
        Self { text, counted }
    }

    fn chars_at(&self, byte: usize) -> usize {
        match self.counted.get(byte / STEP) {
            None => byte,
            Some(chars) => chars + starts(&self.text.as_bytes()[byte / STEP * STEP..byte]),
        }
    }

    pub(crate) fn of(&self, range: &Range<usize>) -> TextPlace {
        let chars = (self.chars_at(range.start), self.chars_at(range.end));
        TextPlace { bytes: (range.start, range.end), chars }
    }
}

/// How many characters begin in these bytes of a text.
fn starts(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| (**byte).cast_signed() >= -64).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_counted_from_anywhere() {
        for text in ["plain words ".repeat(300), "Åse 他来了 z ".repeat(300)] {
            let places = Places::new(&text);
            let all: Vec<usize> = text.char_indices().map(|(byte, _)| byte).collect();
            for (chars, byte) in all.iter().copied().enumerate().rev() {
                assert_eq!(places.of(&(byte..text.len())).chars.0, chars);
            }
            assert_eq!(places.of(&(0..text.len())).chars.1, text.chars().count());
        }
    }
}
