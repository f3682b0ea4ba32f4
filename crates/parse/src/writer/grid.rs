//! Tables as they stand in a file, cells with their spans, and what they come to: a header, and
//! rows in which every place has its value.
use super::inline::Inline;
use crate::parsed::Merged;
use crate::room::MAX_COLUMNS;

/// One cell with the places that it covers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) content: Inline,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) header: bool,
}

/// Cells in the order of the file, each named once, at its upper left place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Grid {
    pub(crate) caption: Option<String>,
    pub(crate) rows: Vec<Vec<Cell>>,
    /// How many rows are the header, where the file says so.
    pub(crate) header_rows: Option<usize>,
}

/// A grid with every place filled. `None` is a place that no cell covers.
#[derive(Debug, Default)]
pub(crate) struct Placed {
    pub(crate) width: usize,
    /// Row by row: the cell (its row and its place among the cells of that row) and whether this
    /// is the cell's first column.
    pub(crate) places: Vec<Vec<Option<CellPlace>>>,
    pub(crate) header_rows: usize,
    pub(crate) merged: Vec<Merged>,
    pub(crate) rows_left_out: usize,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct CellPlace {
    pub(crate) row: usize,
    pub(crate) cell: usize,
    pub(crate) first_column: bool,
}

impl Grid {
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.iter().flatten().all(|cell| cell.content.is_empty())
    }

    pub(crate) fn cell(&self, place: CellPlace) -> &Cell {
        &self.rows[place.row][place.cell]
    }

    /// Puts each cell into its places, as HTML does it: a cell goes to the first free column. Rows
    /// from the first one on that would make the table larger than `most` places are left out.
    pub(crate) fn place(&self, limit: usize) -> Placed {
        let mut placed = Placed::default();
        let height = self.rows.len();
        placed.places = vec![vec![]; height];
        let mut spans = vec![];
        let mut total = 0;
        'rows: for (row, cells) in self.rows.iter().enumerate() {
            let mut column = 0;
            for (index, cell) in cells.iter().enumerate() {
                while placed.places[row].get(column).is_some_and(Option::is_some) {
                    column += 1;
                }
                let rows = cell.rows.clamp(1, height - row);
                let columns = cell.columns.clamp(1, 1_000);
                total += rows * columns;
                if total > limit || column + columns > MAX_COLUMNS {
                    placed.places.truncate(row);
                    break 'rows;
                }
                cover(&mut placed.places[row..row + rows], column, columns, (row, index));
                if rows > 1 || columns > 1 {
                    spans.push(Merged { row, column, rows, columns });
                }
                column += columns;
            }
        }
        placed.width = placed.places.iter().map(Vec::len).max().unwrap_or(0);
        // Every row is made as wide as the widest.
        placed.places.truncate(limit / placed.width.max(1));
        placed.rows_left_out = height - placed.places.len();
        spans.retain(|span: &Merged| span.row + span.rows <= placed.places.len());
        placed.header_rows = self.header(&placed).min(placed.places.len());
        let below = placed.header_rows;
        let body = spans.into_iter().filter(|span| span.row >= below);
        placed.merged = body.map(|span| Merged { row: span.row - below, ..span }).collect();
        placed
    }

    /// One name for each column, those of several header rows joined.
    pub(crate) fn columns(&self, placed: &Placed) -> Vec<String> {
        let mut columns = vec![String::new(); placed.width];
        for (column, name) in columns.iter_mut().enumerate() {
            let mut last = None;
            for places in &placed.places[..placed.header_rows] {
                let Some(place) = places.get(column).copied().flatten() else { continue };
                let words = self.cell(place).content.on_one_line().text;
                // A cell that spans rows is named once.
                if last == Some((place.row, place.cell)) || words.trim().is_empty() {
                    continue;
                }
                last = Some((place.row, place.cell));
                if !name.is_empty() {
                    name.push_str(" / ");
                }
                name.push_str(words.trim());
            }
        }
        columns
    }

    /// What a row shows: a value that spans columns once, one that spans rows in each row.
    pub(crate) fn shown(&self, places: &[Option<CellPlace>], width: usize) -> Vec<Inline> {
        let mut cells = vec![Inline::default(); width];
        for (cell, place) in cells.iter_mut().zip(places) {
            if let Some(place) = place.filter(|place| place.first_column) {
                *cell = self.cell(place).content.clone();
            }
        }
        cells
    }

    /// The values of a row, in every place that they cover.
    pub(crate) fn values(&self, places: &[Option<CellPlace>], width: usize) -> Vec<String> {
        let mut cells = vec![String::new(); width];
        for (cell, place) in cells.iter_mut().zip(places) {
            if let Some(place) = place {
                *cell = self.cell(*place).content.on_one_line().text;
            }
        }
        cells
    }

    /// Bytes of a row's values: of those that begin there, and of those that a span repeats.
    pub(crate) fn bytes(&self, row: usize, places: &[Option<CellPlace>]) -> (usize, usize) {
        let (mut first, mut copies) = (0, 0);
        for place in places.iter().flatten() {
            let bytes = self.cell(*place).content.text.len() + 1;
            if place.first_column && place.row == row { first += bytes } else { copies += bytes }
        }
        (first, copies)
    }

    /// The number of header rows: as the file says, else what looks like one.
    fn header(&self, placed: &Placed) -> usize {
        if let Some(rows) = self.header_rows {
            return rows;
        }
        let marked = self
            .rows
            .iter()
            .take_while(|row| !row.is_empty() && row.iter().all(|cell| cell.header));
        let marked = marked.count();
        if marked > 0 {
            // A table of nothing but header cells is one whose author liked bold words.
            return if marked < self.rows.len() { marked } else { 1 };
        }
        let words = |row: &Vec<Option<CellPlace>>| {
            let mut words = vec![""; placed.width];
            for (words, place) in words.iter_mut().zip(row) {
                *words = place.map_or("", |place| self.cell(place).content.text.trim());
            }
            words
        };
        header_rows(&placed.places.iter().take(4).map(words).collect::<Vec<_>>())
    }
}

