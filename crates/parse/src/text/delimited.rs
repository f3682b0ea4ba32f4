//! Comma-separated values and their kin: one table, whose rows have their places in the text.
use std::ops::Range;

use crate::container::refusal;
use crate::parsed::{Block, BlockKind, Parsed, Refusal, Table, TableRow};
use crate::room::{MAX_COLUMNS, may_fill};
use crate::writer::grid::{MAX_NAME, is_number};

const DELIMITERS: [char; 4] = [',', '|', ';', '\t'];

/// The delimiter that the file names, or the one that cuts the first lines most evenly.
pub(crate) fn sniff(text: &str) -> u8 {
    if let Some((delimiter, _)) = declared(text) {
        return delimiter;
    }
    let text = beginning(text);
    let widths = |delimiter: char| -> Vec<usize> {
        // Values of a wrong delimiter begin or end within quotes.
        let is_whole = |cell: &String| cell.matches('"').count().is_multiple_of(2);
        let records = Records::new(text, delimiter).filter(|(_, cells)| !is_blank(cells));
        let width = |cells: &[String]| if cells.iter().all(is_whole) { cells.len() } else { 0 };
        records.take(LOOKED_AT).map(|(_, cells)| width(&cells)).collect()
    };
    let evenness = |delimiter: &char| {
        let widths = widths(*delimiter);
        let first = widths.first().copied().unwrap_or(0);
        let even = widths.iter().filter(|width| **width == first).count();
        // A delimiter that occurs in no line cuts every line evenly into one.
        if first > 1 { even * 100 / widths.len() } else { 0 }
    };
    // Of equals the last one wins: commas stand in any text.
    let best = DELIMITERS.into_iter().max_by_key(evenness).unwrap_or(',');
    let share = evenness(&best);
    // A first line that is not like the others may be a title above the table.
    let cuts = |delimiter: &char| share < 100 && titles(text, *delimiter).is_some();
    let above = DELIMITERS.into_iter().rev().find(cuts);
    // Below a single name, commas in a few lines belong to the text.
    let lines = widths(',');
    let commas = lines.iter().filter(|width| **width > 1).count();
    let single = if (1..=lines.len() / 2).contains(&commas) { '\t' } else { ',' };
    let delimiter = above.unwrap_or(if share == 0 { single } else { best });
    u8::try_from(delimiter).unwrap_or(b',')
}

/// The lines that are looked at, of which none may be of any length.
fn beginning(text: &str) -> &str {
    let head = &text[..text.floor_char_boundary(MAX_BEGINNING)];
    let whole = if head.len() < text.len() { head.rfind('\n') } else { None };
    whole.map_or(head, |end| &head[..end])
}

/// The delimiter that a first line such as `sep=;` names, and where the next line begins.
fn declared(text: &str) -> Option<(u8, usize)> {
    let line = text.lines().next()?.trim_start_matches(['\u{feff}', '"']);
    let (name, rest) = line.split_at_checked(4)?;
    let is_mark = |byte: &u8| byte.is_ascii() && *byte != b'"' && !byte.is_ascii_alphanumeric();
    let delimiter = rest.bytes().next().filter(is_mark)?;
    let alone = name.eq_ignore_ascii_case("sep=")
        && rest[1..].chars().all(|c| c == '"' || c == ' ' || DELIMITERS.contains(&c));
    alone.then_some((delimiter, text.find('\n').map_or(text.len(), |at| at + 1)))
}

/// Lines of titles above a table, and those that are looked at to find its header.
const MAX_TITLES: usize = 10;
const LOOKED_AT: usize = 30;
const MAX_BEGINNING: usize = 200_000;

/// Where the header begins, if lines with a single value stand above it: a title, a date. The header
/// has at least three names, none a number, and most lines below are as wide.
fn titles(text: &str, delimiter: char) -> Option<usize> {
    let records = Records::new(text, delimiter).filter(|(_, cells)| !is_blank(cells));
    let records: Vec<_> = records.take(LOOKED_AT).collect();
    let is_title = |cells: &[String]| match cells {
        [_] => true,
        [title, rest @ ..] => !title.is_empty() && rest.len() > 1 && is_blank(rest),
        [] => false,
    };
    let count = records.iter().take_while(|(_, cells)| is_title(cells)).count();
    let (range, header) = records.get(count)?;
    let below = &records[count + 1..];
    let is_name = |cell: &String| !cell.is_empty() && !is_number(cell);
    let is_header = header.len() > 2 && header.iter().all(is_name);
    let as_wide = below.iter().filter(|(_, cells)| cells.len() == header.len()).count();
    let is_above = (1..=MAX_TITLES).contains(&count) && is_header;
    (is_above && as_wide > 0 && as_wide * 2 > below.len()).then_some(range.start)
}

fn is_blank(cells: &[String]) -> bool {
    cells.iter().all(String::is_empty)
}

/// The records of a text, each with its place and its values; an empty line is one of them.
struct Records<'a> {
    text: &'a str,
    at: usize,
    delimiter: char,
    /// Values of the record before.
    width: usize,
    /// Where quotes stand that are characters of their rows.
    stray: Vec<usize>,
}

