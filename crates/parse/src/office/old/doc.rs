//! Word documents of 1997 to 2003 (MS-DOC): the text in pieces, and lists of formatting for runs of
//! its characters and for its paragraphs, both by their place in the stream.
use encoding_rs::{UTF_16LE, WINDOWS_1252};

use super::{RESAVE, SIGNS, damaged, number, short};
use crate::container::{Compound, locked, refusal, stream};
use crate::office::run_text::RunText;
use crate::office::symbols::{self, SymbolFont};
use crate::office::table::{CellKind, TableBuilder, TableCell};
use crate::parsed::{Parsed, Refusal};
use crate::writer::Writer;
use crate::writer::inline::Inline;
use crate::writer::script::Script;

/// The first bytes of every document.
const MARK: u16 = 0xa5ec;
// Places in the header of the document (FIB).
const VERSION: usize = 0x02;
const FLAGS: usize = 0x0a;
/// Characters of the document, its footnotes, headers, macros, comments, endnotes and text boxes.
const COUNTS: usize = 0x4c;
const CHARACTER_PAGES: usize = 0xfa;
const PARAGRAPH_PAGES: usize = 0x102;
const FONTS: usize = 0x112;
const PIECES: usize = 0x1a2;

/// Bytes of a page of formatting.
const PAGE: usize = 512;
/// Borders of cells that are less apart (in twentieths of a point) are the same.
const SAME_BORDER: i32 = 40;
/// Fields inside fields.
const DEEPEST: usize = 100;

pub(super) fn read(file: &mut Compound<'_>) -> Result<Parsed, Refusal> {
    let main = stream(file, "/WordDocument").unwrap_or_default();
    let flags = short(&main, FLAGS).unwrap_or(0);
    if short(&main, 0) != Some(MARK) {
        return Err(damaged("Word document"));
    }
    if short(&main, VERSION).is_none_or(|version| version < 0xc0) {
        return Err(refusal("it is a Word document from before 1997", "save it as .docx"));
    }
    if flags & 0x0100 != 0 {
        return Err(locked());
    }
    let table = if flags & 0x0200 == 0 { "/0Table" } else { "/1Table" };
    let table = stream(file, table).unwrap_or_default();
    let data = stream(file, "/Data").unwrap_or_default();
    let part = |at| {
        let (start, length) = (number(&main, at)?, number(&main, at + 4)?);
        table.get(start..start.checked_add(length)?)
    };
    let formats = |at, width| Formats { main: &main, pages: part(at).unwrap_or_default(), width };
    let mut reader = DocReader {
        characters: formats(CHARACTER_PAGES, 1),
        paragraphs: formats(PARAGRAPH_PAGES, 13),
        main: &main,
        data: &data,
        fonts: part(FONTS).map(fonts).unwrap_or_default(),
        writer: Writer::new("doc"),
        line: RunText::default(),
        fields: vec![],
        cell: Inline::default(),
        row: vec![],
        rows: vec![],
    };
    let pieces = part(PIECES).and_then(|list| reader.pieces(list));
    pieces.ok_or_else(|| damaged("Word document"))?;
    reader.paragraph(Paragraph::default(), '\r');
    Ok(reader.writer.finish())
}

/// For each font its signs, if it is one of signs.
fn fonts(mut list: &[u8]) -> Vec<Option<SymbolFont>> {
    list = list.get(4..).unwrap_or_default();
    let font = std::iter::from_fn(|| {
        let (length, rest) = list.split_first()?;
        let (font, rest) = rest.split_at_checked(usize::from(*length))?;
        list = rest;
        let name = UTF_16LE.decode_without_bom_handling(font.get(39..).unwrap_or_default()).0;
        Some(symbols::find(name.split('\0').next().unwrap_or_default()))
    });
    font.collect()
}

/// The formatting of all characters, or of all paragraphs: pages of the stream.
struct Formats<'a> {
    main: &'a [u8],
    pages: &'a [u8],
    /// Bytes for each run in a page.
    width: usize,
}

