//! Where a mention stands: bytes to characters, and which of two that overlap is kept.
use std::ops::Range;

use super::Mention;
use crate::Span;

/// Turns byte offsets of a text into offsets in characters.
struct Characters<'t> {
    text: &'t str,
    /// The place that was asked for last, in bytes and in characters.
    last: (usize, usize),
}

impl<'t> Characters<'t> {
    fn of(text: &'t str) -> Self {
        Self { text, last: (0, 0) }
    }

    /// A stretch of the text; cheap where it is asked for in order.
    fn span(&mut self, bytes: &Range<usize>) -> Span {
        Span { start: self.at(bytes.start), end: self.at(bytes.end) }
    }

    fn at(&mut self, byte: usize) -> usize {
        let (from, counted) = if byte < self.last.0 { (0, 0) } else { self.last };
        self.last = (byte, counted + self.text[from..byte].chars().count());
        self.last.1
    }
}

/// A stretch of a text that a tagger takes for an entity; `range` is in bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct Marked {
    pub range: Range<usize>,
    pub kind: String,
    pub score: f32,
}

/// Mentions in the order of the text, none inside or across another: the longer one is kept, and
/// of two as long the first.
pub fn mentions(text: &str, mut marked: Vec<Marked>) -> Vec<Mention> {
    marked.sort_by_key(|marked| (std::cmp::Reverse(marked.range.len()), marked.range.start));
    let mut kept: Vec<Marked> = vec![];
    for candidate in marked {
        let apart = |other: &Marked| {
            other.range.end <= candidate.range.start || candidate.range.end <= other.range.start
        };
        if !candidate.range.is_empty() && kept.iter().all(apart) {
            kept.push(candidate);
        }
    }
    kept.sort_by_key(|marked| marked.range.start);
    let mut characters = Characters::of(text);
    let mention = |Marked { range, kind, score }: Marked| Mention {
        span: characters.span(&range),
        text: text[range].to_owned(),
        kind,
        score,
    };
    kept.into_iter().map(mention).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longer_of_two_is_kept_and_spans_are_in_characters() {
        let text = "É. Zola à Paris, né à Paris";
        let at = |words: &str| text.find(words).map(|at| at..at + words.len()).unwrap();
        let marked = |range| Marked { range, kind: "name".into(), score: 1.0 };
        let kept =
            mentions(text, vec![marked(at("Paris")), marked(at("Zola à Paris")), marked(0..2)]);
        let told: Vec<(&str, usize, usize)> =
            kept.iter().map(|m| (m.text.as_str(), m.span.start, m.span.end)).collect();
        assert_eq!(told, [("É", 0, 1), ("Zola à Paris", 3, 15)]);
    }
}
