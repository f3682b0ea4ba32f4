//! Tables of comma-separated values and their kin.
use std::ops::Range;

use halma_parse::TableRow;

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
    // Of equals the first named wins.
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

/// The columns' names, and each row below them: its bytes in the file and its cells.
pub(crate) fn cells(text: &str, delimiter: u8) -> (Vec<String>, Vec<TableRow>) {
    let mut reader = reader(text, delimiter);
    let mut record = csv::StringRecord::new();
    let (mut header, mut rows) = (None, vec![]);
    loop {
        let start = reader.position().byte();
        // A string holds nothing that could be unreadable: an error here is the end.
        if !reader.read_record(&mut record).unwrap_or(false) {
            return (header.unwrap_or_default(), rows);
        }
        let cells: Vec<String> = record.iter().map(|cell| cell.trim().to_owned()).collect();
        if header.is_none() {
            header = Some(cells);
        } else if cells.iter().any(|cell| !cell.is_empty()) {
            let range = trimmed(text, start, reader.position().byte());
            rows.push(TableRow { range, cells });
        }
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
        let (_, rows) = cells(text, b',');
        assert_eq!(rows.len(), 1);
        assert_eq!(&text[rows[0].range.clone()], "\"one\ntwo\",3");
    }
}