impl<'a> Formats<'a> {
    /// Where the run at a place ends, and how it is formatted.
    fn at(&self, place: usize) -> Option<(usize, &'a [u8])> {
        let pages = self.pages.len().saturating_sub(4) / 8;
        let index = last_before(self.pages.get(..pages * 4)?, place)?;
        let page = (number(self.pages, (pages + 1 + index) * 4)? & 0x3f_ffff) * PAGE;
        let page = self.main.get(page..page + PAGE)?;
        let runs = usize::from(page[PAGE - 1]);
        let index = last_before(page.get(..runs * 4)?, place)?;
        let end = number(page, (index + 1) * 4)?;
        let mut at = usize::from(*page.get((runs + 1) * 4 + index * self.width)?) * 2;
        let mut length = usize::from(page[at]);
        if self.width > 1 {
            // In words; a length of 0 has another one after it.
            length = (length * 2).wrapping_sub(1);
            if page[at] == 0 {
                at += 1;
                length = usize::from(*page.get(at)?) * 2;
            }
        }
        let list = if at == 0 { None } else { page.get(at + 1..at + 1 + length) };
        Some((end, list.unwrap_or_default()))
    }
}

/// The place of the last of sorted numbers that is not larger.
fn last_before(sorted: &[u8], number: usize) -> Option<usize> {
    let (numbers, _) = sorted.as_chunks();
    numbers.partition_point(|bytes| u32::from_le_bytes(*bytes) as usize <= number).checked_sub(1)
}

/// The changes that a list makes (`sprm`): what is changed, and its new value.
fn changes(mut list: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let kind = short(list, 0)?;
        let (start, length) = match kind >> 13 {
            0 | 1 => (2, 1),
            3 => (2, 4),
            6 if kind == 0xd608 => (4, usize::from(short(list, 2)?.checked_sub(1)?)),
            6 => (3, usize::from(*list.get(2)?)),
            7 => (2, 3),
            _ => (2, 2),
        };
        let value = list.get(start..start + length)?;
        list = &list[start + length..];
        Some((kind, value))
    })
}

/// How a run of characters is formatted.
#[derive(Default, Clone, Copy)]
struct Run {
    script: Option<Script>,
    font: Option<SymbolFont>,
    symbol: Option<char>,
    /// What it is if it is not read.
    left_out: Option<&'static str>,
}

#[derive(Default)]
struct Paragraph {
    heading: Option<u8>,
    list_level: Option<usize>,
    in_table: bool,
    ends_row: bool,
    row: Row,
}

/// A row of a table, with the borders between its cells.
#[derive(Default)]
struct Row {
    is_header: bool,
    cells: Vec<Inline>,
    borders: Vec<i32>,
    /// Whether each cell continues the one above.
    continued: Vec<bool>,
}

#[derive(Default)]
struct Field {
    instruction: String,
    /// Where the result begins in its line.
    start: Option<usize>,
}

struct DocReader<'a> {
    main: &'a [u8],
    data: &'a [u8],
    characters: Formats<'a>,
    paragraphs: Formats<'a>,
    fonts: Vec<Option<SymbolFont>>,
    writer: Writer,
    line: RunText,
    fields: Vec<Field>,
    cell: Inline,
    row: Vec<Inline>,
    rows: Vec<Row>,
}

