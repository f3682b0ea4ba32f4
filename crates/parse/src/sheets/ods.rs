//! ODS: the values as the file itself shows them, dates as days. Repeated rows and cells are counted,
//! not made.
use quick_xml::events::{BytesStart, Event};

use super::value::{iso, number};
use super::{MAX_CELLS, Sheet, unreadable};
use crate::container::{attribute, entity, member_text, open, refusal};
use crate::parsed::Refusal;
use crate::room::Room;

/// A value that is repeated more often is taken once: it fills a sheet and is not data.
const MAX_REPEATS: u32 = 1_000;

pub(super) fn sheets(bytes: &[u8]) -> Result<Vec<Sheet>, Refusal> {
    let content = member_text(&mut open(bytes)?, "content.xml")
        .ok_or_else(|| refusal("it has no content", "open it and save it again"))?;
    let mut reader = quick_xml::Reader::from_str(&content);
    let mut state = State::default();
    loop {
        let event = reader.read_event().map_err(|error| unreadable(&error.to_string()))?;
        match event {
            Event::Start(tag) => state.open(&tag),
            Event::Empty(tag) => {
                state.open(&tag);
                state.close(tag.local_name().as_ref());
            }
            Event::End(tag) => state.close(tag.local_name().as_ref()),
            Event::Text(text) => state.words(&text),
            Event::GeneralRef(name) => state.words(&entity(&name)),
            Event::CData(text) => state.words(&text),
            Event::Eof => return Ok(state.sheets),
            _ => {}
        }
    }
}

#[derive(Default)]
struct State {
    sheets: Vec<Sheet>,
    total: usize,
    room: Room,
    row: u32,
    row_repeats: u32,
    /// Where the cells of this row begin among those of the sheet.
    row_start: usize,
    column: u32,
    cell: Option<Cell>,
    /// Comments on cells are no values.
    notes: usize,
}

struct Cell {
    text: String,
    /// What its attributes state, for a cell that shows no text.
    value: Option<String>,
    is_date: bool,
    repeats: u32,
    spans: (u32, u32),
    link: Option<String>,
}

/// The value of a cell as its attributes state it, in the form in which a sheet shows it.
fn value(cell: &BytesStart<'_>) -> Option<String> {
    let kind = attribute(cell, "value-type")?;
    let value = attribute(cell, &format!("{kind}-value")).or_else(|| attribute(cell, "value"))?;
    Some(match kind.as_str() {
        "percentage" => format!("{}%", number(value.parse::<f64>().ok()? * 100.0)),
        "currency" => format!("{value} {}", attribute(cell, "currency").unwrap_or_default()),
        "boolean" => value.to_uppercase(),
        "date" | "time" => iso(&value),
        _ => value,
    })
}

/// `of:=[.B2]+[.B3]` as a spreadsheet shows it.
fn formula(cell: &BytesStart<'_>) -> Option<String> {
    let formula = attribute(cell, "formula")?;
    let formula = formula.split_once(":=").map_or(formula.as_str(), |(_, rest)| rest);
    Some(format!("={}", formula.replace("[.", "").replace(":.", ":").replace(['[', ']'], "")))
}

impl State {
    fn open(&mut self, tag: &BytesStart<'_>) {
        let number = |name: &str| attribute(tag, name).and_then(|value| value.parse::<u32>().ok());
        match tag.local_name().as_ref() {
            "table" => {
                let name = attribute(tag, "name").unwrap_or_default();
                self.sheets.push(Sheet { name, ..Sheet::default() });
                self.row = 0;
            }
            "table-row" => {
                self.row_repeats = number("number-rows-repeated").unwrap_or(1).max(1);
                self.row_start = self.sheets.last().map_or(0, |sheet| sheet.cells.len());
                self.column = 0;
            }
            "table-cell" | "covered-table-cell" => {
                let repeats = number("number-columns-repeated").unwrap_or(1).max(1);
                let spans = |name| number(name).unwrap_or(1).max(1);
                let spans = (spans("number-rows-spanned"), spans("number-columns-spanned"));
                let (text, is_date) = (String::new(), attribute(tag, "date-value").is_some());
                let value = value(tag).or_else(|| formula(tag));
                self.cell = Some(Cell { text, value, is_date, repeats, spans, link: None });
            }
            "annotation" => self.notes += 1,
            "a" => {
                if let Some(cell) = &mut self.cell {
                    cell.link = attribute(tag, "href");
                }
            }
            "p" | "line-break" => self.words("\n"),
            "s" | "tab" => self.words(" "),
            _ => {}
        }
    }

    fn words(&mut self, words: &str) {
        if let Some(cell) = self.cell.as_mut().filter(|_| self.notes == 0) {
            cell.text.push_str(words);
        }
    }

    fn close(&mut self, name: &str) {
        match name {
            "annotation" => self.notes = self.notes.saturating_sub(1),
            "table-cell" | "covered-table-cell" => self.end_cell(),
            "table-row" => self.end_row(),
            _ => {}
        }
    }

    fn end_cell(&mut self) {
        let (Some(cell), Some(sheet)) = (self.cell.take(), self.sheets.last_mut()) else { return };
        let shows = !cell.text.trim().is_empty() && !cell.is_date;
        let value = cell.value.filter(|_| !shows).unwrap_or(cell.text);
        let text = value.trim();
        sheet.uncomputed += usize::from(!shows && text.starts_with('='));
        let (row, column) = (self.row, self.column);
        self.column = column.saturating_add(cell.repeats);
        if text.is_empty() {
            return;
        }
        let times = if cell.repeats > MAX_REPEATS { 1 } else { cell.repeats };
        for by in 0..times {
            if self.total >= MAX_CELLS || !self.room.take_bytes(text.len()) {
                sheet.cut = true;
                return;
            }
            self.total += 1;
            sheet.cells.push((row, column.saturating_add(by), text.to_owned()));
        }
        let (rows, columns) = cell.spans;
        if rows > 1 || columns > 1 {
            let last = |first: u32, count: u32| first.saturating_add(count - 1);
            sheet.merged.push([row, last(row, rows), column, last(column, columns)]);
        }
        sheet.links.extend(cell.link.map(|link| ((row, column), link)));
    }

    /// Writes a repeated row as often as it is there.
    fn end_row(&mut self) {
        let Some(sheet) = self.sheets.last_mut() else { return };
        let cells = sheet.cells[self.row_start.min(sheet.cells.len())..].to_vec();
        let times = if self.row_repeats > MAX_REPEATS { 1 } else { self.row_repeats };
        let bytes = cells.iter().map(|(_, _, text)| text.len()).sum();
        for by in 1..times {
            if self.total + cells.len() > MAX_CELLS || !self.room.take_bytes(bytes) {
                sheet.cut = true;
                break;
            }
            self.total += cells.len();
            sheet.cells.extend(
                cells
                    .iter()
                    .map(|(row, column, text)| (row.saturating_add(by), *column, text.clone())),
            );
        }
        self.row = self.row.saturating_add(self.row_repeats);
    }
}
