//! Builds the grid of an Office table row by row: cells that continue the one above (DOCX), cells
//! that are covered by one at their left, and tables inside cells.
use crate::writer::Writer;
use crate::writer::grid::{Cell, Grid};
use crate::writer::inline::Inline;

/// How a cell of the file relates to its neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CellKind {
    /// With a content, at the upper left of what it covers.
    Anchor,
    /// The lower part of the cell above (`w:vMerge`).
    Continued,
    /// Covered by a cell that says itself how far it goes (`a:hMerge`, `covered-table-cell`).
    Covered,
}

/// A cell with the number of rows and columns that it covers, at least one each.
pub(super) struct TableCell {
    pub(super) kind: CellKind,
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) content: Inline,
}

/// A table with the tables inside its cells.
#[derive(Debug, Default)]
pub(super) struct TableBuilder {
    grid: Grid,
    inner: Vec<TableBuilder>,
    /// Row and column of the cells that continue the one above.
    continued: Vec<(usize, usize)>,
    /// For each cell of the grid its first column.
    columns: Vec<Vec<usize>>,
    column: usize,
    header_rows: usize,
}

impl TableBuilder {
    /// `header` says that the file marks this row as one of the header; those further down do not
    /// count.
    pub(super) fn row(&mut self, header: bool) {
        if header && self.header_rows == self.grid.rows.len() {
            self.header_rows += 1;
        }
        self.grid.rows.push(vec![]);
        self.columns.push(vec![]);
        self.column = 0;
    }

    /// A row of cells that cover one place each.
    pub(super) fn plain_row(&mut self, header: bool, cells: impl IntoIterator<Item = Inline>) {
        self.row(header);
        for content in cells {
            self.cell(TableCell { kind: CellKind::Anchor, rows: 1, columns: 1, content });
        }
    }

    pub(super) fn cell(&mut self, cell: TableCell) {
        let (Some(row), Some(columns)) = (self.grid.rows.last_mut(), self.columns.last_mut())
        else {
            return;
        };
        let width = cell.columns.clamp(1, 1_000);
        match cell.kind {
            CellKind::Covered => return,
            CellKind::Continued => self.continued.push((self.columns.len() - 1, self.column)),
            CellKind::Anchor => {
                columns.push(self.column);
                let (content, rows) = (cell.content, cell.rows.max(1));
                row.push(Cell { content, rows, columns: width, header: false });
            }
        }
        self.column += width;
    }

    /// A table inside the current cell.
    pub(super) fn inner(&mut self, table: TableBuilder) {
        self.inner.push(table);
    }

    /// All words of the table, row by row, for the cell that holds it.
    pub(super) fn words(&self) -> String {
        let cells = self.grid.rows.iter().flatten();
        cells.map(|cell| cell.content.text.as_str()).collect::<Vec<_>>().join(" ")
    }

    /// Writes the table, and after it those inside its cells.
    pub(super) fn write(mut self, writer: &mut Writer) {
        for (row, column) in std::mem::take(&mut self.continued) {
            let above = (0..row).rev().find_map(|above| {
                let cell = self.columns[above].iter().position(|at| *at == column)?;
                Some((above, cell))
            });
            if let Some((above, cell)) = above {
                self.grid.rows[above][cell].rows = row - above + 1;
            }
        }
        let has_body = self.header_rows < self.grid.rows.len();
        self.grid.header_rows = (self.header_rows > 0 && has_body).then_some(self.header_rows);
        if !self.is_frame() {
            writer.table(&self.grid);
        }
        self.inner.into_iter().for_each(|inner| inner.write(writer));
    }
    /// Whether it is a single cell that holds tables and no words of its own.
    fn is_frame(&self) -> bool {
        let mut cells = self.grid.rows.iter().flatten();
        let words = cells.next().map_or("", |cell| cell.content.text.as_str());
        let mut inner = Inline::default();
        self.inner.iter().for_each(|table| inner.append(&Inline::words(&table.words())));
        !self.inner.is_empty() && cells.next().is_none() && words == inner.trimmed().text
    }
}
