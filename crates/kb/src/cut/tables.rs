//! The tables and figures of a document as the store holds them: typed columns, rows that know
//! which chunk holds them.
use halma_parse::{Parsed, Table};

use crate::store::{Column, FigureDraft, Outline, Places, RowDraft, TableDraft};
use crate::values::kind_of;

/// Adds tables and figures to sections and chunks; `owns` is where each chunk's own part begins.
pub(super) fn add(parsed: &Parsed, places: &Places<'_>, owns: &[usize], outline: &mut Outline) {
    if outline.sections.is_empty() || owns.is_empty() {
        return;
    }
    let sections: Vec<usize> =
        outline.sections.iter().map(|section| section.place.bytes.0).collect();
    let last = |starts: &[usize], byte: usize| {
        starts.partition_point(|start| *start <= byte).saturating_sub(1)
    };
    let section = |byte: usize| last(&sections, byte);
    let chunk = |byte: usize| last(owns, byte);
    for table in &parsed.tables {
        let mut rows = vec![];
        for row in &table.rows {
            let range = within(parsed, &row.range);
            let chunk = chunk(range.start);
            rows.push(RowDraft { chunk, place: places.of(&range), cells: row.cells.clone() });
        }
        let range = within(parsed, &table.range);
        outline.tables.push(TableDraft {
            section: section(range.start),
            place: places.of(&range),
            caption: trimmed(table.caption.as_deref()),
            columns: columns(table),
            rows,
            page: table.page,
            merged: table.merged.iter().map(merged).collect(),
        });
    }
    for figure in &parsed.figures {
        let range = within(parsed, &figure.range);
        outline.figures.push(FigureDraft {
            section: section(range.start),
            place: places.of(&range),
            caption: trimmed(figure.caption.as_deref()),
            description: trimmed(figure.description.as_deref()),
            page: figure.page,
        });
    }
}

/// One column for each cell of the widest row, and what all its values are.
fn columns(table: &Table) -> Vec<Column> {
    let widest = table.rows.iter().map(|row| row.cells.len()).max().unwrap_or(0);
    let column = |i: usize| Column {
        name: table.columns.get(i).map(|name| name.trim().to_owned()).unwrap_or_default(),
        kind: kind_of(&table.rows.iter().filter_map(|row| row.cells.get(i).map(String::as_str))),
    };
    (0..widest.max(table.columns.len())).map(column).collect()
}

fn merged(merged: &halma_parse::Merged) -> (u32, u32, u32, u32) {
    let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    (number(merged.row), number(merged.column), number(merged.rows), number(merged.columns))
}

fn trimmed(text: Option<&str>) -> Option<String> {
    text.map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
}

/// A range that is surely one of the text.
fn within(parsed: &Parsed, range: &std::ops::Range<usize>) -> std::ops::Range<usize> {
    let text = &parsed.text;
    let start = text.floor_char_boundary(range.start);
    start..text.floor_char_boundary(range.end).max(start)
}
