//! From lines to blocks: paragraphs, headings by the size of their letters, and items of lists.
use std::collections::HashMap;

use super::layout::{Segment, spacing};
use super::page::{Ink, Word};
use super::tables;
use super::text::{Line, PageText, half_points};
use crate::writer::Writer;
use crate::writer::inline::Inline;

/// Letters from here on (in sizes of the running text) are those of headings.
const HEADING_SIZE: f64 = 1.14;
/// Letters that cover this many times as much as those of the running text are bold.
const BOLD: f64 = 1.25;
const BOLD_CAPITALS: f64 = 1.6;
const MAX_HEADING_LETTERS: usize = 200;
const MAX_BOLD_HEADING_WORDS: usize = 14;

/// What letters look like in a document.
pub(super) struct Sizes {
    /// Of the running text, in points.
    body: f64,
    /// How dense the letters of the running text are.
    density: f64,
    /// The sizes of headings in half points, the largest first.
    headings: Vec<u32>,
}

impl Sizes {
    pub(super) fn of(pages: &[PageText]) -> Self {
        let mut letters: HashMap<u32, (usize, Ink)> = HashMap::new();
        let lines = || pages.iter().flat_map(|page| page.groups.iter().flatten());
        for (size, (more, covered)) in pages.iter().flat_map(|page| &page.letter_sizes.0) {
            let (count, ink) = letters.entry(*size).or_default();
            *count += more;
            ink.add(*covered);
        }
        let body = letters.iter().max_by_key(|(size, (letters, _))| (*letters, **size));
        let (size, ink) = body.map_or((20, Ink::default()), |(size, (_, ink))| (*size, *ink));
        let mut sizes = Self {
            body: f64::from(size) / 2.0,
            density: ink.density().unwrap_or(f64::MAX),
            headings: vec![],
        };
        let headings = lines().filter(|line| sizes.is_heading(line));
        let mut headings: Vec<u32> = headings.map(|line| half_points(line_size(line))).collect();
        headings.sort_unstable_by(|a, b| b.cmp(a));
        headings.dedup();
        sizes.headings = headings;
        sizes
    }

    /// The level of a heading by the size of its letters.
    fn level(&self, line: &Line) -> Option<u8> {
        let size = half_points(line_size(line));
        let at = self
            .headings
            .iter()
            .position(|heading| *heading == size)
            .filter(|_| self.is_heading(line))?;
        Some(u8::try_from(at + 1).unwrap_or(6).min(6))
    }

    /// Whether a line is in large letters, or short and in bold ones.
    fn is_heading(&self, line: &Line) -> bool {
        let text = text(line);
        let alphabetic = text.chars().filter(|c| c.is_alphabetic()).count();
        let is_level = line[0].words.first().is_some_and(|word| word.turned == 0);
        if !is_level || alphabetic < 2 || text.chars().count() > MAX_HEADING_LETTERS {
            return false;
        }
        let size = line_size(line);
        if size >= self.body * HEADING_SIZE {
            return true;
        }
        let ends = text.ends_with(['.', ',', ';', ':']);
        let is_short = text.split(' ').count() <= MAX_BOLD_HEADING_WORDS && line.len() == 1;
        is_short && !ends && size >= self.body * 0.95 && self.is_bold(line, &text)
    }

