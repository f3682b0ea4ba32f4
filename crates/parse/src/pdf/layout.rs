//! From words to reading order: words on one line without a wide gap are a segment, and segments
//! are ordered by the columns of the page.
use std::cmp::Ordering;

use super::page::Word;

/// A gap from here on (in units of the font size) parts segments.
const SEGMENT_GAP: f64 = 1.1;
/// Words on one line may differ by this much, in units of the font size.
const SAME_LINE: f64 = 0.35;
/// Columns of text have at least as many lines.
const MIN_COLUMN_LINES: usize = 5;
/// Lines of columns of text have at least as many letters, on average; cells have fewer.
const MIN_COLUMN_LETTERS: usize = 18;

/// Words of one line that belong together, or a block that takes their place.
#[derive(Debug, Clone)]
pub(super) struct Segment {
    pub(super) words: Vec<Word>,
    pub(super) x0: f64,
    pub(super) x1: f64,
    /// Of the base line; of a block its upper edge.
    pub(super) y: f64,
    pub(super) size: f64,
    /// The place of a block among those of the page.
    pub(super) block: Option<usize>,
}

impl Segment {
    fn new(word: Word) -> Self {
        let Word { x0, x1, y, size, .. } = word;
        Self { words: vec![word], x0, x1, y, size, block: None }
    }

    /// A block that covers this much of the page's width.
    pub(super) fn block(index: usize, (x0, x1): (f64, f64), y: f64) -> Self {
        Self { words: vec![], x0, x1, y, size: 10.0, block: Some(index) }
    }

    pub(super) fn letters(&self) -> usize {
        self.words.iter().map(|word| word.text.chars().count()).sum()
    }

    pub(super) fn text(&self) -> String {
        self.words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
    }

    fn add(&mut self, other: Self) {
        if other.letters() > self.letters() && other.size >= self.size {
            (self.y, self.size) = (other.y, other.size);
        }
        self.x0 = self.x0.min(other.x0);
        self.x1 = self.x1.max(other.x1);
        self.words.extend(other.words);
    }

    fn is_beside(&self, other: &Self) -> bool {
        let size = self.size.max(other.size);
        let gap = other.x0 - self.x1;
        (self.y - other.y).abs() < SAME_LINE * size
            && (-0.5 * size..SEGMENT_GAP * size).contains(&gap)
    }
}

pub(super) fn by(a: f64, b: f64) -> Ordering {
    a.total_cmp(&b)
}

/// How far lines at these places, from top to bottom, usually are from each other.
pub(super) fn spacing(places: impl Iterator<Item = f64>) -> Option<f64> {
    let places: Vec<f64> = places.collect();
    let mut gaps: Vec<f64> = places.windows(2).map(|pair| pair[1] - pair[0]).collect();
    gaps.retain(|gap| *gap > 1.0);
    gaps.sort_by(|a, b| by(*a, *b));
    gaps.get(gaps.len() / 3).copied()
}

/// Joins words to segments, first in the order in which they are drawn, then by place. What is
/// drawn twice at the same place, as some programs make bold letters, stays once.
pub(super) fn segments(words: Vec<Word>) -> Vec<Segment> {
    let mut drawn: Vec<Segment> = vec![];
    for word in words {
        let next = Segment::new(word);
        match drawn.last_mut() {
            Some(last) if last.is_beside(&next) => last.add(next),
            _ => drawn.push(next),
        }
    }
    drawn.sort_by(|a, b| by(a.y, b.y).then(by(a.x0, b.x0)));
    let mut joined: Vec<Segment> = vec![];
    for segment in drawn {
        let near = joined.iter_mut().rev().take(12);
        let mut near =
            near.filter(|other| (other.y - segment.y).abs() < other.size.max(segment.size));
        if let Some(other) = near.find(|other| {
            other.is_beside(&segment) || segment.is_beside(other) || is_copy(other, &segment)
        }) {
            if !is_copy(other, &segment) {
                other.add(segment);
                other.words.sort_by(|a, b| by(a.x0, b.x0));
            }
        } else {
            joined.push(segment);
        }
    }
    joined
}

fn is_copy(a: &Segment, b: &Segment) -> bool {
    let near = (a.x0 - b.x0).abs() < 0.2 * a.size && (a.y - b.y).abs() < 0.2 * a.size;
    near && a.words.len() == b.words.len()
        && a.words.iter().zip(&b.words).all(|(a, b)| a.text == b.text)
}

/// Segments that share a base line, from left to right.
pub(super) fn lines(mut segments: Vec<Segment>) -> Vec<Vec<Segment>> {
    segments.sort_by(|a, b| by(a.y, b.y));
    let mut lines: Vec<Vec<Segment>> = vec![];
    for segment in segments {
        let same = lines.last().is_some_and(|line: &Vec<Segment>| {
            let other = &line[0];
            segment.block.is_none()
                && other.block.is_none()
                && (other.y - segment.y).abs() < SAME_LINE * other.size.max(segment.size)
        });
        match lines.last_mut() {
            Some(line) if same => line.push(segment),
            _ => lines.push(vec![segment]),
        }
    }
    for line in &mut lines {
        line.sort_by(|a, b| by(a.x0, b.x0));
        for segment in line {
            super::bidi::order(&mut segment.words);
        }
    }
    lines
}

