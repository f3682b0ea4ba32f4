//! Rows of a table as chunks of their own, each naming its columns.
use std::collections::HashSet;
use std::ops::Range;

use halma_parse::{Table, TableRow};

use super::pieces::{Piece, is_longer, split_long};

/// A table whose rows become chunks.
pub(super) struct TableRows<'a> {
    table: &'a Table,
    /// What each chunk begins with; `None` where its heading says so already.
    caption: Option<&'a str>,
    /// The length of the largest chunk.
    limit: usize,
}

impl<'a> TableRows<'a> {
    pub(super) fn new(table: &'a Table, heading: Option<&str>, limit: usize) -> Self {
        let caption = table.caption.as_deref().map(str::trim);
        let caption = caption.filter(|c| !c.is_empty() && heading.is_none_or(|h| !h.ends_with(c)));
        Self { table, caption, limit }
    }

    /// The rows that have a value, as chunks within a range of the text.
    pub(super) fn pieces(&self, text: &str, range: &Range<usize>) -> Vec<Piece> {
        let mut pieces = vec![];
        let mut at = range.start;
        for row in &self.table.rows {
            let shown = place(text, row, range, at);
            for text in self.texts(row) {
                let plain = Piece::plain(at..shown.end);
                pieces.push(Piece { shown: shown.clone(), text: Some(text), ..plain });
                at = shown.end.max(at);
            }
        }
        pieces
    }

    /// `Name: value; …`, without the empty values; in several texts where one would be longer than
    /// the limit.
    fn texts(&self, row: &TableRow) -> Vec<String> {
        let mut whole = String::new();
        for part in values(self.table, row) {
            part.write(&mut whole);
        }
        if whole.is_empty() {
            return vec![];
        }
        let caption = self.caption.filter(|caption| caption.len() + whole.len() < self.limit);
        if let Some(caption) = caption {
            whole = format!("{caption}\n{whole}");
        }
        if is_longer(&whole, self.limit) { self.split(row) } else { vec![whole] }
    }

    /// The values of a row in several texts, each beginning with the first value where it is short.
    fn split(&self, row: &TableRow) -> Vec<String> {
        let mut parts = values(self.table, row).map(|value| {
            let mut part = String::new();
            value.write(&mut part);
            part
        });
        let first = parts.next();
        let lead = first.clone().filter(|lead| !is_longer(lead, self.limit / 4));
        let mut texts = vec![];
        let mut text = String::new();
        for part in first.into_iter().chain(parts) {
            if !text.is_empty() && text.len() + part.len() + 2 > self.limit {
                texts.push(std::mem::take(&mut text));
                text.extend(lead.clone());
            }
            if !text.is_empty() {
                text.push_str("; ");
            }
            text.push_str(&part);
            if is_longer(&text, self.limit) {
                let mut pieces = vec![];
                split_long(&text, 0..text.len(), self.limit, &mut pieces);
                let pieces = pieces.into_iter().map(|piece| text[piece].trim().to_owned());
                texts.extend(pieces.filter(|piece| !piece.is_empty()));
                text.clear();
            }
        }
        if !text.is_empty() && lead.as_ref() != Some(&text) {
            texts.push(text);
        }
        // The same words of the same row are one chunk.
        let mut seen = HashSet::new();
        texts.retain(|text| seen.insert(text.clone()));
        texts
    }
}

/// Where a row stands, never outside its table or before the row above it.
fn place(text: &str, row: &TableRow, table: &Range<usize>, at: usize) -> Range<usize> {
    let start = row.range.start.clamp(at, table.end);
    let end = row.range.end.clamp(start, table.end);
    if text.is_char_boundary(start) && text.is_char_boundary(end) { start..end } else { at..at }
}

/// A value with the name of its column, or its number where it has none.
struct Named<'a> {
    name: &'a str,
    number: usize,
    value: &'a str,
}

