//! What all ways of cutting share: the sections, the tables that are cut into rows, and how pieces
//! become chunks.
use std::ops::Range;

use halma_parse::{BlockKind, Parsed, Table, TableRow};

use super::parts::{SectionRange, pack_small, parts};
use super::pieces::{Grain, Piece, blocks_in, is_longer, units};
use super::{CutSettings, model, rows, tables};
use crate::Chunks;
use crate::store::{ChunkDraft, Outline, Places, SectionDraft, TextPlace};

/// A stretch of the text.
pub(super) enum Segment<'a> {
    /// Cut by the chosen way.
    Flow(Range<usize>),
    /// A table cut into its rows.
    Rows(&'a Table, Range<usize>),
}

/// What all ways of cutting share: sections, and tables that are cut into rows.
pub(super) struct CutPlan<'a> {
    parsed: &'a Parsed,
    limit: usize,
    parts: Vec<SectionRange>,
    /// By structure, nothing reaches from one section into the next.
    by_parts: bool,
    /// Nothing but tables, headings aside.
    pure: bool,
}

impl<'a> CutPlan<'a> {
    pub(super) fn new(parsed: &'a Parsed, title: &str, settings: &CutSettings) -> Self {
        let table = |kind| matches!(kind, BlockKind::Table(_));
        let blocks = || parsed.blocks.iter().map(|block| block.kind);
        let heading = |kind| matches!(kind, BlockKind::Heading { .. });
        let pure = blocks().any(table) && blocks().all(|kind| table(kind) || heading(kind));
        let by_parts = settings.chunks == Chunks::Structure;
        let limit = settings.chunk_chars.max(1);
        let mut parts = parts(parsed, title);
        if by_parts && !pure {
            parts = pack_small(&parsed.text, parts, limit);
        }
        Self { parsed, limit, parts, by_parts, pure }
    }

    pub(super) fn segments(&self) -> Vec<Segment<'a>> {
        let whole = self.parsed.body..self.parsed.text.len();
        let mut segments = vec![];
        if self.by_parts {
            for part in &self.parts {
                self.segments_of(part.range.clone(), &mut segments);
            }
        } else {
            self.segments_of(whole, &mut segments);
        }
        segments
    }

    fn segments_of(&self, range: Range<usize>, segments: &mut Vec<Segment<'a>>) {
        let text = self.parsed.text.as_str();
        let mut at = range.start;
        let mut words = false;
        for block in blocks_in(self.parsed, &range) {
            let table = match block.kind {
                BlockKind::Table(table) => self.parsed.tables.get(table),
                _ => None,
            };
            let by_rows = |table: &&Table| {
                // Rows without a value have nothing to say of themselves.
                let said = |row: &TableRow| row.cells.iter().any(|cell| !cell.trim().is_empty());
                table.rows.iter().any(said)
                    && (self.pure || is_longer(&text[block.range.clone()], self.limit))
            };
            let Some(table) = table.filter(by_rows) else {
                words |= !matches!(block.kind, BlockKind::Heading { .. });
                continue;
            };
            // A heading alone says nothing that its section does not: it goes with the first row.
            if words {
                segments.push(Segment::Flow(at..block.range.start));
                at = block.range.start;
            }
            segments.push(Segment::Rows(table, at..block.range.end));
            (at, words) = (block.range.end, false);
        }
        if !text[at..range.end].trim().is_empty() {
            segments.push(Segment::Flow(at..range.end));
        }
    }

    pub(super) fn rows(&self, table: &Table, range: &Range<usize>) -> Vec<Piece> {
        let part = self.parts.partition_point(|part| part.range.start < range.end);
        let heading = self.parts.get(part.saturating_sub(1)).and_then(|part| part.path.last());
        rows::TableRows::new(table, heading.map(String::as_str), self.limit)
            .pieces(&self.parsed.text, range)
    }

    pub(super) fn model_pieces(&self, range: &Range<usize>) -> Vec<Range<usize>> {
        let grain = Grain::Block((self.limit / model::PIECES).max(1));
        units(self.parsed, range, self.limit, grain)
    }

    /// The pieces as chunks of their sections, with tables and figures.
    pub(super) fn outline(&self, mut pieces: Vec<Piece>) -> Outline {
        let text = self.parsed.text.as_str();
        let blank = |piece: &Piece| text[piece.tile.clone()].trim().is_empty();
        pieces.retain(|piece| piece.text.is_some() || !blank(piece));
        tile(self.parsed.body..text.len(), &mut pieces);
        let places = Places::new(text);
        let mut outline = Outline::default();
        let starts: Vec<usize> = pieces.iter().map(|piece| piece.tile.start).collect();
        let mut pieces = pieces.into_iter().peekable();
        for (i, part) in self.parts.iter().enumerate() {
            let next = self.parts.get(i + 1).map_or(usize::MAX, |next| next.range.start);
            let mut chunks = vec![];
            while let Some(piece) = pieces.next_if(|piece| piece.tile.start < next) {
                let (tile, place) = (places.of(&piece.tile), places.of(&piece.shown));
                let Piece { text, summary, forward, .. } = piece;
                chunks.push(ChunkDraft { tile, place, text, summary, forward });
            }
            let place = places.of(&part.range);
            match outline.sections.last_mut() {
                Some(last) if part.packed && last.name == name(part) => {
                    last.place.bytes.1 = place.bytes.1;
                    last.place.chars.1 = place.chars.1;
                    last.chunks.extend(chunks);
                }
                _ => outline.sections.push(self.section(part, place, chunks)),
            }
        }
        tables::add(self.parsed, &places, &starts, &mut outline);
        outline
    }

    fn section(
        &self,
        part: &SectionRange,
        place: TextPlace,
        chunks: Vec<ChunkDraft>,
    ) -> SectionDraft {
        let level = u8::try_from(part.path.len()).unwrap_or(u8::MAX);
        // That these are rows says nothing about what is in them.
        let rows = self.pure && part.path.is_empty();
        let name = if rows { Some("rows".to_owned()) } else { name(part) };
        SectionDraft { name, indexed: !rows, level, place, chunks }
    }
}

fn name(part: &SectionRange) -> Option<String> {
    (!part.path.is_empty()).then(|| part.path.join(" > "))
}

/// Gives what lies between pieces to the one before it, so that their own parts tile the text.
fn tile(text: Range<usize>, pieces: &mut [Piece]) {
    let mut next = text.end;
    for piece in pieces.iter_mut().rev() {
        piece.tile.end = next;
        if piece.text.is_none() {
            piece.shown.end = next;
        }
        next = piece.tile.start;
    }
    if let Some(first) = pieces.first_mut() {
        first.tile.start = text.start;
        if first.text.is_none() {
            first.shown.start = text.start;
        }
    }
}