/// The segments in groups that are read one after the other: what spans the page, then its columns
/// from left to right, and so on down the page.
pub(super) fn columns(mut segments: Vec<Segment>) -> Vec<Vec<Segment>> {
    segments.sort_by(|a, b| by(a.y, b.y));
    let Some(gutter) = gutter(&segments) else { return vec![segments] };
    let is_whole = parts_columns(&segments, gutter);
    let mut groups = vec![];
    let mut spanning: Vec<Segment> = vec![];
    for part in segments.chunk_by(|a, b| crosses(a, gutter) == crosses(b, gutter)) {
        let (left, right): (Vec<_>, Vec<_>) =
            part.iter().cloned().partition(|segment| segment.x1 <= gutter + 1.0);
        // A short line among full ones is not a column, nor is a table between full lines.
        let is_column = !left.is_empty() && !right.is_empty() && !crosses(&part[0], gutter);
        if !is_column || !is_whole && !is_running_text(part, gutter) {
            spanning.extend_from_slice(part);
            continue;
        }
        groups.extend(columns(std::mem::take(&mut spanning)));
        // Columns may have columns themselves.
        groups.extend([left, right].into_iter().flat_map(columns));
    }
    if groups.is_empty() {
        return vec![segments];
    }
    groups.extend(columns(spanning));
    groups.retain(|group| !group.is_empty());
    groups
}

fn crosses(segment: &Segment, x: f64) -> bool {
    segment.x0 < x - 1.0 && segment.x1 > x + 1.0
}

/// Where two columns of text part, if the segments stand in columns.
fn gutter(segments: &[Segment]) -> Option<f64> {
    let x0 = segments.iter().map(|s| s.x0).fold(f64::MAX, f64::min);
    let x1 = segments.iter().map(|s| s.x1).fold(f64::MIN, f64::max);
    let steps = 60_u32;
    let mut best: Option<(usize, f64)> = None;
    for step in steps / 5..steps * 4 / 5 {
        let x = x0 + (x1 - x0) * f64::from(step) / f64::from(steps);
        let crossing = segments.iter().filter(|s| crosses(s, x)).count();
        let is_gutter = parts_columns(segments, x)
            || segments.split(|s| crosses(s, x)).any(|part| is_running_text(part, x));
        if is_gutter && best.is_none_or(|(fewest, _)| crossing < fewest) {
            best = Some((crossing, x));
        }
    }
    best.map(|(_, x)| x)
}

fn side(segments: &[Segment], x: f64, is_left: bool) -> Vec<&Segment> {
    let is_on_side = |s: &&Segment| if is_left { s.x1 <= x + 1.0 } else { s.x0 >= x - 1.0 };
    segments.iter().filter(|s| s.block.is_none()).filter(is_on_side).collect()
}

fn parts_columns(segments: &[Segment], x: f64) -> bool {
    let (left, right) = (side(segments, x, true), side(segments, x, false));
    let enough = |side: &[&Segment]| {
        let letters: usize = side.iter().map(|segment| segment.letters()).sum();
        side.len() >= MIN_COLUMN_LINES && letters >= side.len() * MIN_COLUMN_LETTERS
    };
    let crossing = segments.iter().filter(|s| crosses(s, x)).count();
    // Full lines between the columns are headings and figures, not the text itself.
    enough(&left) && enough(&right) && crossing * 3 < left.len().min(right.len()) * 2
}

/// Whether two columns part here, and most of their lines fill them, as cells do not.
fn is_running_text(segments: &[Segment], x: f64) -> bool {
    let is_filled = |is_left: &bool| {
        let widths = side(segments, x, *is_left).into_iter().map(|s| s.x1 - s.x0);
        let widest = widths.clone().fold(0.0, f64::max);
        widths.clone().filter(|width| *width > 0.75 * widest).count() * 5 > widths.count() * 3
    };
    parts_columns(segments, x) && [true, false].iter().all(is_filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(text: &str, x0: f64, y: f64) -> Word {
        let width = 5.0 * f64::from(u32::try_from(text.len()).unwrap());
        Word { text: text.into(), x0, x1: x0 + width, y, size: 10.0, ..Word::default() }
    }

    fn shown(groups: &[Vec<Segment>]) -> Vec<String> {
        let words =
            |s: &Segment| s.words.iter().map(|w| w.text.clone()).collect::<Vec<_>>().join(" ");
        groups.iter().flatten().map(words).collect()
    }

    #[test]
    fn columns_are_read_one_after_the_other() {
        let mut words =
            vec![word("A-title-over-both-of-the-columns-of-the-page-as-it-is", 50.0, 50.0)];
        for line in 0..6_u32 {
            let y = 80.0 + 12.0 * f64::from(line);
            words.push(word(&format!("left-words-of-line-number-{line}"), 50.0, y));
            words.push(word(&format!("right-words-of-line-number-{line}"), 250.0, y));
        }
        let groups = columns(segments(words));
        let lines = shown(&groups);
        assert_eq!(groups.len(), 3);
        assert!(
            lines[0].starts_with("A-title")
                && lines[6].starts_with("left")
                && lines[7].ends_with("number-0")
        );
    }

    #[test]
    fn words_beside_each_other_are_joined_and_copies_left_out() {
        let words = vec![
            word("b", 20.0, 10.2),
            word("a", 10.0, 10.0),
            word("far", 90.0, 10.0),
            word("a", 10.1, 10.0),
        ];
        let segments = segments(words);
        assert_eq!(shown(&[segments]), ["a b", "far"]);
    }
}
