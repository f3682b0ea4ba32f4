//! Comma-separated values and their kin: one table, whose rows have their places in the text.
use std::ops::Range;

use crate::container::refusal;
use crate::parsed::{Block, BlockKind, Parsed, Refusal, Table, TableRow};
use crate::room::may_fill;
use crate::writer::grid::is_number;

/// The delimiter that cuts the first lines into the most columns evenly.
pub(crate) fn sniff(text: &str) -> u8 {
    let columns = |delimiter: u8| {
        let mut reader = reader(text, delimiter);
        let widths = reader.records().take(20).filter_map(Result::ok).map(|record| record.len());
        let widths: Vec<usize> = widths.collect();
        let first = widths.first().copied().unwrap_or(0);
        let even = widths.iter().filter(|width| **width == first).count();
        // A delimiter that occurs in no line cuts every line evenly into one.
        if first > 1 { (even * 100 / widths.len(), first) } else { (0, 0) }
    };
    // Of equals the last named wins.
    let delimiters = [b'|', b'\t', b';', b','];
    let best = delimiters.into_iter().max_by_key(|delimiter| columns(*delimiter)).unwrap_or(b',');
    if columns(best).0 == 100 {
        return best;
    }
    // The first line is not like the others: it may be a title above the table.
    let cuts = |delimiter: &u8| titles(text, *delimiter).is_some();
    delimiters.into_iter().find(cuts).unwrap_or(best)
}

/// Lines of titles above a table, and those that are looked at to find its header.
const MAX_TITLES: usize = 10;
const LOOKED_AT: usize = 30;

/// Where the header begins, if lines with a single value stand above it: a title, a date. The header
/// has at least three names, none a number, and most lines below are as wide.
fn titles(text: &str, delimiter: u8) -> Option<u64> {
    let mut reader = reader(text, delimiter);
    let mut record = csv::StringRecord::new();
    let mut records = vec![];
    while records.len() < LOOKED_AT {
        let start = reader.position().byte();
        if !reader.read_record(&mut record).unwrap_or(false) {
            break;
        }
        let cells: Vec<String> = record.iter().map(|cell| cell.trim().to_owned()).collect();
        if cells.iter().any(|cell| !cell.is_empty()) {
            records.push((start, cells));
        }
    }
    let is_title = |cells: &[String]| match cells {
        [_] => true,
        [title, rest @ ..] => {
            !title.is_empty() && rest.len() > 1 && rest.iter().all(String::is_empty)
        }
        [] => false,
    };
    let count = records.iter().take_while(|(_, cells)| is_title(cells)).count();
    let (start, header) = records.get(count)?;
    let below = &records[count + 1..];
    let is_name = |cell: &String| !cell.is_empty() && !is_number(cell);
    let is_header = header.len() > 2 && header.iter().all(is_name);
    let as_wide = below.iter().filter(|(_, cells)| cells.len() == header.len()).count();
    let is_above = (1..=MAX_TITLES).contains(&count) && is_header;
    (is_above && as_wide > 0 && as_wide * 2 > below.len()).then_some(*start)
}

fn reader(text: &str, delimiter: u8) -> csv::Reader<&[u8]> {
    csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .from_reader(text.as_bytes())
}

/// The first line with a value is the header, or the first one below titles; rows without any value
/// are left out.
pub(crate) fn read(text: String, delimiter: u8) -> Result<Parsed, Refusal> {
    let mut reader = reader(&text, delimiter);
    let mut record = csv::StringRecord::new();
    let mut table = Table::default();
    let mut header = false;
    let below = titles(&text, delimiter).unwrap_or(0);
    let mut blocks: Vec<Block> = vec![];
    loop {
        let start = reader.position().byte();
        // A string holds nothing that could be unreadable: an error here is the end.
        if !reader.read_record(&mut record).unwrap_or(false) {
            break;
        }
        let cells: Vec<String> = record.iter().map(|cell| cell.trim().to_owned()).collect();
        if cells.iter().all(String::is_empty) {
            continue;
        }
        let range = trimmed(&text, start, reader.position().byte());
        if start < below {
            let range = after(&blocks, &text)..text[..range.end].trim_end().len();
            blocks.push(Block { range, kind: BlockKind::Paragraph });
            table.caption = table.caption.or_else(|| cells.into_iter().next());
        } else if header {
            table.rows.push(TableRow { range, cells });
        } else {
            table.columns = cells;
            header = true;
        }
    }
    even(&mut table)?;
    table.range = after(&blocks, &text)..text.trim_end().len();
    let mut parsed = Parsed { format: "csv", blocks, ..Parsed::default() };
    if !table.range.is_empty() {
        parsed.blocks.push(Block { range: table.range.clone(), kind: BlockKind::Table(0) });
        clamp(&mut table);
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

/// White space around the whole belongs to no row.
fn clamp(table: &mut Table) {
    for row in &mut table.rows {
        row.range.start = row.range.start.clamp(table.range.start, table.range.end);
        row.range.end = row.range.end.clamp(row.range.start, table.range.end);
    }
}

/// The first byte after these blocks that is not white space. Lines of delimiters alone belong to what
/// follows them.
fn after(blocks: &[Block], text: &str) -> usize {
    let end = blocks.last().map_or(0, |block| block.range.end);
    text.len() - text[end..].trim_start().len()
}

/// The bytes without the line ends around them.
fn trimmed(text: &str, start: u64, end: u64) -> Range<usize> {
    let start = usize::try_from(start).unwrap_or(usize::MAX).min(text.len());
    let end = usize::try_from(end).unwrap_or(usize::MAX).clamp(start, text.len());
    let row = &text[start..end];
    let start = start + (row.len() - row.trim_start_matches(['\r', '\n']).len());
    start..start + text[start..end].trim_end_matches(['\r', '\n']).len()
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
