//! Tables of comma-separated values and their kin: every row becomes a chunk that names its
//! columns.
use std::ops::Range;

/// A data row: its bytes in the file, and its values with their columns' names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) range: Range<usize>,
    pub(crate) text: String,
}

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

/// The rows below the header. Empty values are left out, values beyond the header's columns are
/// named by their number.
pub(crate) fn rows(text: &str, delimiter: u8) -> Vec<Row> {
    let mut reader = reader(text, delimiter);
    let mut record = csv::StringRecord::new();
    let mut header: Option<csv::StringRecord> = None;
    let mut rows = vec![];
    loop {
        let start = reader.position().byte();
        // A string holds nothing that could be unreadable: an error here is the end.
        if !reader.read_record(&mut record).unwrap_or(false) {
            return rows;
        }
        let Some(header) = &header else {
            header = Some(record.clone());
            continue;
        };
        let mut parts = vec![];
        for (i, value) in record.iter().enumerate() {
            if value.trim().is_empty() {
                continue;
            }
            parts.push(match header.get(i).map(str::trim).filter(|name| !name.is_empty()) {
                Some(name) => format!("{name}: {}", value.trim()),
                None => format!("column {}: {}", i + 1, value.trim()),
            });
        }
        if !parts.is_empty() {
            let range = trimmed(text, start, reader.position().byte());
            rows.push(Row { range, text: parts.join("; ") });
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
    fn a_row_names_its_columns_and_its_place() {
        let text = "Name;Maker;Year\r\nZarxio;\"Sandoz; Inc\";2015\r\n\r\nAmjevita;;2016;extra\r\n";
        assert_eq!(sniff(text), b';');
        let rows = rows(text, b';');
        assert_eq!(rows[0].text, "Name: Zarxio; Maker: Sandoz; Inc; Year: 2015");
        assert_eq!(&text[rows[0].range.clone()], "Zarxio;\"Sandoz; Inc\";2015");
        assert_eq!(rows[1].text, "Name: Amjevita; Year: 2016; column 4: extra");
        assert_eq!(&text[rows[1].range.clone()], "Amjevita;;2016;extra");
        assert_eq!(rows.len(), 2);
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
        let rows = rows(text, b',');
        assert_eq!(rows.len(), 1);
        assert_eq!(&text[rows[0].range.clone()], "\"one\ntwo\",3");
    }
}