/// How many of the first rows are a header, as far as their words show: a row of
/// names, perhaps below one or two that are mostly empty, and one of units. At least one row is left.
pub(crate) fn header_rows(rows: &[Vec<&str>]) -> usize {
    for (above, first) in rows.iter().enumerate().take(rows.len().saturating_sub(1).min(3)) {
        let below = &rows[above + 1..];
        if names_columns(first, below, above == 0) {
            let units = below.get(1).is_some_and(|values| are_units(&below[0], values));
            return above + 1 + usize::from(units);
        }
        let filled = first.iter().filter(|words| !words.is_empty()).count();
        if filled * 2 > first.len() {
            return 0;
        }
    }
    0
}

/// Characters of the name of a column: a question of a survey is one, a paragraph is not.
pub(crate) const MAX_NAME: usize = 500;
const USUAL_NAME: usize = 80;

/// Whether a row names the columns: words in (nearly) every place, no number among them save years
/// and dates above numbers, and, where `unlike`, no two alike unless numbers stand below.
fn names_columns(first: &[&str], below: &[Vec<&str>], unlike: bool) -> bool {
    let mut names: Vec<&str> = first.iter().copied().filter(|name| !name.is_empty()).collect();
    let filled = names.len();
    // The corner above the row names is often left empty.
    if first.len() < 2 || filled + 1 < first.len() || is_number(first[0]) {
        return false;
    }
    let values =
        |column: usize| below.iter().map(move |row| row[column]).filter(|value| !value.is_empty());
    let has_numbers = |column: usize| values(column).next().is_some_and(is_number);
    let is_name = |(column, name): (usize, &&str)| {
        let count = values(column).count();
        if is_number(name) {
            let periods = values(column).filter(|value| is_period(value)).count();
            return is_period(name) && (count == 0 || has_numbers(column) && periods < count);
        }
        let length = name.chars().count();
        let asks = name.ends_with(['?', '？']) || (count > 1 && values(column).all(is_number));
        length <= USUAL_NAME || (length <= MAX_NAME && asks)
    };
    if !first.iter().enumerate().all(is_name) {
        return false;
    }
    names.sort_unstable();
    names.dedup();
    let are_words = names.len() > 1 && names.iter().all(|name| name.contains(char::is_alphabetic));
    !unlike || names.len() == filled || (are_words && (0..first.len()).any(has_numbers))
}