impl Named<'_> {
    fn write(&self, text: &mut String) {
        if !text.is_empty() {
            text.push_str("; ");
        }
        if self.name.is_empty() {
            text.push_str("column ");
            text.push_str(&self.number.to_string());
        } else {
            text.push_str(self.name);
        }
        text.push_str(": ");
        text.push_str(self.value);
    }
}

/// The values of a row that are there.
fn values<'a>(table: &'a Table, row: &'a TableRow) -> impl Iterator<Item = Named<'a>> {
    let named = |(i, value): (usize, &'a String)| Named {
        name: table.columns.get(i).map_or("", |name| name.trim()),
        number: i + 1,
        value: value.trim(),
    };
    row.cells.iter().enumerate().map(named).filter(|named| !named.value.is_empty())
}

#[cfg(test)]
mod tests {
    use halma_parse::Parsed;

    use crate::Chunks;
    use crate::cut::testing::{delimited, markdown, settings};
    use crate::cut::{Cut, cut_now};

    fn cut(parsed: &Parsed, limit: usize) -> Cut {
        cut_now(parsed, "", &settings(Chunks::Structure, limit)).unwrap()
    }

    fn rows(cut: &Cut) -> Vec<&str> {
        let chunks = cut.outline.sections.iter().flat_map(|section| &section.chunks);
        chunks.filter_map(|chunk| chunk.text.as_deref()).collect()
    }

    #[test]
    fn a_row_names_its_columns_and_its_place() {
        let text = "Name;Maker;\nZarxio;\"Sandoz; Inc\";2015\n;;\nAmjevita;;2016\n";
        let parsed = delimited(text, b';');
        let cut = cut(&parsed, 1500);
        let texts =
            ["Name: Zarxio; Maker: Sandoz; Inc; column 3: 2015", "Name: Amjevita; column 3: 2016"];
        assert_eq!(rows(&cut), texts);
        let section = &cut.outline.sections[0];
        assert_eq!((section.name.as_deref(), section.indexed), (Some("rows"), false));
        let shown = |i: usize| {
            let place = section.chunks[i].place.bytes;
            &text[place.0..place.1]
        };
        assert_eq!((shown(0), shown(1)), ("Zarxio;\"Sandoz; Inc\";2015", "Amjevita;;2016"));
        let table = &cut.outline.tables[0];
        let chunks: Vec<usize> = table.rows.iter().map(|row| row.chunk).collect();
        assert_eq!(chunks, [0, 1]);
    }

    #[test]
    fn a_row_longer_than_the_limit_is_cut_between_its_values() {
        let parsed =
            delimited("Name,Alpha,Beta,Gamma\nZarxio,aaaaaaaaaaaa,bbbbbbbbbbbb,cccccc\n", b',');
        let cut = cut(&parsed, 52);
        let texts = [
            "Name: Zarxio; Alpha: aaaaaaaaaaaa",
            "Name: Zarxio; Beta: bbbbbbbbbbbb; Gamma: cccccc",
        ];
        assert_eq!(rows(&cut), texts);
        assert_eq!(cut.outline.tables[0].rows.len(), 1);
    }

    #[test]
    fn a_table_that_fits_is_one_chunk_and_a_longer_one_is_rows_below_its_heading() {
        let table = (0..6).map(|i| format!("| {i} | value {i} |\n")).collect::<Vec<_>>().concat();
        let text = format!("Before.\n\n## Prices\n\n| key | word |\n|---|---|\n{table}\nAfter.\n");
        let parsed = markdown(&text);
        assert_eq!(rows(&cut(&parsed, 1500)), Vec::<&str>::new());
        let cut = cut(&parsed, 60);
        assert_eq!(rows(&cut)[5], "key: 5; word: value 5");
        let prices = &cut.outline.sections[1];
        assert_eq!(prices.name.as_deref(), Some("Prices"));
        assert_eq!(prices.chunks.len(), 7, "six rows and what follows");
        assert!(prices.indexed);
        assert_eq!(cut.outline.tables[0].rows[3].chunk, 4);
    }
}
