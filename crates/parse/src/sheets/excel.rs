//! XLSX, XLSB and XLS, cell by cell: a single value in the last cell of a sheet must not make room
//! for seventeen billion.
use std::io::{Cursor, Read as _, Write as _};

use calamine::{
    CellType, DataType, Dimensions, Range, Reader, SheetType, Xls, Xlsb, Xlsx,
    XlsxFormulaMetadata as Formula,
};
use cfb::{CompoundFile, Version};

use super::codes::Codes;
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

/// The names of the sheets that have cells; the others are put among the sheets that are read.
fn names<R: Reader<Cursor<Vec<u8>>>>(book: &R, sheets: &mut Vec<Sheet>) -> Vec<String> {
    let all = book.sheets_metadata().iter().cloned();
    let (tables, others): (Vec<_>, Vec<_>) = all.partition(|s| s.typ == SheetType::WorkSheet);
    let other = |name| Sheet { name, is_other: true, ..Sheet::default() };
    sheets.extend(others.into_iter().map(|sheet| other(sheet.name)));
    tables.into_iter().map(|sheet| sheet.name).collect()
}

fn fail(error: impl std::fmt::Display) -> Refusal {
    unreadable(&error.to_string())
}

fn xlsx(bytes: &[u8]) -> Result<Vec<Sheet>, Refusal> {
    let mut book: Xlsx<_> = Xlsx::new(Cursor::new(bytes.to_vec())).map_err(fail)?;
    let mut codes = Codes::read(bytes);
    let mut cells = Cells::default();
    let mut sheets = vec![];
    for name in names(&book, &mut sheets) {
        let mut reader = book.worksheet_cells_reader(&name).map_err(fail)?;
        let (mut uncomputed, mut zeros, mut others) = (0, 0, 0);
        let mut sheet = cells.read(name, || {
            let cell = reader.next_cell_with_formula_metadata().map_err(fail)?;
            Ok(cell.map(|cell| {
                let value = shown(&cell.value);
                let Some(formula) = cell.formula else { return (cell.pos, value) };
                if cell.value.is_empty() {
                    uncomputed += 1;
                    return (cell.pos, Some(text(formula)));
                }
                *(if value.as_deref() == Some("0") { &mut zeros } else { &mut others }) += 1;
                (cell.pos, value)
            }))
        })?;
        drop(reader);
        // XlsxWriter computes nothing, and stores 0 as each result.
        sheet.uncomputed = uncomputed + if others == 0 && zeros > 1 { zeros } else { 0 };
        if let Some(codes) = &mut codes {
            codes.apply(&mut sheet);
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

/// A formula without a result, as a spreadsheet shows it.
fn text(formula: Formula) -> String {
    match formula {
        Formula::Normal { formula } | Formula::Shared { formula, .. } => format!("={formula}"),
        // It stands in another cell and would have to be moved.
        _ => "=…".to_owned(),
    }
}

fn xlsb(bytes: &[u8]) -> Result<Vec<Sheet>, Refusal> {
    let mut book: Xlsb<_> = Xlsb::new(Cursor::new(bytes.to_vec())).map_err(fail)?;
    let mut cells = Cells::default();
    let mut sheets = vec![];
    for name in names(&book, &mut sheets) {
        let mut reader = book.worksheet_cells_reader(&name).map_err(fail)?;
        sheets.push(cells.read(name, || {
            let cell = reader.next_cell().map_err(fail)?;
            Ok(cell.map(|cell| (cell.get_position(), shown(cell.get_value()))))
        })?);
    }
    Ok(sheets)
}

/// A sheet of this old format has 16 million places at most, so it may be read whole.
fn xls(bytes: &[u8]) -> Result<Vec<Sheet>, Refusal> {
    let bytes = workbook(bytes).unwrap_or_else(|| bytes.to_vec());
    let mut book: Xls<_> = Xls::new(Cursor::new(bytes)).map_err(fail)?;
    let mut cells = Cells::default();
    let mut sheets = vec![];
    for name in names(&book, &mut sheets) {
        let range = book.worksheet_range(&name).map_err(fail)?;
        let formulas = book.worksheet_formula(&name).map_err(fail)?;
        let merged = book.merge_cells_by_sheet_name(&name).unwrap_or_default();
        // Programs that compute nothing store an empty text as each result.
        let result = |place| range.get_value(place).and_then(shown);
        let computed = places(&formulas).any(|(place, _)| result(place).is_some());
        let mut used = places(&range).map(|(place, value)| (place, shown(value)));
        let mut sheet = cells.read(name, || Ok(used.next()))?;
        sheet.uncomputed = if computed { 0 } else { formulas.used_cells().count() };
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

/// Types of records (MS-XLS 2.3): the begin and end of a substream, and the size of a sheet.
const BEGIN: u16 = 0x0809;
const END: u16 = 0x000a;
const DIMENSIONS: u16 = 0x0200;

/// An old workbook as the only stream of a compound file, however its name is written. Of what charts
/// in its sheets store, the types of records are blanked: their numbers would overwrite cells. So is
/// what a sheet says of its size, for which room would be made.
fn workbook(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut file = CompoundFile::open(Cursor::new(bytes)).ok()?;
    let name = ["/Workbook", "/Book"].into_iter().find(|name| file.is_stream(name))?;
    let mut stream = vec![];
    file.open_stream(name).ok()?.take(bytes.len() as u64).read_to_end(&mut stream).ok()?;
    let (mut at, mut depth) = (0, 0_usize);
    while let Some(&[a, b, c, d]) = stream.get(at..).and_then(|rest| rest.first_chunk()) {
        let (kind, length) = (u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d]));
        depth += usize::from(kind == BEGIN);
        if depth > 1 || kind == DIMENSIONS {
            stream[at..at + 2].fill(0xff);
        }
        depth -= usize::from(kind == END && depth > 0);
        at += 4 + usize::from(length);
    }
    let single = Cursor::new(vec![]);
    let mut single = CompoundFile::create_with_version(Version::V3, single).ok()?;
    single.create_stream("/Workbook").ok()?.write_all(&stream).ok()?;
    Some(single.into_inner().into_inner())
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
    fn read(
        &mut self,
        name: String,
        mut next: impl FnMut() -> Result<Option<((u32, u32), Option<String>)>, Refusal>,
    ) -> Result<Sheet, Refusal> {
        let mut sheet = Sheet { name, ..Sheet::default() };
        while let Some(((row, column), value)) = next()? {
            let Some(text) = value else { continue };
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

fn span(dimensions: &Dimensions) -> [u32; 4] {
    [dimensions.start.0, dimensions.end.0, dimensions.start.1, dimensions.end.1]
}
