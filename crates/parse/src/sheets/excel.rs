//! XLSX, XLSB and XLS, cell by cell: a single value in the last cell of a sheet must not make room
//! for seventeen billion.
use std::io::Cursor;

use calamine::{Data, DataRef, Dimensions, Reader, SheetType, Xls, Xlsb, Xlsx};

use super::value::shown;
use super::{MOST_CELLS, Sheet, unreadable};
use crate::detect::Format;
use crate::parsed::Refusal;

pub(super) fn sheets(format: Format, bytes: &[u8]) -> Result<Vec<Sheet>, Refusal> {
    match format {
        Format::Xlsx => xlsx(bytes),
        Format::Xlsb => xlsb(bytes),
        _ => xls(bytes),
    }
}

fn names<R: Reader<Cursor<Vec<u8>>>>(book: &R) -> Vec<String> {
    let kept = book.sheets_metadata().iter().filter(|sheet| sheet.typ == SheetType::WorkSheet);
    kept.map(|sheet| sheet.name.clone()).collect()
}

fn xlsx(bytes: &[u8]) -> Result<Vec<Sheet>, Refusal> {
    let fail = |error: calamine::XlsxError| unreadable(&error.to_string());
    let mut book: Xlsx<_> = Xlsx::new(Cursor::new(bytes.to_vec())).map_err(fail)?;
    let mut sheets = vec![];
    let mut room = MOST_CELLS;
    for name in names(&book) {
        let mut sheet = Sheet { name, ..Sheet::default() };
        let mut cells = book.worksheet_cells_reader(&sheet.name).map_err(fail)?;
        while let Some(cell) = cells.next_cell().map_err(fail)? {
            if !push(&mut sheet, cell.get_position(), cell.get_value(), &mut room) {
                break;
            }
        }
        drop(cells);
        // A sheet without merged cells or links may say so by an error.
        let merged = book.merge_cells_by_sheet_name(&sheet.name).unwrap_or_default();
        sheet.merged = merged.iter().map(span).collect();
        for link in book.hyperlinks_by_sheet_name(&sheet.name).unwrap_or_default() {
            let place = link.location.map(|place| format!("#{place}"));
            if let Some(target) = link.target.or(place) {
                sheet.links.insert(link.range.start, target);
            }
        }
        sheets.push(sheet);
    }
    Ok(sheets)
}

fn xlsb(bytes: &[u8]) -> Result<Vec<Sheet>, Refusal> {
    let fail = |error: calamine::XlsbError| unreadable(&error.to_string());
    let mut book: Xlsb<_> = Xlsb::new(Cursor::new(bytes.to_vec())).map_err(fail)?;
    let mut sheets = vec![];
    let mut room = MOST_CELLS;
    for name in names(&book) {
        let mut sheet = Sheet { name, ..Sheet::default() };
        let mut cells = book.worksheet_cells_reader(&sheet.name).map_err(fail)?;
        while let Some(cell) = cells.next_cell().map_err(fail)? {
            if !push(&mut sheet, cell.get_position(), cell.get_value(), &mut room) {
                break;
            }
        }
        sheets.push(sheet);
    }
    Ok(sheets)
}

/// A sheet of this old format has 16 million places at most, so it may be read whole.
fn xls(bytes: &[u8]) -> Result<Vec<Sheet>, Refusal> {
    let fail = |error: calamine::XlsError| unreadable(&error.to_string());
    let mut book: Xls<_> = Xls::new(Cursor::new(bytes.to_vec())).map_err(fail)?;
    let mut sheets = vec![];
    let mut room = MOST_CELLS;
    for name in names(&book) {
        let range = book.worksheet_range(&name).map_err(fail)?;
        let merged = book.merge_cells_by_sheet_name(&name).unwrap_or_default();
        let mut sheet =
            Sheet { merged: merged.iter().map(span).collect(), name, ..Sheet::default() };
        let (top, left) = range.start().unwrap_or_default();
        for (row, column, value) in range.used_cells() {
            let at = |start: u32, by: usize| start + u32::try_from(by).unwrap_or(u32::MAX - start);
            if !push(&mut sheet, (at(top, row), at(left, column)), &borrowed(value), &mut room) {
                break;
            }
        }
        sheets.push(sheet);
    }
    Ok(sheets)
}

fn borrowed(value: &Data) -> DataRef<'_> {
    match value {
        Data::String(text) => DataRef::SharedString(text),
        Data::Int(number) => DataRef::Int(*number),
        Data::Float(number) => DataRef::Float(*number),
        Data::Bool(value) => DataRef::Bool(*value),
        Data::DateTime(time) => DataRef::DateTime(*time),
        Data::DateTimeIso(text) => DataRef::DateTimeIso(text.clone()),
        Data::DurationIso(text) => DataRef::DurationIso(text.clone()),
        Data::Error(error) => DataRef::Error(error.clone()),
        Data::Empty => DataRef::Empty,
    }
}

/// Adds a cell; `false` when there is no more room.
fn push(
    sheet: &mut Sheet,
    (row, column): (u32, u32),
    value: &DataRef<'_>,
    room: &mut usize,
) -> bool {
    let Some(text) = shown(value) else { return true };
    sheet.cut |= *room == 0;
    if sheet.cut {
        return false;
    }
    *room -= 1;
    sheet.cells.push((row, column, text));
    true
}

fn span(dimensions: &Dimensions) -> [u32; 4] {
    [dimensions.start.0, dimensions.end.0, dimensions.start.1, dimensions.end.1]
}
