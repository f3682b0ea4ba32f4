//! Chunks by structure: below a heading, between sentences; tables, lists and code stay whole.
use std::collections::BTreeSet;
use std::ops::Range;

use halma_core::text::sentences;

use super::{ChunkDraft, SectionDraft};
use crate::read::{Kind, markdown, table};
use crate::store::Place;

/// The sections and chunks of a document, chunks of at most `limit` characters.
pub(crate) fn outline(text: &str, title: &str, kind: Kind, limit: usize) -> Vec<SectionDraft> {
    let mut places = Places { text, byte: 0, chars: 0 };
    let whole = markdown::Part { path: vec![], range: 0..text.len() };
    let (parts, atomic) = match kind {
        Kind::Plain => (vec![whole], vec![]),
        Kind::Markdown => markdown::parts(text, title),
        Kind::Table { delimiter } => {
            return vec![table_section(text, delimiter, &mut places)];
        }
    };
    let mut sections = vec![];
    for part in parts {
        let pieces = tile(text, part.range.clone(), &atomic, limit.max(1));
        let chunks: Vec<ChunkDraft> = pieces
            .into_iter()
            .map(|piece| ChunkDraft { place: places.of(piece), text: None, summary: None })
            .collect();
        let (Some(first), Some(last)) = (chunks.first(), chunks.last()) else { continue };
        let place = Place {
            bytes: (first.place.bytes.0, last.place.bytes.1),
            chars: (first.place.chars.0, last.place.chars.1),
        };
        let level = u8::try_from(part.path.len()).unwrap_or(u8::MAX);
        let name = (!part.path.is_empty()).then(|| part.path.join(" > "));
        sections.push(SectionDraft { name, indexed: true, level, place, chunks });
    }
    sections
}

/// A table's rows, each a chunk that names its columns.
fn table_section(text: &str, delimiter: u8, places: &mut Places<'_>) -> SectionDraft {
    let row = |row: table::Row| ChunkDraft {
        place: places.of(row.range),
        text: Some(row.text),
        summary: None,
    };
    let chunks = table::rows(text, delimiter).into_iter().map(row).collect();
    let place = Places { text, byte: 0, chars: 0 }.of(0..text.len());
    // That these are rows says nothing about what is in them.
    SectionDraft { name: Some("rows".into()), indexed: false, level: 0, place, chunks }
}

/// Counts characters along a text, so that places in order cost one pass.
struct Places<'a> {
    text: &'a str,
    byte: usize,
    chars: usize,
}

impl Places<'_> {
    fn chars_at(&mut self, byte: usize) -> usize {
        if byte < self.byte {
            (self.byte, self.chars) = (0, 0);
        }
        self.chars += self.text[self.byte..byte].chars().count();
        self.byte = byte;
        self.chars
    }

    fn of(&mut self, range: Range<usize>) -> Place {
        let start = self.chars_at(range.start);
        let end = self.chars_at(range.end);
        Place { bytes: (range.start, range.end), chars: (start, end) }
    }
}

/// Cuts a range of a text into pieces of at most `limit` characters that join back to it: between
/// sentences, never inside an atomic range (a table, a list item, a fence) unless that is longer
/// than the limit by itself.
fn tile(
    text: &str,
    range: Range<usize>,
    atomic: &[Range<usize>],
    limit: usize,
) -> Vec<Range<usize>> {
    let slice = &text[range.clone()];
    if slice.trim().is_empty() {
        return vec![];
    }
    // Fewer bytes than the limit are fewer characters, too.
    if slice.len() <= limit || slice.chars().count() <= limit {
        return vec![range];
    }
    let atomic: Vec<&Range<usize>> =
        atomic.iter().filter(|a| a.start < range.end && range.start < a.end).collect();
    let whole = |at: &usize| {
        let after = atomic.partition_point(|a| a.start < *at);
        after == 0 || atomic[after - 1].end <= *at
    };
    let starts = sentences(slice).into_iter().map(|sentence| range.start + sentence.start);
    let mut cuts: BTreeSet<usize> = starts.filter(whole).collect();
    cuts.extend(atomic.iter().map(|a| a.start).filter(|at| range.contains(at)).filter(whole));
    cuts.remove(&range.start);
    let mut pieces = vec![];
    let mut start = range.start;
    for end in cuts.into_iter().chain([range.end]) {
        split_long(text, start..end, limit, &mut pieces);
        start = end;
    }
    pack(text, pieces, limit)
}

