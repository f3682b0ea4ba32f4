//! XLSX, XLSB and XLS, cell by cell: a single value in the last cell of a sheet must not make room
//! for seventeen billion.
use std::collections::HashSet;
use std::io::Cursor;

use calamine::{CellType, Data, DataRef, Dimensions, Range, Reader, SheetType, Xls, Xlsb, Xlsx};

use super::value::shown;
use super::{MAX_CELLS, Sheet, unreadable};
use crate::detect::Format;
use crate::parsed::Refusal;
use crate::room::Room;

pub(super) fn sheets(format: Format, bytes: &[u8]) -> Result<Vec<Sheet>, Refusal> {
    match format {
        Format::Xlsx => xlsx(bytes),
        Format::Xlsb => xlsb(bytes),
        _ => xls(bytes),
    }
}

/// The names of the sheets that have cells; the others are put among the sheets that are read.
fn names<R: Reader<Cursor<Vec<u8>>>>(book: &R, sheets: &mut Vec<Sheet>) -> Vec<String> {
    let mut names = vec![];
    for sheet in book.sheets_metadata() {
        let name = sheet.name.clone();
        let kind = match sheet.typ {
            SheetType::WorkSheet => {
                names.push(name);
                continue;
            }
            SheetType::ChartSheet => "chart",
            SheetType::DialogSheet => "dialog",
            SheetType::MacroSheet | SheetType::Vba => "macro",
        };
        sheets.push(Sheet { name, kind: Some(kind), ..Sheet::default() });
    }
    names
}

fn fail(error: impl std::fmt::Display) -> Refusal {
    unreadable(&error.to_string())
}

fn xlsx(bytes: &[u8]) -> Result<Vec<Sheet>, Refusal> {
    let mut book: Xlsx<_> = Xlsx::new(Cursor::new(bytes.to_vec())).map_err(fail)?;
    let mut cells = Cells::default();
    let mut sheets = vec![];
    for name in names(&book, &mut sheets) {
        let mut uncomputed = HashSet::new();
        let mut reader = book.worksheet_cells_reader(&name).map_err(fail)?;
        let mut sheet = cells.read(name, || {
            let Some(cell) = reader.next_cell_with_formula_metadata().map_err(fail)? else {
                return Ok(None);
            };
            if cell.formula.is_some() && cell.value == DataRef::Empty {
                uncomputed.insert(cell.pos);
            }
            Ok(Some((cell.pos, cell.value)))
        })?;
        drop(reader);
        if !uncomputed.is_empty() {
            let mut reader = book.worksheet_cells_reader(&sheet.name).map_err(fail)?;
            cells.read_formulas(&mut sheet, || {
                let mut formulas = std::iter::from_fn(|| reader.next_formula().ok().flatten());
                let cell = formulas.find(|cell| uncomputed.contains(&cell.get_position()))?;
                Some((cell.get_position(), cell.get_value().clone()))
            })?;
        }
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
    for name in names(&book, &mut sheets) {
        let mut reader = book.worksheet_cells_reader(&name).map_err(fail)?;
        sheets.push(cells.read(name, || {
            Ok(reader.next_cell().map_err(fail)?.map(|c| (c.get_position(), c.get_value().clone())))
        })?);
    }
    Ok(sheets)
}

/// A sheet of this old format has 16 million places at most, so it may be read whole.
fn xls(bytes: &[u8]) -> Result<Vec<Sheet>, Refusal> {
    let bytes = super::biff::workbook(bytes).unwrap_or_else(|| bytes.to_vec());
    let mut book: Xls<_> = Xls::new(Cursor::new(bytes)).map_err(fail)?;
    let mut cells = Cells::default();
    let mut sheets = vec![];
    for name in names(&book, &mut sheets) {
        let range = book.worksheet_range(&name).map_err(fail)?;
        let formulas = book.worksheet_formula(&name).map_err(fail)?;
        let merged = book.merge_cells_by_sheet_name(&name).unwrap_or_default();
        let mut used = places(&range).map(|(place, value)| (place, borrowed(value)));
        let mut sheet = cells.read(name, || Ok(used.next()))?;
        // Programs that compute nothing store an empty text as each result.
        let has_result =
            |place| range.get_value(place).is_some_and(|value| shown(&borrowed(value)).is_some());
        if !places(&formulas).any(|(place, _)| has_result(place)) {
            let mut formulas = places(&formulas).map(|(place, text)| (place, text.clone()));
            cells.read_formulas(&mut sheet, || formulas.next())?;
        }
        sheet.merged = merged.iter().map(span).collect();
        sheets.push(sheet);
    }
    Ok(sheets)
}

/// The cells of a range that are not empty, by row and column.
fn places<T: CellType>(range: &Range<T>) -> impl Iterator<Item = ((u32, u32), &T)> {
    let (top, left) = range.start().unwrap_or_default();
    let at = |start: u32, by: usize| start.saturating_add(u32::try_from(by).unwrap_or(u32::MAX));
    range.used_cells().map(move |(row, column, value)| ((at(top, row), at(left, column)), value))
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

    /// Formulas that have no result, as `next` gives them without their `=`.
    fn read_formulas(
        &mut self,
        sheet: &mut Sheet,
        mut next: impl FnMut() -> Option<((u32, u32), String)>,
    ) -> Result<(), Refusal> {
        let formulas = self.read(String::new(), || {
            Ok(next().map(|(place, formula)| (place, DataRef::String(format!("={formula}")))))
        })?;
        sheet.uncomputed = formulas.cells.len();
        sheet.cells.extend(formulas.cells);
        sheet.cut |= formulas.cut;
        Ok(())
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
