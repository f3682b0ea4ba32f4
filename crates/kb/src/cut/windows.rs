//! Windows of a fixed number of tokens or sentences, each sharing its beginning with the one before.
use std::ops::Range;

use halma_core::text::sentences;

use super::pieces::{Piece, split_long, tiled};

/// A run of letters or digits counts once for so many of them.
const LONGEST: usize = 16;

/// The tokens of a range, each with the white space after it.
pub(super) fn tokens(text: &str, range: &Range<usize>) -> Vec<Range<usize>> {
    let mut starts = vec![];
    let mut run = 0;
    for (at, c) in text[range.clone()].char_indices() {
        if c.is_whitespace() {
            run = 0;
            continue;
        }
        let goes_on = c.is_alphanumeric() && !stands_alone(c);
        if !goes_on || run % LONGEST == 0 {
            starts.push(range.start + at);
        }
        run = if goes_on { run + 1 } else { 0 };
    }
    tiled(range, starts.get(1..).unwrap_or_default())
}

/// Scripts written without spaces.
fn stands_alone(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
}

/// The sentences of a range, each with the white space after it; one that is longer than the limit
/// counts as several.
pub(super) fn whole_sentences(text: &str, range: &Range<usize>, limit: usize) -> Vec<Range<usize>> {
    let starts = sentences(&text[range.clone()]).into_iter().map(|s| range.start + s.start);
    let mut units = vec![];
    for sentence in tiled(range, &starts.skip(1).collect::<Vec<_>>()) {
        split_long(text, sentence, limit, &mut units);
    }
    units
}

/// Windows of `size` units of which `overlap` are shared with the window before, at most half.
pub(super) fn windows(units: &[Range<usize>], size: usize, overlap: usize) -> Vec<Piece> {
    let size = size.max(1);
    let overlap = overlap.min(size / 2);
    let mut pieces = vec![];
    let mut at = 0;
    while at < units.len() {
        let shared = if at == 0 { 0 } else { overlap };
        let end = (at + size - shared).min(units.len());
        let range = units[at].start..units[end - 1].end;
        let shown = units[at - shared].start..range.end;
        pieces.push(Piece { shown, ..Piece::plain(range) });
        at = end;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<'a>(text: &'a str, ranges: &[Range<usize>]) -> Vec<&'a str> {
        ranges.iter().map(|range| &text[range.clone()]).collect()
    }

    #[test]
    fn a_token_is_a_word_a_number_or_a_mark() {
        let text = " It's 3.5 km, 東京!";
        let ranges = tokens(text, &(0..text.len()));
        assert_eq!(
            read(text, &ranges),
            [" It", "'", "s ", "3", ".", "5 ", "km", ", ", "東", "京", "!"]
        );
        let long = "x".repeat(40);
        assert_eq!(tokens(&long, &(0..40)), [0..16, 16..32, 32..40]);
    }

    #[test]
    fn windows_share_their_beginnings_and_their_own_parts_tile() {
        let units: Vec<Range<usize>> = (0..10).map(|i| i..i + 1).collect();
        let pieces = windows(&units, 4, 1);
        let tiles: Vec<_> = pieces.iter().map(|piece| piece.tile.clone()).collect();
        let shown: Vec<_> = pieces.into_iter().map(|piece| piece.shown).collect();
        assert_eq!(tiles, [0..4, 4..7, 7..10]);
        assert_eq!(shown, [0..4, 3..7, 6..10]);
        assert_eq!(windows(&units, 1, 9).len(), 10);
        assert_eq!(windows(&units, 0, 0).len(), 10);
    }
}