impl DocReader<'_> {
    /// Reads the document with its footnotes, then its endnotes and text boxes.
    fn pieces(&mut self, list: &[u8]) -> Option<()> {
        let count = |index: usize| number(self.main, COUNTS + index * 4);
        let notes = count(0)?.checked_add(count(1)?)?;
        let others = count(2)? + count(3)? + count(4)? + notes;
        let parts = [0..notes, others..others + count(5)? + count(6)?];
        let mut at = 0;
        while list.get(at) == Some(&1) {
            at += 3 + usize::from(short(list, at + 1)?);
        }
        let length = number(list, at + 1)?;
        let list = list.get(at + 5..)?;
        let list = &list[..length.min(list.len())];
        let pieces = list.len().checked_sub(4)? / 12;
        // No character is in the file twice.
        let mut room = self.main.len();
        for (part, index) in parts.iter().flat_map(|part| (0..pieces).map(move |at| (part, at))) {
            let (from, to) = (number(list, index * 4)?, number(list, index * 4 + 4)?);
            let place = number(list, (pieces + 1) * 4 + index * 8 + 2)?;
            let width = if place & 0x4000_0000 == 0 { 2 } else { 1 };
            let place = (place & 0x3fff_ffff) * width / 2;
            let (start, end) = (part.start.max(from), part.end.min(to));
            if start < end && end - start <= room {
                room -= end - start;
                self.piece(place + (start - from) * width, (end - start) * width, width);
            }
        }
        Some(())
    }

    fn piece(&mut self, mut at: usize, length: usize, width: usize) {
        let end = at.saturating_add(length).min(self.main.len());
        let encoding = if width == 2 { UTF_16LE } else { WINDOWS_1252 };
        while at < end {
            let (run_end, list) = self.characters.at(at).unwrap_or((end, &[]));
            let run_end = run_end.max(at + width).min(end);
            let run = self.run(list);
            let text = encoding.decode_without_bom_handling(&self.main[at..run_end]).0;
            for c in text.chars() {
                self.character(c, run, at);
                at += if width == 2 { c.len_utf16() * 2 } else { 1 };
            }
            at = run_end;
        }
    }

    fn run(&self, list: &[u8]) -> Run {
        let mut run = Run::default();
        let font = |low, high| {
            self.fonts.get(usize::from(u16::from_le_bytes([low, high]))).copied().flatten()
        };
        for change in changes(list) {
            match change {
                (0x0800, [1]) => run.left_out = Some("deleted text"),
                (0x083c, [1 | 0x81]) => run.left_out = Some("hidden text"),
                (0x2a48, [1]) => run.script = Some(Script::Super),
                (0x2a48, [2]) => run.script = Some(Script::Sub),
                (0x4a4f, [low, high]) => run.font = font(*low, *high),
                (0x6a09, [low, high, code @ ..]) => {
                    run.font = font(*low, *high);
                    run.symbol = short(code, 0).and_then(|code| char::from_u32(code.into()));
                }
                _ => {}
            }
        }
        run
    }

    fn character(&mut self, c: char, run: Run, place: usize) {
        match c {
            '\x13' if self.fields.len() < DEEPEST => {
                self.fields.push(Field::default());
            }
            '\x14' => {
                if let Some(field) = self.fields.last_mut() {
                    field.start = Some(self.line.inline().text.len());
                }
            }
            '\x15' => self.end_field(),
            _ if run.left_out.is_some() => {
                if let Some(what) = run.left_out.filter(|_| c.is_alphanumeric()) {
                    let hint = "make it ordinary text in Word to have it read";
                    self.writer.warn(format!("{what} is left out; {hint}"));
                }
            }
            '\r' | '\x07' | '\x0c' => {
                let paragraph = self.format(place, c);
                self.paragraph(paragraph, c);
            }
            _ if self.fields.iter().any(|field| field.start.is_none()) => {
                self.fields.iter_mut().for_each(|field| field.instruction.push(c));
            }
            '\x0b' => self.line.inline().break_line(),
            '\x01' | '\x08' => {
                self.writer.warn(format!("pictures and objects are left out; {RESAVE}"));
            }
            '(' if run.symbol.is_some() => self.sign(run.symbol.unwrap_or(c), run),
            '\x1e' => self.line.push("-", run.script),
            c => self.sign(c, run),
        }
    }

    /// Adds a character as its font shows it.
    fn sign(&mut self, c: char, run: Run) {
        let sign = match run.font {
            Some(font) => font.unicode(c),
            None => Some(c).filter(|c| !symbols::is_private(*c)),
        };
        if sign.is_none() {
            self.writer.warn(SIGNS.to_owned());
        }
        let sign = sign.unwrap_or(char::REPLACEMENT_CHARACTER);
        self.line.push(sign.encode_utf8(&mut [0; 4]), run.script);
    }

    fn end_field(&mut self) {
        let Some(Field { instruction, start: Some(start), .. }) = self.fields.pop() else { return };
        if instruction.trim_start().starts_with("HYPERLINK") {
            let anchor = if instruction.contains("\\l") { "#" } else { "" };
            let target = instruction.split('"').nth(1).unwrap_or_default();
            self.line.inline().link_from(start, &format!("{anchor}{target}"));
        }
    }

    /// How the paragraph is formatted whose mark is at a place.
    fn format(&self, place: usize, mark: char) -> Paragraph {
        let mut paragraph = Paragraph { in_table: mark == '\x07', ..Paragraph::default() };
        let Some((_, list)) = self.paragraphs.at(place) else { return paragraph };
        let style = short(list, 0).and_then(|style| u8::try_from(style).ok());
        paragraph.heading = style.filter(|style| (1..=9).contains(style));
        let mut level = 0;
        let mut list = list.get(2..).unwrap_or_default();
        // A list that is too long for its page is elsewhere.
        if let Some((0x6645 | 0x6646, at)) = changes(list).next() {
            let list_at = |at: usize| self.data.get(at + 2..)?.get(..short(self.data, at)?.into());
            list = number(at, 0).and_then(list_at).unwrap_or_default();
        }
        for change in changes(list) {
            match change {
                (0x2416, [value]) => paragraph.in_table |= *value == 1,
                (0x2417, [value]) => paragraph.ends_row = *value == 1,
                (0x260a, [value]) => level = usize::from(*value),
                (0x2640, [value @ ..=8]) => paragraph.heading = Some(value + 1),
                (0x3404, [value]) => paragraph.row.is_header = *value == 1,
                (0x460b, list) => {
                    let is_item = short(list, 0).is_some_and(|list| (1..0x7ff).contains(&list));
                    paragraph.list_level = is_item.then_some(level);
                }
                (0xd608, [cells, borders @ ..]) => paragraph.row.define(*cells, borders),
                _ => {}
            }
        }
        paragraph
    }

    fn paragraph(&mut self, paragraph: Paragraph, mark: char) {
        let Paragraph { heading, list_level, in_table, ends_row, mut row } = paragraph;
        let words = std::mem::take(&mut self.line).finish();
        // A field without an end must not hide the rest.
        self.fields.retain(|field| field.start.is_some());
        self.fields.iter_mut().for_each(|field| field.start = Some(0));
        if ends_row {
            row.cells = std::mem::take(&mut self.row);
            // Many short rows may share a long list of borders.
            if row.borders.len() != row.cells.len() + 1 {
                row = Row { cells: row.cells, ..Row::default() };
            }
            self.rows.push(row);
        } else if in_table {
            self.cell.append(&words);
            if mark == '\x07' {
                self.row.push(std::mem::take(&mut self.cell).trimmed());
            }
        } else {
            self.end_table();
            match (heading, list_level) {
                (Some(level), _) => self.writer.heading(level, &words),
                (None, Some(level)) => self.writer.item(level, "-", &words),
                (None, None) => self.writer.paragraph(&words),
            }
            if list_level.is_some() {
                self.writer.warn(format!("numbers of lists are left out; {RESAVE}"));
            }
        }
    }

    fn end_table(&mut self) {
        self.row.extend(Some(std::mem::take(&mut self.cell)).filter(|cell| !cell.is_empty()));
        if !self.row.is_empty() {
            self.rows.push(Row { cells: std::mem::take(&mut self.row), ..Row::default() });
        }
        let mut borders: Vec<i32> =
            self.rows.iter().flat_map(|row| &row.borders).copied().collect();
        borders.sort_unstable();
        borders.dedup_by(|next, border| *next - *border < SAME_BORDER);
        let mut table = TableBuilder::default();
        for row in self.rows.drain(..) {
            row.write(&borders, &mut table);
        }
        table.write(&mut self.writer);
    }
}

