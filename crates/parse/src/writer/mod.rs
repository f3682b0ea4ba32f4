//! Writes one text out of headings, paragraphs, tables and figures, and notes what stands where.
pub(crate) mod grid;
pub(crate) mod inline;
pub(crate) mod script;

use std::collections::HashMap;

use crate::parsed::{Block, BlockKind, Figure, Link, Merged, Page, Parsed, Table, TableRow};
use crate::room::{self, Room};
use grid::{CellPlace, Grid};
use inline::{Inline, moved};

/// The table of a spreadsheet, which has plain cells and many of them. A merged cell has its value
/// in its first place; rows are counted from the header on.
#[derive(Debug, Default)]
pub(crate) struct Sheet {
    pub(crate) caption: String,
    pub(crate) header_rows: usize,
    pub(crate) rows: Vec<Vec<String>>,
    pub(crate) merged: Vec<Merged>,
    pub(crate) links: HashMap<(usize, usize), String>,
}

/// Builds a [`Parsed`] block by block. The text is Markdown, save that links show their words
/// only: their targets are in [`Parsed::links`], where they do not stand in the way of reading.
pub(crate) struct Writer {
    parsed: Parsed,
    /// Pages that have begun and have no text yet.
    pending: Vec<u32>,
    page: Option<u32>,
    after_item: bool,
    room: Room,
}