    fn is_bold(&self, line: &Line, text: &str) -> bool {
        let mut ink = Ink::default();
        line.iter().flat_map(|segment| &segment.words).for_each(|word| ink.add(word.ink));
        // Capitals cover more than small letters do.
        let capitals = !text.chars().any(char::is_lowercase);
        let least = if capitals { BOLD_CAPITALS } else { BOLD };
        ink.density().is_some_and(|density| density >= self.density * least)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum BlockKind {
    Heading(u8),
    Paragraph,
    Item(String),
}

/// Lines that are being joined.
struct Open<'a> {
    kind: BlockKind,
    lines: Vec<&'a Line>,
}

/// Writes a page in reading order.
pub(super) fn write(page: &PageText, sizes: &Sizes, writer: &mut Writer) {
    for group in &page.groups {
        let edges = Edges::of(group);
        let mut open: Option<Open<'_>> = None;
        let mut at = 0;
        while let Some(line) = group.get(at) {
            if let Some(table) = line[0].block.and_then(|block| page.tables.get(block)) {
                close(open.take(), page, writer);
                writer.table(table);
                at += 1;
                continue;
            }
            if let Some((lines, table)) = tables::aligned(&group[at..]) {
                close(open.take(), page, writer);
                writer.table(&table);
                at += lines;
                continue;
            }
            let kind = kind(line, sizes);
            match &mut open {
                Some(open) if continues(open, line, &kind, &edges) => open.lines.push(line),
                _ => {
                    close(open.take(), page, writer);
                    open = Some(Open { kind, lines: vec![line] });
                }
            }
            at += 1;
        }
        close(open, page, writer);
    }
}

/// Where the lines of a group end, and how far they are from each other.
struct Edges {
    left: f64,
    right: f64,
    spacing: f64,
}

impl Edges {
    fn of(group: &[Line]) -> Self {
        let right = group.iter().flatten().map(|segment| segment.x1).fold(f64::MIN, f64::max);
        let left = group.iter().flatten().map(|segment| segment.x0).fold(f64::MAX, f64::min);
        let spacing = spacing(group.iter().map(|line| line[0].y)).unwrap_or(0.0);
        Self { left, right, spacing }
    }
}

fn line_size(line: &Line) -> f64 {
    let largest = line.iter().max_by_key(|segment| segment.letters());
    largest.map_or(0.0, |segment| segment.size)
}

fn text(line: &Line) -> String {
    line.iter().map(Segment::text).collect::<Vec<_>>().join(" ")
}

fn kind(line: &Line, sizes: &Sizes) -> BlockKind {
    let text = text(line);
    if let Some(level) = sizes.level(line) {
        return BlockKind::Heading(level);
    }
    let mut words = text.split(' ');
    let first = words.next().unwrap_or_default();
    if words.next().is_some() && is_marker(first) {
        let number = first.chars().any(char::is_alphanumeric);
        return BlockKind::Item(if number { first.to_owned() } else { "-".to_owned() });
    }
    BlockKind::Paragraph
}

/// Whether a word marks an item of a list, as in `•`, `3.` or `(a)`.
pub(super) fn is_marker(word: &str) -> bool {
    let mut chars = word.chars();
    if let (Some(c), None) = (chars.next(), chars.next())
        && "•‣▪◦●○■□➢✓–-*·☐☑☒".contains(c)
    {
        return true;
    }
    let inner = word.trim_start_matches('(');
    let Some(inner) = inner.strip_suffix([')', '.']).filter(|inner| !inner.is_empty()) else {
        return false;
    };
    let number = inner.len() <= 3 && inner.bytes().all(|byte| byte.is_ascii_digit());
    let letter = inner.len() == 1 && inner.bytes().all(|byte| byte.is_ascii_alphabetic());
    let roman = inner.len() <= 4 && inner.bytes().all(|byte| b"ivx".contains(&byte));
    number || letter || roman
}

/// Whether a line goes on with what is open.
fn continues(open: &Open<'_>, line: &Line, kind: &BlockKind, edges: &Edges) -> bool {
    let Some(last) = open.lines.last() else { return false };
    let (above, below) = (line_size(last), line_size(line));
    let gap = line[0].y - last[0].y;
    let spacing = edges.spacing.clamp(1.25 * below, 2.4 * below) * 1.25;
    let turned = |line: &Line| line[0].words.first().map(|word| word.turned);
    if (above - below).abs() > 0.12 * above.max(below)
        || !(0.0..=spacing).contains(&gap)
        || turned(last) != turned(line)
    {
        return false;
    }
    match (&open.kind, kind) {
        (BlockKind::Heading(open_level), BlockKind::Heading(level)) => open_level == level,
        (BlockKind::Item(_), BlockKind::Paragraph) => {
            // The text of an item stands at the right of its mark.
            line[0].x0 > open.lines[0][0].x0 + 2.0 || open.lines.len() > 1
        }
        (BlockKind::Paragraph, BlockKind::Paragraph) => {
            let ends = text(last).ends_with(['.', ':', '!', '?', '”', '"']);
            let short = last[last.len() - 1].x1 < edges.right - 0.2 * (edges.right - edges.left);
            let indented =
                line[0].x0 - last[0].x0 > 0.8 * below && line[0].x0 - edges.left < 5.0 * below;
            !(ends && (short || indented))
        }
        _ => false,
    }
}

fn close(open: Option<Open<'_>>, page: &PageText, writer: &mut Writer) {
    let Some(Open { kind, lines }) = open else { return };
    let mut inline = Inline::default();
    for line in lines {
        add(line, page, &mut inline);
    }
    let mut inline = inline.trimmed();
    match kind {
        BlockKind::Heading(level) => writer.heading(level, &inline),
        BlockKind::Paragraph => writer.paragraph(&inline),
        BlockKind::Item(marker) => {
            let mark = inline.text.find(' ').map_or(0, |at| at + 1);
            inline.cut_front(mark);
            writer.item(0, &marker, &inline);
        }
    }
}

/// Adds a line. A word that is broken at the end of the line above is joined.
fn add(line: &Line, page: &PageText, inline: &mut Inline) {
    let first = line.iter().flat_map(|s| &s.words).next().and_then(|word| word.text.chars().next());
    let mut letters = inline.text.chars().rev();
    let is_broken = letters.next() == Some('-') && letters.next().is_some_and(char::is_alphabetic);
    if is_broken && first.is_some_and(char::is_lowercase) {
        inline.text.pop();
    } else {
        inline.push(" ");
    }
    let mut open: Option<(usize, usize)> = None;
    let mut before: Option<&Word> = None;
    for word in line.iter().flat_map(|segment| &segment.words) {
        if let Some((link, start)) = open.filter(|(link, _)| word.link != Some(*link)) {
            inline.link_from(start, &page.links[link]);
            open = None;
        }
        // A word may go on after the end of a link in it.
        if before.is_some_and(|before| {
            word.x0 - before.x1 > 0.05 * word.size || before.link == word.link
        }) {
            inline.push(" ");
        }
        before = Some(word);
        if let (None, Some(link)) = (open, word.link) {
            open = Some((link, inline.text.len()));
        }
        inline.push(&word.text);
    }
    if let Some((link, start)) = open {
        inline.link_from(start, &page.links[link]);
    }
}
