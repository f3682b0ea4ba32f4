//! XLSX, XLSB and XLS, cell by cell: a single value in the last cell of a sheet must not make room
//! for seventeen billion.
use std::io::Cursor;

use calamine::{Data, DataRef, Dimensions, Reader, SheetType, Xls, Xlsb, Xlsx};

use super::value::shown;
use super::{MAX_CELLS, Sheet, unreadable};
use crate::detect::Format;
use crate::office;
use crate::parsed::Refusal;
use crate::room::Room;

pub(super) fn sheets(format: Format, bytes: &[u8]) -> Result<Vec<Sheet>, Refusal> {
    let renamed = office::renamed_workbook(bytes);
    let bytes = renamed.as_deref().unwrap_or(bytes);
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

fn fail(error: impl std::fmt::Display) -> Refusal {
    unreadable(&error.to_string())
}

fn xlsx(bytes: &[u8]) -> Result<Vec<Sheet>, Refusal> {
    let mut book: Xlsx<_> = Xlsx::new(Cursor::new(bytes.to_vec())).map_err(fail)?;
    let mut cells = Cells::default();
    let mut sheets = vec![];
    for name in names(&book) {
        let mut reader = book.worksheet_cells_reader(&name).map_err(fail)?;
        let mut sheet = cells.read(name, || {
            Ok(reader.next_cell().map_err(fail)?.map(|c| (c.get_position(), c.get_value().clone())))
        })?;
        drop(reader);
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
    let mut book: Xlsb<_> = Xlsb::new(Cursor::new(bytes.to_vec())).map_err(fail)?;
    let mut cells = Cells::default();
    let mut sheets = vec![];
    for name in names(&book) {
        let mut reader = book.worksheet_cells_reader(&name).map_err(fail)?;
        sheets.push(cells.read(name, || {
            Ok(reader.next_cell().map_err(fail)?.map(|c| (c.get_position(), c.get_value().clone())))
        })?);
    }
    Ok(sheets)
}

/// A sheet of this old format has 16 million places at most, so it may be read whole.
fn xls(bytes: &[u8]) -> Result<Vec<Sheet>, Refusal> {
    let mut book: Xls<_> = Xls::new(Cursor::new(bytes.to_vec())).map_err(fail)?;
    let mut cells = Cells::default();
    let mut sheets = vec![];
    for name in names(&book) {
        let range = book.worksheet_range(&name).map_err(fail)?;
        let merged = book.merge_cells_by_sheet_name(&name).unwrap_or_default();
        let (top, left) = range.start().unwrap_or_default();
        let at = |start: u32, by: usize| start + u32::try_from(by).unwrap_or(u32::MAX - start);
        let place = |(row, column, value)| ((at(top, row), at(left, column)), borrowed(value));
        let mut used = range.used_cells().map(place);
        let mut sheet = cells.read(name, || Ok(used.next()))?;
        sheet.merged = merged.iter().map(span).collect();
        sheets.push(sheet);
    }
    Ok(sheets)
}

/// Counts the cells of a file.
struct Cells {
    /// How many more are read.
    left: usize,
    /// A text that many cells share is in the file once.
    room: Room,
}

impl Default for Cells {
    fn default() -> Self {
        Self { left: MAX_CELLS, room: Room::default() }
    }
}

impl Cells {
    /// The cells that have a value, as `next` gives them: row and column, value.
    fn read<'a>(
        &mut self,
        name: String,
        mut next: impl FnMut() -> Result<Option<((u32, u32), DataRef<'a>)>, Refusal>,
    ) -> Result<Sheet, Refusal> {
        let mut sheet = Sheet { name, ..Sheet::default() };
        while let Some(((row, column), value)) = next()? {
            let Some(text) = shown(&value) else { continue };
            if self.left == 0 || !self.room.take_bytes(text.len()) {
                sheet.cut = true;
                break;
            }
            self.left -= 1;
            sheet.cells.push((row, column, text));
        }
        Ok(sheet)
    }
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

fn span(dimensions: &Dimensions) -> [u32; 4] {
    [dimensions.start.0, dimensions.end.0, dimensions.start.1, dimensions.end.1]
}
