//! A table of texts with two writers: aligned columns for a terminal, and Markdown.
use std::fmt::Write as _;

/// Bytes of a cell with a number and what it is a number of.
const LONGEST_NUMBER: usize = 24;

/// The first row is the head; all rows are of one length.
#[derive(Debug, Clone)]
pub(crate) struct ReportTable(Vec<Vec<String>>);

impl ReportTable {
    pub(crate) fn new<H: Into<String>>(head: impl IntoIterator<Item = H>) -> Self {
        Self(vec![head.into_iter().map(Into::into).collect()])
    }

    /// Adds a row for each item.
    #[must_use]
    pub(crate) fn with<R: IntoIterator<Item = String>>(
        mut self,
        rows: impl IntoIterator<Item = R>,
    ) -> Self {
        self.0.extend(rows.into_iter().map(|row| row.into_iter().collect()));
        self
    }

    /// Whether it has nothing but its head.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.len() < 2
    }

    /// Two spaces between columns; those of numbers to the right.
    pub(crate) fn text(&self) -> String {
        let columns: Vec<(usize, bool)> =
            (0..self.0[0].len()).map(|column| (self.width(column), self.is_text(column))).collect();
        let mut out = String::new();
        for row in &self.0 {
            let mut line = String::new();
            for (place, (cell, (width, is_text))) in row.iter().zip(&columns).enumerate() {
                let gap = if place == 0 { "" } else { "  " };
                let _ = match is_text {
                    true => write!(line, "{gap}{cell:<width$}"),
                    false => write!(line, "{gap}{cell:>width$}"),
                };
            }
            let _ = writeln!(out, "{}", line.trim_end());
        }
        out
    }

    fn width(&self, column: usize) -> usize {
        self.0.iter().map(|row| row[column].chars().count()).max().unwrap_or(0)
    }

    /// The first column is, and one that has a long cell or one that does not begin like a number.
    fn is_text(&self, column: usize) -> bool {
        let begins =
            |cell: &str| cell.starts_with(|c: char| c.is_ascii_digit() || "-+".contains(c));
        let is_number =
            |cell: &str| cell.is_empty() || begins(cell) && cell.len() <= LONGEST_NUMBER;
        column == 0 || !self.0[1..].iter().all(|row| is_number(&row[column]))
    }

    pub(crate) fn markdown(&self) -> String {
        let mut out = String::new();
        for (place, row) in self.0.iter().enumerate() {
            let cells: Vec<String> = row.iter().map(|cell| escaped(cell)).collect();
            let _ = writeln!(out, "| {} |", cells.join(" | "));
            if place == 0 {
                let _ = writeln!(out, "|{}", "---|".repeat(row.len()));
            }
        }
        out
    }

    /// Tables of at most so many characters a line, where their columns allow it: each has the
    /// first column, and as many others as fit, in groups of columns that stay together.
    pub(crate) fn pages(&self, width: usize, groups: &[usize]) -> Vec<Self> {
        let (mut pages, mut used, mut next) = (Vec::<Vec<usize>>::new(), 0, 1);
        for group in groups {
            let columns = next..next + group;
            next = columns.end;
            let wide: usize = columns.clone().map(|column| self.width(column) + 2).sum();
            match pages.last_mut() {
                Some(page) if used + wide <= width => page.extend(columns),
                _ => {
                    pages.push([0].into_iter().chain(columns).collect());
                    used = self.width(0);
                }
            }
            used += wide;
        }
        let page = |columns: Vec<usize>| {
            let cells =
                |row: &Vec<String>| columns.iter().map(|place| row[*place].clone()).collect();
            Self(self.0.iter().map(cells).collect())
        };
        pages.into_iter().map(page).collect()
    }
}

/// Text that came from files and models, so that it stays text in Markdown.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' => out.push(' '),
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '!' | '~' | '>' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: &[&[&str]]) -> ReportTable {
        let mut rows = rows.iter().map(|row| row.iter().map(|cell| (*cell).to_owned()));
        ReportTable::new(rows.next().unwrap()).with(rows)
    }

    #[test]
    fn numbers_are_aligned_to_the_right_and_words_to_the_left() {
        let table = table(&[&["name", "why", "n"], &["a", "", "-"], &["bcdef", "too long", "12"]]);
        assert_eq!(table.text(), "name   why        n\na                 -\nbcdef  too long  12\n");
        let markdown =
            "| name | why | n |\n|---|---|---|\n| a |  | - |\n| bcdef | too long | 12 |\n";
        assert_eq!(table.markdown(), markdown);
    }

    #[test]
    fn groups_stay_whole_and_every_page_names_its_rows() {
        let wide = "x".repeat(50);
        let table = table(&[&["row", "1", "2", "3", "4"], &["naive", "a", "b", &wide, "d"]]);
        let pages = table.pages(60, &[2, 2]);
        assert_eq!(pages[0].0[1], ["naive", "a", "b"]);
        assert_eq!(pages[1].0[1], ["naive", wide.as_str(), "d"]);
        assert_eq!(table.pages(200, &[2, 2])[0].0, table.0);
    }
}