impl Writer {
    pub(crate) fn new(format: &'static str) -> Self {
        let parsed = Parsed { format, ..Parsed::default() };
        Self { parsed, pending: vec![], page: None, after_item: false, room: Room::default() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.parsed.blocks.is_empty()
    }

    pub(crate) fn warn(&mut self, warning: String) {
        if !self.parsed.warnings.contains(&warning) {
            self.parsed.warnings.push(warning);
        }
    }

    /// What follows stands on this page. Pages only go forward.
    pub(crate) fn page(&mut self, number: u32) {
        if self.page.is_none_or(|page| page < number) {
            self.page = Some(number);
            self.pending.push(number);
        }
    }

    pub(crate) fn heading(&mut self, level: u8, inline: &Inline) {
        let level = level.clamp(1, 6);
        let prefix = format!("{} ", "#".repeat(usize::from(level)));
        self.block(BlockKind::Heading { level }, &prefix, &inline.on_one_line());
    }

    pub(crate) fn paragraph(&mut self, inline: &Inline) {
        self.block(BlockKind::Paragraph, "", inline);
    }

    /// `depth` counts from 0, `marker` is `-` or `3.`.
    pub(crate) fn item(&mut self, depth: usize, marker: &str, inline: &Inline) {
        if inline.is_empty() || !self.has_room(inline.text.len()) {
            return;
        }
        let tight = self.after_item;
        let start = self.begin(if tight { "\n" } else { "\n\n" });
        self.parsed.text.push_str(&"  ".repeat(depth.min(20)));
        let start = start.max(self.parsed.text.len());
        self.parsed.text.push_str(marker);
        self.parsed.text.push(' ');
        self.words(&inline.on_one_line());
        self.end(start, BlockKind::ListItem);
        self.after_item = true;
    }

    pub(crate) fn quote(&mut self, inline: &Inline) {
        self.block(BlockKind::Quote, "> ", &inline.on_one_line());
    }

    /// The lines as they are.
    pub(crate) fn code(&mut self, text: &str) {
        let text = text.trim_matches(['\n', '\r']).trim_end();
        if text.trim().is_empty() || !self.has_room(text.len()) {
            return;
        }
        let start = self.begin("\n\n");
        // Longer than any fence inside.
        let mut fence = "```".to_owned();
        while text.contains(&fence) {
            fence.push('`');
        }
        for part in [&fence, "\n", text, "\n", &fence] {
            self.parsed.text.push_str(part);
        }
        self.end(start, BlockKind::Code);
    }

    /// A picture; `name` says which one when there is no caption.
    pub(crate) fn figure(&mut self, caption: &str, name: &str, image: Option<(String, Vec<u8>)>) {
        if !self.has_room(caption.len() + name.len()) {
            return;
        }
        let start = self.begin("\n\n");
        let caption = Inline::words(caption).text;
        let shown = caption.replace(['[', ']'], "");
        let name = name.replace([' ', '(', ')'], "_");
        for part in ["![", &shown, "](", &name, ")"] {
            self.parsed.text.push_str(part);
        }
        let range = start..self.parsed.text.len();
        self.end(start, BlockKind::Figure(self.parsed.figures.len()));
        let caption = Some(caption).filter(|caption| !caption.is_empty());
        let page = self.page;
        self.parsed.figures.push(Figure { range, caption, page, image, description: None });
    }

    pub(crate) fn table(&mut self, grid: &Grid) {
        if grid.is_empty() {
            return;
        }
        let mut placed = grid.place(self.room.places());
        self.room.take_places(placed.width * placed.places.len());
        let mut fits = |row: usize, places: &[Option<CellPlace>]| {
            let (first, copies) = grid.bytes(row, places);
            self.room.take_bytes(first + copies) && self.room.take_copies(copies)
        };
        let fitting =
            placed.places.iter().enumerate().take_while(|(row, places)| fits(*row, places)).count();
        placed.rows_left_out += placed.places.len() - fitting;
        placed.places.truncate(fitting);
        if placed.rows_left_out > 0 {
            let lost = placed.rows_left_out;
            self.warn(format!("a table is too large: its last {lost} rows are left out; split it"));
        }
        placed.header_rows = placed.header_rows.min(fitting);
        let body = fitting - placed.header_rows;
        placed.merged.retain(|span| span.row + span.rows <= body);
        if fitting == 0 {
            return;
        }
        let start = self.begin("\n\n");
        if let Some(caption) = &grid.caption {
            self.parsed.text.push_str(&Inline::words(caption).text);
            self.parsed.text.push_str("\n\n");
        }
        let columns = grid.columns(&placed);
        self.header(&columns);
        let mut rows = vec![];
        for places in &placed.places[placed.header_rows..] {
            self.parsed.text.push('\n');
            let at = self.parsed.text.len();
            self.row(&grid.shown(places, placed.width));
            let cells = grid.values(places, placed.width);
            rows.push(TableRow { range: at..self.parsed.text.len(), cells });
        }
        let range = start..self.parsed.text.len();
        self.end(start, BlockKind::Table(self.parsed.tables.len()));
        let (caption, merged, page) = (grid.caption.clone(), placed.merged, self.page);
        self.parsed.tables.push(Table { range, caption, columns, rows, merged, page });
    }

    pub(crate) fn sheet(&mut self, sheet: Sheet) {
        let Sheet { caption, header_rows, mut rows, mut merged, links } = sheet;
        let spans = merged.len();
        merged.retain(|span| {
            let copies = span.rows * span.columns;
            self.room.take_copies(copies.saturating_mul(rows[span.row][span.column].len() + 1))
        });
        if merged.len() < spans {
            self.warn("its merged cells are too large: some are read as single cells".to_owned());
        }
        let start = self.begin("\n\n");
        // What stands in the text: a value that spans rows in each of them.
        for span in merged.iter().filter(|span| span.rows > 1) {
            let value = rows[span.row][span.column].clone();
            for row in &mut rows[span.row + 1..span.row + span.rows] {
                row[span.column].clone_from(&value);
            }
        }
        let mut body = rows.split_off(header_rows);
        let columns = sheet_columns(&mut rows, &merged, body.first().map_or(0, Vec::len));
        self.header(&columns);
        merged.retain(|span| span.row >= header_rows);
        for span in &mut merged {
            span.row -= header_rows;
        }
        let mut ranges = vec![];
        for (index, row) in body.iter().enumerate() {
            self.parsed.text.push('\n');
            let at = self.parsed.text.len();
            let mut cells: Vec<Inline> = row.iter().map(|text| Inline::words(text)).collect();
            for (column, cell) in cells.iter_mut().enumerate().filter(|_| !links.is_empty()) {
                if let Some(target) = links.get(&(index + header_rows, column)) {
                    cell.link_from(0, target);
                }
            }
            self.row(&cells);
            ranges.push(at..self.parsed.text.len());
        }
        for span in merged.iter().filter(|span| span.columns > 1) {
            for row in &mut body[span.row..span.row + span.rows] {
                let value = row[span.column].clone();
                row[span.column + 1..span.column + span.columns].fill(value);
            }
        }
        let range = start..self.parsed.text.len();
        self.end(start, BlockKind::Table(self.parsed.tables.len()));
        let rows = ranges.into_iter().zip(body).map(|(range, cells)| TableRow { range, cells });
        let (rows, caption) = (rows.collect(), Some(caption));
        self.parsed.tables.push(Table { range, caption, columns, rows, merged, page: None });
    }

    /// Closes the document. The title is the first heading when none is known.
    pub(crate) fn finish(mut self) -> Parsed {
        let end = self.parsed.text.len();
        self.parsed.pages.extend(self.pending.drain(..).map(|number| Page { number, start: end }));
        if !self.parsed.text.is_empty() {
            self.parsed.text.push('\n');
        }
        self.parsed
    }

    fn block(&mut self, kind: BlockKind, prefix: &str, inline: &Inline) {
        if inline.is_empty() || !self.has_room(inline.text.len()) {
            return;
        }
        let start = self.begin("\n\n");
        self.parsed.text.push_str(prefix);
        self.words(inline);
        self.end(start, kind);
    }

    /// Sets the gap before a block and tells where the block begins.
    fn begin(&mut self, gap: &str) -> usize {
        if !self.parsed.text.is_empty() {
            self.parsed.text.push_str(gap);
        }
        let start = self.parsed.text.len();
        self.parsed.pages.extend(self.pending.drain(..).map(|number| Page { number, start }));
        self.after_item = false;
        start
    }

    fn end(&mut self, start: usize, kind: BlockKind) {
        self.parsed.blocks.push(Block { range: start..self.parsed.text.len(), kind });
    }

    /// Counts the bytes of a block; one that does not fit is left out with a warning.
    fn has_room(&mut self, bytes: usize) -> bool {
        let fits = self.room.take_bytes(bytes);
        if !fits {
            let megabytes = room::MAX_TEXT / 1_000_000;
            self.warn(format!("it is longer than {megabytes} MB: the rest is left out; split it"));
        }
        fits
    }

    fn words(&mut self, inline: &Inline) {
        let by = self.parsed.text.len();
        self.parsed.text.push_str(&inline.text);
        self.parsed.links.extend(inline.links.iter().map(|link| moved(link, by)));
    }

    fn header(&mut self, columns: &[String]) {
        let name = |name: &String| Inline { text: name.clone(), ..Inline::default() };
        self.row(&columns.iter().map(name).collect::<Vec<_>>());
        self.parsed.text.push_str("\n|");
        self.parsed.text.push_str(&" --- |".repeat(columns.len()));
    }

    /// `| a | b |`; a bar inside a cell is escaped.
    fn row(&mut self, cells: &[Inline]) {
        self.parsed.text.push('|');
        for cell in cells {
            self.parsed.text.push(' ');
            let cell = cell.on_one_line();
            let bars = |upto: usize| cell.text[..upto].matches('|').count();
            let by = self.parsed.text.len();
            for link in &cell.links {
                let range = link.range.start + bars(link.range.start)
                    ..link.range.end + bars(link.range.end);
                let link = Link { range, ..link.clone() };
                self.parsed.links.push(moved(&link, by));
            }
            self.parsed.text.push_str(&cell.text.replace('|', "\\|"));
            self.parsed.text.push_str(" |");
        }
    }
}

/// One name for each column, those of several header rows joined.
fn sheet_columns(header: &mut [Vec<String>], merged: &[Merged], width: usize) -> Vec<String> {
    let rows = header.len();
    for span in merged.iter().filter(|span| span.columns > 1 && span.row < rows) {
        let value = header[span.row][span.column].clone();
        header[span.row][span.column + 1..span.column + span.columns].fill(value);
    }
    let name = |column: usize| {
        let mut parts: Vec<&str> = vec![];
        for row in header.iter() {
            let part = row[column].trim();
            if !part.is_empty() && parts.last() != Some(&part) {
                parts.push(part);
            }
        }
        Inline::words(&parts.join(" / ")).text
    };
    (0..width).map(name).collect()
}