impl Row {
    /// Takes over the borders of the cells, and what the cells continue.
    fn define(&mut self, cells: u8, list: &[u8]) {
        let (borders, cells) = list.split_at((usize::from(cells) * 2 + 2).min(list.len()));
        let border = |bytes: &[u8; 2]| i16::from_le_bytes(*bytes).into();
        self.borders = borders.as_chunks().0.iter().map(border).collect();
        self.continued = cells.chunks(20).map(|cell| cell[0] & 0x60 == 0x20).collect();
    }

    fn write(self, borders: &[i32], table: &mut TableBuilder) {
        let column = |border: i32| borders.partition_point(|other| *other <= border);
        table.row(self.is_header);
        let cell = |kind, columns, content| TableCell { kind, rows: 1, columns, content };
        let before = self.borders.first().map_or(0, |border| column(*border) - 1);
        if before > 0 {
            table.cell(cell(CellKind::Anchor, before, Inline::default()));
        }
        for (index, content) in self.cells.into_iter().enumerate() {
            let sides = self.borders.get(index..index + 2);
            let columns =
                sides.map_or(1, |sides| column(sides[1]).saturating_sub(column(sides[0])));
            let continues = self.continued.get(index) == Some(&true);
            let kind = if continues { CellKind::Continued } else { CellKind::Anchor };
            table.cell(cell(kind, columns.max(1), content));
        }
    }
}