impl Iterator for Records<'_> {
    type Item = (Range<usize>, Vec<String>);

    fn next(&mut self) -> Option<Self::Item> {
        let start = self.at;
        if start == self.text.len() {
            return None;
        }
        let mut cells = Vec::with_capacity(self.width);
        cells.push(self.value());
        while self.text.as_bytes().get(self.at).is_some_and(|byte| self.delimits(*byte)) {
            self.at += 1;
            cells.push(self.value());
        }
        let range = start..start + self.text[start..self.at].trim_end().len();
        let rest = &self.text[self.at..];
        self.at += if rest.starts_with("\r\n") { 2 } else { rest.len().min(1) };
        self.width = cells.len();
        Some((range, cells))
    }
}

impl<'a> Records<'a> {
    fn new(text: &'a str, delimiter: char) -> Self {
        let at = declared(text).map_or(0, |(_, start)| start);
        Self { text, at, delimiter, width: 0, stray: vec![] }
    }

    /// Delimiters are ASCII.
    fn delimits(&self, byte: u8) -> bool {
        char::from(byte) == self.delimiter
    }

    /// The value that begins here.
    fn value(&mut self) -> String {
        let text = self.text;
        let begin = text.len() - text[self.at..].trim_start_matches(' ').len();
        let (mut quoted, mut from) = (None, self.at);
        if text[begin..].starts_with('"') {
            if let Some(end) = self.closing(begin + 1) {
                (quoted, from) = (Some(&text[begin + 1..end]), end + 1);
            } else {
                self.stray.push(begin);
            }
        }
        let ends = |byte: u8| byte == b'\n' || byte == b'\r' || self.delimits(byte);
        let length = text.as_bytes()[from..].iter().position(|byte| ends(*byte));
        self.at = length.map_or(text.len(), |length| from + length);
        let rest = &text[from..self.at];
        match quoted {
            Some(quoted) if rest.is_empty() && !quoted.contains('"') => quoted.trim().to_owned(),
            Some(quoted) => (quoted.replace("\"\"", "\"") + rest).trim().to_owned(),
            None => rest.trim().to_owned(),
        }
    }

    /// Where the quoted value that begins here ends; `None` where it never does, or where its lines
    /// are rows that it would swallow.
    fn closing(&self, begin: usize) -> Option<usize> {
        let mut end = begin + self.text[begin..].find('"')?;
        while self.text[end + 1..].starts_with('"') {
            end += 2 + self.text[end + 2..].find('"')?;
        }
        let value = &self.text[begin..end];
        if !value.contains('\n') {
            return Some(end);
        }
        let rest = self.text[end + 1..].trim_start_matches(' ');
        let ends = rest.is_empty() || rest.starts_with([self.delimiter, '\n', '\r']);
        let delimiters = self.width.saturating_sub(1);
        let lines = value.lines().skip(1);
        let rows = lines.clone().filter(|line| line.matches(self.delimiter).count() == delimiters);
        // A line of prose has a comma, several lines that each have as many as a row are rows.
        let (rows, lines) = (rows.count(), lines.count());
        let swallows = rows * 2 > lines && rows * delimiters >= SWALLOWED;
        (ends && !swallows).then_some(end)
    }
}

/// Delimiters in the lines of a quoted value that make them rows.
const SWALLOWED: usize = 6;

/// The first line with a value is the header, or the first one below titles; rows without any value
/// are left out.
pub(crate) fn read(text: String, delimiter: u8) -> Result<Parsed, Refusal> {
    let delimiter = char::from(declared(&text).map_or(delimiter, |(delimiter, _)| delimiter));
    let below = titles(beginning(&text), delimiter).unwrap_or(0);
    let mut records = Records::new(&text, delimiter);
    let mut table = Table::default();
    let mut header = false;
    let mut parsed = Parsed { format: "csv", ..Parsed::default() };
    for (range, cells) in records.by_ref() {
        if cells.len() > MAX_COLUMNS {
            let columns = cells.len();
            let reason = format!("it has {columns} columns; at most {MAX_COLUMNS} are read");
            return Err(refusal(&reason, "split it, or correct the line that is so long"));
        }
        if is_blank(&cells) {
            continue;
        }
        if range.start < below {
            let range = after(&parsed.blocks, &text)..text[..range.end].trim_end().len();
            parsed.blocks.push(Block { range, kind: BlockKind::Paragraph });
            table.caption = table.caption.or_else(|| cells.into_iter().next());
        } else if header {
            table.rows.push(TableRow { range, cells });
        } else {
            table.columns = cells;
            header = true;
        }
    }
    if let [first, more @ ..] = &records.stray[..] {
        let (line, more) = (text[..*first].matches('\n').count() + 1, more.len());
        parsed.warnings.push(format!(
            "line {line}: a quote that begins a value does not end and is read as a character, as \
             are {more} others; close it, or write it twice inside quotes"
        ));
    }
    even(&mut table)?;
    // Each row repeats the names; in full they stand in the text.
    for name in &mut table.columns {
        name.truncate(name.floor_char_boundary(MAX_NAME));
    }
    table.range = after(&parsed.blocks, &text)..text.trim_end().len();
    if !table.range.is_empty() {
        parsed.blocks.push(Block { range: table.range.clone(), kind: BlockKind::Table(0) });
        parsed.tables.push(table);
    }
    parsed.text = text;
    Ok(parsed)
}