/// Whether it is a year, or a longer or shorter time that begins with one: `2021/22`, `2021-03-01`.
fn is_period(text: &str) -> bool {
    let (year, rest) = text.split_at_checked(4).unwrap_or_default();
    let is_year = year.parse().is_ok_and(|year| (1_900..=2_100).contains(&year));
    is_year && (rest.is_empty() || (rest.starts_with(['-', '/', '–']) && is_number(rest)))
}

/// Whether a row below the names says what most numbers below it count: `kg`, `%`.
fn are_units(row: &[&str], values: &[&str]) -> bool {
    let units = row.iter().zip(values).filter(|(unit, _)| !unit.is_empty());
    let is_unit = |(unit, value): (&&str, &&str)| {
        !is_number(unit) && unit.chars().count() <= 10 && is_number(value)
    };
    row[0].is_empty() && units.clone().count() * 2 >= row.len() && units.clone().all(is_unit)
}

fn cover(rows: &mut [Vec<Option<CellPlace>>], column: usize, columns: usize, cell: (usize, usize)) {
    for places in rows {
        if places.len() < column + columns {
            places.resize(column + columns, None);
        }
        for (at, place) in places[column..column + columns].iter_mut().enumerate() {
            // Where spans of a broken table meet, the first one keeps the place.
            place.get_or_insert(CellPlace { row: cell.0, cell: cell.1, first_column: at == 0 });
        }
    }
}

/// Whether it is a quantity, a year or a date, as values are and names of columns rarely.
pub(crate) fn is_number(text: &str) -> bool {
    let is_sign = |c: char| ".,-+/:% ()€$£–\u{a0}".contains(c);
    text.contains(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_digit() || is_sign(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(rows: &[&[&str]]) -> Grid {
        let cell = |words: &&str| Cell {
            content: Inline::words(words),
            rows: 1,
            columns: 1,
            header: false,
        };
        let row = |row: &&[&str]| row.iter().map(cell).collect();
        Grid { rows: rows.iter().map(row).collect(), ..Grid::default() }
    }

    #[test]
    fn a_first_row_of_names_is_a_header_and_one_of_values_is_none() {
        assert_eq!(grid(&[&["Name", "Year"], &["Jaws", "1975"]]).place(100).header_rows, 1);
        assert_eq!(grid(&[&["", "Year"], &["Jaws", "1975"]]).place(100).header_rows, 1);
        assert_eq!(grid(&[&["Jaws", "1975"], &["Duel", "1971"]]).place(100).header_rows, 0);
        assert_eq!(grid(&[&["x", "x"], &["a", "b"]]).place(100).header_rows, 0);
        assert_eq!(grid(&[&["Name", "Year"]]).place(100).header_rows, 0);
        let below = grid(&[&["In CHF", "", ""], &["", "2022", "2023"], &["Toys", "5", "7"]]);
        assert_eq!(below.place(100).header_rows, 2);
    }

    #[test]
    fn spans_push_later_cells_aside() {
        let mut grid = grid(&[&["a", "b"], &["c"], &["d", "e", "f"]]);
        grid.header_rows = Some(0);
        grid.rows[0][0].rows = 2;
        grid.rows[0][1].columns = 2;
        let placed = grid.place(100);
        let text = |row: usize, column: usize| {
            placed.places[row]
                .get(column)
                .copied()
                .flatten()
                .map(|p| grid.cell(p).content.text.clone())
        };
        assert_eq!(placed.width, 3);
        assert_eq!(text(1, 0).as_deref(), Some("a"));
        assert_eq!(text(1, 1).as_deref(), Some("c"));
        assert_eq!(text(0, 2).as_deref(), Some("b"));
        assert_eq!(text(1, 2), None);
        assert_eq!(
            placed.merged,
            [
                Merged { row: 0, column: 0, rows: 2, columns: 1 },
                Merged { row: 0, column: 1, rows: 1, columns: 2 },
            ]
        );
    }
}
