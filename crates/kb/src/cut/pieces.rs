//! Where a text may be cut, and what is made of the cuts.
use std::ops::Range;

use halma_core::text::sentences;
use halma_parse::{Block, BlockKind, Parsed};

/// A chunk in the making.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    /// What is its own; own parts follow one another.
    pub(super) tile: Range<usize>,
    /// What it shows: its own part and what it shares with the chunk before.
    pub(super) shown: Range<usize>,
    /// Where it does not read as the text does.
    pub(super) text: Option<String>,
    pub(super) summary: Option<String>,
    /// What the text before it is about, which its summary was made with.
    pub(super) forward: Option<String>,
}

impl Piece {
    pub(super) fn plain(range: Range<usize>) -> Self {
        Self { tile: range.clone(), shown: range, text: None, summary: None, forward: None }
    }
}

/// How small the smallest pieces are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Grain {
    Sentence,
    /// Blocks; a paragraph of more characters is cut between sentences.
    Block(usize),
}

/// Whether a text has more than so many characters.
pub(super) fn is_longer(text: &str, limit: usize) -> bool {
    // Fewer bytes than the limit are fewer characters, too.
    text.len() > limit && text.chars().nth(limit).is_some()
}

/// The blocks that begin in a range.
pub(super) fn blocks_in<'a>(parsed: &'a Parsed, range: &Range<usize>) -> &'a [Block] {
    let from = parsed.blocks.partition_point(|block| block.range.start < range.start);
    let to = parsed.blocks.partition_point(|block| block.range.start < range.end);
    &parsed.blocks[from..to.max(from)]
}

/// Pieces of at most `limit` characters that tile a range, cut between blocks and sentences. Tables,
/// list items and code are cut only where one alone is longer than the limit, and a heading is
/// never cut from what follows it.
pub(super) fn units(
    parsed: &Parsed,
    range: &Range<usize>,
    limit: usize,
    grain: Grain,
) -> Vec<Range<usize>> {
    let text = parsed.text.as_str();
    let mut cuts = vec![];
    let mut after_heading = false;
    let blocks = blocks_in(parsed, range);
    if blocks.is_empty() {
        cuts_in_block(text, range.clone(), grain, &mut cuts);
    }
    for block in blocks {
        if !after_heading {
            cuts.push(block.range.start);
        }
        after_heading = matches!(block.kind, BlockKind::Heading { .. });
        let divisible = match block.kind {
            BlockKind::Paragraph | BlockKind::Quote => true,
            BlockKind::ListItem => is_longer(&text[block.range.clone()], limit),
            _ => false,
        };
        if divisible {
            cuts_in_block(text, block.range.clone(), grain, &mut cuts);
        }
    }
    cuts.retain(|cut| *cut > range.start && *cut < range.end);
    cuts.push(range.end);
    let mut pieces = vec![];
    let mut start = range.start;
    for end in cuts {
        split_long(text, start..end, limit, &mut pieces);
        start = end;
    }
    pieces
}

fn cuts_in_block(text: &str, block: Range<usize>, grain: Grain, cuts: &mut Vec<usize>) {
    if let Grain::Block(limit) = grain
        && !is_longer(&text[block.clone()], limit)
    {
        return;
    }
    let starts = sentences(&text[block.clone()]).into_iter().map(|s| block.start + s.start);
    let starts: Vec<usize> = starts.skip(1).collect();
    match grain {
        Grain::Sentence => cuts.extend(starts),
        Grain::Block(limit) => {
            let packed = pack(text, tiled(&block, &starts), limit);
            cuts.extend(packed.into_iter().skip(1).map(|piece| piece.start));
        }
    }
}

/// The ranges between cuts.
pub(super) fn tiled(range: &Range<usize>, cuts: &[usize]) -> Vec<Range<usize>> {
    let starts = std::iter::once(range.start).chain(cuts.iter().copied());
    let ends = cuts.iter().copied().chain([range.end]);
    starts.zip(ends).map(|(start, end)| start..end).filter(|piece| !piece.is_empty()).collect()
}

/// Joins neighbours up to the limit.
pub(super) fn pack(text: &str, pieces: Vec<Range<usize>>, limit: usize) -> Vec<Range<usize>> {
    let mut packed: Vec<Range<usize>> = vec![];
    let mut total = 0;
    for piece in pieces {
        let length = text[piece.clone()].chars().count();
        match packed.last_mut() {
            Some(last) if total + length <= limit => {
                last.end = piece.end;
                total += length;
            }
            _ => {
                packed.push(piece);
                total = length;
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
pub(super) fn split_long(
    text: &str,
    mut range: Range<usize>,
    limit: usize,
    into: &mut Vec<Range<usize>>,
) {
    // Trailing white space may go beyond.
    while is_longer(text[range.clone()].trim_end(), limit)
        && let Some((end, _)) = text[range.clone()].char_indices().nth(limit)
    {
        let window = &text[range.start..range.start + end];
        // A line end near the beginning would leave a heading or a bullet alone.
        let line = window.rfind('\n').map(|at| at + 1).filter(|at| *at > window.len() / 4);
        let space = || {
            let (at, space) = window.char_indices().rfind(|(_, c)| c.is_whitespace())?;
            Some(at + space.len_utf8())
        };
        let cut = range.start + line.or_else(space).unwrap_or(end);
        into.push(range.start..cut);
        range.start = cut;
    }
    if !range.is_empty() {
        into.push(range);
    }
}