/// Gives every row as many cells as there are columns; columns beyond the header have no name.
fn even(table: &mut Table) -> Result<(), Refusal> {
    let widest = table.rows.iter().map(|row| row.cells.len()).max().unwrap_or(0);
    let width = widest.max(table.columns.len());
    let values: usize = table.rows.iter().map(|row| row.cells.len()).sum();
    if !may_fill(table.rows.len(), width, values) {
        let rows = table.rows.len();
        let reason = format!("it has {rows} rows, and one line of it has {width} values");
        return Err(refusal(&reason, "give every line as many values as the header has"));
    }
    table.columns.resize(width, String::new());
    for row in &mut table.rows {
        row.cells.resize(width, String::new());
    }
    Ok(())
}

/// The first byte after these blocks that is not white space. Lines of delimiters alone belong to what
/// follows them.
fn after(blocks: &[Block], text: &str) -> usize {
    let end = blocks.last().map_or(0, |block| block.range.end);
    text.len() - text[end..].trim_start().len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::check;

    #[test]
    fn a_row_has_its_cells_and_its_place() {
        let text = "Name;Maker;Year\r\nZarxio;\"Sandoz; Inc\";2015\r\n\r\nAmjevita;;2016;extra\r\n";
        assert_eq!(sniff(text), b';');
        let parsed = read(text.to_owned(), b';').unwrap();
        check(&parsed);
        let table = &parsed.tables[0];
        assert_eq!(table.columns, ["Name", "Maker", "Year", ""]);
        assert_eq!(table.rows[0].cells, ["Zarxio", "Sandoz; Inc", "2015", ""]);
        assert_eq!(&text[table.rows[0].range.clone()], "Zarxio;\"Sandoz; Inc\";2015");
        assert_eq!(&text[table.rows[1].range.clone()], "Amjevita;;2016;extra");
        assert_eq!(table.rows.len(), 2);
    }

    #[test]
    fn the_delimiter_is_found() {
        assert_eq!(sniff("a,b,c\n1,2,3\n"), b',');
        assert_eq!(sniff("a\tb\n1, 2\t3\n"), b'\t');
        assert_eq!(sniff("a|b|c\n1,5|2,5|3\n"), b'|');
        assert_eq!(sniff("only one column\nvalue\n"), b',');
    }

    #[test]
    fn a_value_may_hold_line_ends() {
        let text = "a,b\n\"one\ntwo\",3\n";
        let parsed = read(text.to_owned(), b',').unwrap();
        assert_eq!(parsed.tables[0].rows.len(), 1);
        assert_eq!(&text[parsed.tables[0].rows[0].range.clone()], "\"one\ntwo\",3");
        check(&parsed);
    }

    #[test]
    fn titles_above_the_table_are_not_its_header() {
        let text =
            "Sales 2023,,\n,,\nRegion,Product,Revenue\nNorth,Widget,1200\nSouth,Gadget,3400\n";
        let parsed = read(text.to_owned(), sniff(text)).unwrap();
        check(&parsed);
        let table = &parsed.tables[0];
        assert_eq!(table.caption.as_deref(), Some("Sales 2023"));
        assert_eq!(table.columns, ["Region", "Product", "Revenue"]);
        assert_eq!(table.rows.len(), 2);
        let [title, _] = &parsed.blocks[..] else { panic!("{:?}", parsed.blocks) };
        assert_eq!(&text[title.range.clone()], "Sales 2023,,");

        let text =
            "Sales, all regions\nof 2024-01-05\n\nRegion;Product;Revenue\nNorth;Widget;1,5\n";
        assert_eq!(sniff(text), b';');
        let parsed = read(text.to_owned(), b';').unwrap();
        check(&parsed);
        assert_eq!(parsed.tables[0].columns, ["Region", "Product", "Revenue"]);
        assert_eq!(parsed.tables[0].rows.len(), 1);
    }

    #[test]
    fn a_header_with_names_missing_is_a_header() {
        for text in ["Region,,\nNorth,1,2\nSouth,3,4\n", "Note\na, b\nc, d\n", "A,,\nB,,\n"] {
            let parsed = read(text.to_owned(), b',').unwrap();
            check(&parsed);
            assert!(["Region", "Note", "A"].contains(&parsed.tables[0].columns[0].as_str()));
        }
    }

    #[test]
    fn empty_lines_are_no_rows() {
        let parsed = read("\n\n a,b\n,\n1,2\n".to_owned(), b',').unwrap();
        check(&parsed);
        assert_eq!(parsed.tables[0].rows.len(), 1);
    }
}
