//! The text of a page in reading order, and what repeats at the edges of pages.
use std::collections::HashMap;

use super::layout::{Segment, by};
use super::page::{Ink, Word};
use crate::writer::grid::Grid;

/// Lines at the edge of pages that are the same on this share of the pages are running heads.
const RUNNING_SHARE: f64 = 0.4;
const MIN_RUNNING_PAGES: usize = 3;

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

    /// The uppermost and lowest lines of the page, with numbers made alike.
    fn edges(&self) -> Vec<String> {
        let mut lines: Vec<&Line> = self
            .groups
            .iter()
            .flatten()
            .filter(|line| line[0].words.first().is_some_and(|w| w.turned == 0))
            .collect();
        lines.sort_by(|a, b| by(a[0].y, b[0].y));
        let ends = lines.iter().take(2).chain(lines.iter().rev().take(2));
        let mut edges: Vec<String> = ends.map(|line| pattern(line)).collect();
        edges.sort_unstable();
        edges.dedup();
        edges
    }

    fn drop_lines(&mut self, running: &HashMap<String, usize>) {
        let edges: Vec<String> =
            self.edges().into_iter().filter(|edge| running.contains_key(edge)).collect();
        for group in &mut self.groups {
            group.retain(|line| line[0].block.is_some() || !edges.contains(&pattern(line)));
        }
    }
}

fn pattern(line: &Line) -> String {
    let mut out = String::new();
    for c in line.iter().flat_map(|segment| &segment.words).flat_map(|word| word.text.chars()) {
        if !c.is_ascii_digit() {
            out.push(c);
        } else if !out.ends_with('#') {
            out.push('#');
        }
    }
    out
}

/// Leaves out the running heads and page numbers of a document.
pub(super) fn drop_running_heads(pages: &mut [PageText]) {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for edge in pages.iter().flat_map(PageText::edges) {
        *counts.entry(edge).or_default() += 1;
    }
    let count = u32::try_from(pages.len()).unwrap_or(u32::MAX);
    counts.retain(|_, on| {
        let on = u32::try_from(*on).unwrap_or(u32::MAX);
        on as usize >= MIN_RUNNING_PAGES && f64::from(on) >= f64::from(count) * RUNNING_SHARE
    });
    for page in pages {
        page.drop_lines(&counts);
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
