//! The text of a page in reading order.
use std::collections::HashMap;

use super::layout::Segment;
use super::page::{Ink, Word};
use crate::writer::grid::Grid;

/// Segments that share a base line, from left to right.
pub(super) type Line = Vec<Segment>;

/// A page in reading order.
#[derive(Default)]
pub(super) struct PageText {
    /// Lines in groups that are read one after the other.
    pub(super) groups: Vec<Vec<Line>>,
    /// The tables that stand in the place of segments.
    pub(super) tables: Vec<Grid>,
    /// The targets of its links.
    pub(super) links: Vec<String>,
    /// In points.
    pub(super) height: f64,
    pub(super) letter_sizes: LetterSizes,
}

/// By size in half points: how many letters, and how much they cover.
#[derive(Default)]
pub(super) struct LetterSizes(pub(super) HashMap<u32, (usize, Ink)>);

impl LetterSizes {
    pub(super) fn add(&mut self, word: &Word) {
        let (letters, ink) = self.0.entry(half_points(word.size)).or_default();
        *letters += word.text.chars().count();
        ink.add(word.ink);
    }
}

impl PageText {
    pub(super) fn letters(&self) -> usize {
        let segments = self.groups.iter().flatten().flatten();
        let cells = self.tables.iter().flat_map(|table| table.rows.iter().flatten());
        segments.map(Segment::letters).sum::<usize>()
            + cells.map(|cell| cell.content.text.len()).sum::<usize>()
    }
}

/// A size of letters in half points.
pub(super) fn half_points(size: f64) -> u32 {
    // Sizes are between 0.5 and 2,000 points.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "small and positive"
    )]
    let rounded = (size * 2.0).round() as u32;
    rounded
}