/// Joins neighbours up to the limit.
fn pack(text: &str, pieces: Vec<Range<usize>>, limit: usize) -> Vec<Range<usize>> {
    let mut packed: Vec<Range<usize>> = vec![];
    let mut held = 0;
    for piece in pieces {
        let length = text[piece.clone()].chars().count();
        match packed.last_mut() {
            Some(last) if held + length <= limit => {
                last.end = piece.end;
                held += length;
            }
            _ => {
                packed.push(piece);
                held = length;
            }
        }
    }
    // White space alone is no chunk.
    if let [.., before, last] = packed.as_mut_slice()
        && text[last.clone()].trim().is_empty()
    {
        before.end = last.end;
        packed.pop();
    }
    packed
}

/// Cuts what is longer than the limit at line ends, or at spaces, or where it must be.
fn split_long(text: &str, mut range: Range<usize>, limit: usize, into: &mut Vec<Range<usize>>) {
    while let Some((most, _)) = text[range.clone()].char_indices().nth(limit) {
        let window = &text[range.start..range.start + most];
        let line = window.rfind('\n').map(|at| at + 1);
        let space = || {
            let (at, space) = window.char_indices().rfind(|(_, c)| c.is_whitespace())?;
            Some(at + space.len_utf8())
        };
        let cut = range.start + line.or_else(space).unwrap_or(most);
        into.push(range.start..cut);
        range.start = cut;
    }
    if !range.is_empty() {
        into.push(range);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts(text: &str, kind: Kind, limit: usize) -> Vec<&str> {
        let sections = outline(text, "", kind, limit);
        let chunks = sections.into_iter().flat_map(|section| section.chunks);
        chunks.map(|chunk| &text[chunk.place.bytes.0..chunk.place.bytes.1]).collect()
    }

    #[test]
    fn a_short_text_is_one_chunk_and_a_long_one_is_cut_between_sentences() {
        let text = "One two three. Four five six. Seven eight nine.";
        assert_eq!(texts(text, Kind::Plain, 100), [text]);
        let cut = ["One two three. ", "Four five six. ", "Seven eight nine."];
        assert_eq!(texts(text, Kind::Plain, 20), cut);
        assert_eq!(texts(text, Kind::Plain, 30), ["One two three. Four five six. ", cut[2]]);
    }

    #[test]
    fn spans_are_characters() {
        let text = "Åse går. Märta står. 他来了。";
        let sections = outline(text, "", Kind::Plain, 12);
        let spans: Vec<(usize, usize)> =
            sections[0].chunks.iter().map(|chunk| chunk.place.chars).collect();
        assert_eq!(spans, [(0, 9), (9, 21), (21, 25)]);
    }

    #[test]
    fn tables_list_items_and_fences_stay_whole() {
        let text = "Intro one. Intro two.\n\n| a | b |\n|---|---|\n| one. Two | x |\n\n- item one. \
                    With more. And more.\n- item two\n\n```\nlet a = 1. B\n```\nEnd.\n";
        let chunks = texts(text, Kind::Markdown, 45);
        for whole in
            ["| a | b |\n|---|---|\n| one. Two | x |\n", "- item one. With more. And more."]
        {
            assert!(chunks.iter().any(|chunk| chunk.contains(whole)), "{chunks:?}");
        }
        assert!(chunks.iter().any(|chunk| chunk.contains("```\nlet a = 1. B\n```")), "{chunks:?}");
        assert_eq!(chunks.concat(), text);
    }

    #[test]
    fn a_word_longer_than_the_limit_is_cut() {
        assert_eq!(texts("abcdefgh", Kind::Plain, 3), ["abc", "def", "gh"]);
    }

    proptest! {
        #[test]
        fn chunks_join_back_to_the_text_and_keep_the_limit(
            text in "([a-zé他 .!?#|`*-]|\n|\n\n|# |- |```\n|\\| a \\|\n){0,60}",
            limit in 1usize..40,
        ) {
            for kind in [Kind::Plain, Kind::Markdown] {
                if text.trim().is_empty() || text.starts_with("---") {
                    continue;
                }
                let chunks = texts(&text, kind, limit);
                prop_assert_eq!(chunks.concat(), text.as_str());
            }
            for chunk in texts(&text, Kind::Plain, limit) {
                prop_assert!(chunk.trim_end().chars().count() <= limit);
            }
        }
    }
}
