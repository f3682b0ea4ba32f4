//! Spreadsheets: each sheet is a section with one table.
mod excel;
mod ods;
mod value;

use std::collections::HashMap;

pub(crate) use value::shown;

use crate::container::{locked, refusal};
use crate::detect::Format;
use crate::parsed::{Merged, Parsed, Refusal};
use crate::room::may_fill;
use crate::writer::inline::Inline;
use crate::writer::{Sheet as Written, Writer};

/// Cells with a value that are read of one file; the rest is left out with a warning.
pub(crate) const MAX_CELLS: usize = 4_000_000;

/// The cells of a sheet that have a value, wherever they are.
#[derive(Debug, Default)]
pub(crate) struct Sheet {
    pub(crate) name: String,
    /// Row, column (both from 0), value; in the order of rows and columns.
    pub(crate) cells: Vec<(u32, u32, String)>,
    /// First and last row, first and last column.
    pub(crate) merged: Vec<[u32; 4]>,
    /// By row and column.
    pub(crate) links: HashMap<(u32, u32), String>,
    pub(crate) cut: bool,
}

pub(crate) fn read(format: Format, bytes: &[u8]) -> Result<Parsed, Refusal> {
    let sheets = match format {
        Format::Ods => ods::sheets(bytes)?,
        _ => excel::sheets(format, bytes)?,
    };
    let mut writer = Writer::new(format.name());
    for mut sheet in sheets {
        if sheet.cut {
            writer.warn(format!(
                "sheet `{}` is too large: only its first {} rows are read; split it",
                sheet.name,
                sheet.cells.last().map_or(0, |(row, _, _)| row + 1)
            ));
        }
        sheet.cells.sort_by_key(|(row, column, _)| (*row, *column));
        sheet.cells.dedup_by_key(|(row, column, _)| (*row, *column));
        write(sheet, &mut writer)?;
    }
    if writer.is_empty() {
        return Err(refusal("its sheets are empty", "remove it or fill it"));
    }
    Ok(writer.finish())
}

/// The message of a reader of spreadsheets as a refusal.
fn unreadable(error: &str) -> Refusal {
    if error.to_lowercase().contains("password") {
        return locked();
    }
    refusal(&format!("it is a broken spreadsheet: {error}"), "open it and save it again")
}

/// Rows and columns without any value are left out; single words above the table are its titles.
fn write(sheet: Sheet, writer: &mut Writer) -> Result<(), Refusal> {
    if sheet.cells.is_empty() {
        return Ok(());
    }
    let mut rows: Vec<u32> = sheet.cells.iter().map(|(row, _, _)| *row).collect();
    rows.dedup();
    let columns = columns(&sheet);
    if !may_fill(rows.len(), columns.len(), sheet.cells.len()) {
        let (name, values) = (&sheet.name, sheet.cells.len());
        let (rows, columns) = (rows.len(), columns.len());
        let reason =
            format!("sheet `{name}` has {rows} rows, {columns} columns and only {values} values");
        return Err(refusal(&reason, "remove what stands far from the table"));
    }
    writer.heading(1, &Inline::words(&sheet.name));
    let mut titles = 0;
    if columns.len() > 1 {
        let mut by_row = sheet.cells.chunk_by(|a, b| a.0 == b.0);
        // A sheet of single words only is a list.
        while let Some([title]) = by_row.next()
            && titles + 1 < rows.len()
        {
            writer.paragraph(&Inline::lines(&title.2));
            titles += 1;
        }
    }
    let rows = &rows[titles..];
    let place = |row: u32, column: u32| {
        Some((rows.binary_search(&row).ok()?, columns.binary_search(&column).ok()?))
    };
    let mut table = Written { caption: sheet.name, ..Written::default() };
    table.rows = vec![vec![String::new(); columns.len()]; rows.len()];
    for (row, column, value) in sheet.cells {
        if let Some((row, column)) = place(row, column) {
            table.rows[row][column] = value;
        }
    }
    table.links = sheet
        .links
        .into_iter()
        .filter_map(|((row, column), target)| Some((place(row, column)?, target)))
        .collect();
    table.merged = sheet.merged.iter().filter_map(|span| covered(*span, rows, &columns)).collect();
    table.merged.sort_by_key(|merged| (merged.row, merged.column));
    table.header_rows = header_rows(&table);
    writer.sheet(table);
    Ok(())
}

/// The columns that have a value, in order.
fn columns(sheet: &Sheet) -> Vec<u32> {
    let mut columns: Vec<u32> = sheet.cells.iter().map(|(_, column, _)| *column).collect();
    columns.sort_unstable();
    columns.dedup();
    columns
}

/// A merged cell in the rows and columns that are kept; `None` when it covers one place only.
fn covered([top, bottom, left, right]: [u32; 4], rows: &[u32], columns: &[u32]) -> Option<Merged> {
    let part = |all: &[u32], first: u32, last: u32| {
        let start = all.partition_point(|at| *at < first);
        (start, all.partition_point(|at| *at <= last).saturating_sub(start))
    };
    let ((row, height), (column, width)) = (part(rows, top, bottom), part(columns, left, right));
    let starts = rows.get(row) == Some(&top) && columns.get(column) == Some(&left);
    let several = height * width > 1;
    (starts && several).then_some(Merged { row, column, rows: height, columns: width })
}

/// One row of names, or two when the first one spans columns that the second one names.
fn header_rows(table: &Written) -> usize {
    let [first, rest @ ..] = &table.rows[..] else { return 0 };
    let spans = table.merged.iter().any(|merged| merged.row == 0 && merged.columns > 1);
    if spans
        && let [second, below @ ..] = rest
        && !below.is_empty()
        && table.merged.iter().filter(|merged| merged.row == 0).all(|merged| merged.rows <= 2)
    {
        let mut both = words(second);
        for (name, above) in both.iter_mut().zip(first) {
            if name.is_empty() {
                *name = above;
            }
        }
        // The names below one span may repeat below the next.
        let named =
            both.iter().all(|name| !name.is_empty() && !crate::writer::grid::is_number(name));
        if named {
            return 2;
        }
    }
    let rows: Vec<Vec<&str>> = table.rows.iter().take(4).map(|row| words(row)).collect();
    crate::writer::grid::header_rows(&rows)
}

fn words(row: &[String]) -> Vec<&str> {
    row.iter().map(String::as_str).collect()
}

#[cfg(test)]
mod tests;
