//! Comma-separated values and their kin: one table, whose rows have their places in the text.
use std::ops::Range;

use crate::container::refusal;
use crate::parsed::{Block, BlockKind, Parsed, Refusal, Table, TableRow};
use crate::room::may_fill;

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
    [b'|', b'\t', b';', b',']
        .into_iter()
        .max_by_key(|delimiter| columns(*delimiter))
        .unwrap_or(b',')
}

fn reader(text: &str, delimiter: u8) -> csv::Reader<&[u8]> {
    csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .from_reader(text.as_bytes())
}

/// The first line with a value is the header; rows without any value are left out.
pub(crate) fn read(text: String, delimiter: u8) -> Result<Parsed, Refusal> {
    let mut reader = reader(&text, delimiter);
    let mut record = csv::StringRecord::new();
    let mut table = Table::default();
    let mut header = false;
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
        if header {
            let range = trimmed(&text, start, reader.position().byte());
            table.rows.push(TableRow { range, cells });
        } else {
            table.columns = cells;
            header = true;
        }
    }
    even(&mut table)?;
    let start = text.len() - text.trim_start().len();
    table.range = start..start + text.trim().len();
    let mut parsed = Parsed { format: "csv", ..Parsed::default() };
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
    fn empty_lines_are_no_rows() {
        let parsed = read("\n\n a,b\n,\n1,2\n".to_owned(), b',').unwrap();
        check(&parsed);
        assert_eq!(parsed.tables[0].rows.len(), 1);
    }
}
