//! Tables of HTML pages: their own rows and cells, without those of tables inside.
use std::ops::Range;

use super::tree::{Id, ROOT, Tree};
use super::words::gather;
use crate::parsed::{BlockKind, Parsed, Table, TableRow};
use crate::writer::grid::{Cell, Grid};

/// Whether it is there to arrange a page, not to hold data: it says so, it has a single place, or
/// it holds tables and names no columns.
pub(super) fn is_layout(tree: &Tree, table: Id) -> bool {
    let role = tree.attribute(table, "role");
    if role.is_some_and(|role| matches!(role, "presentation" | "none")) {
        return true;
    }
    let rows = rows(tree, table);
    let cells = rows.iter().map(|(row, _)| cells(tree, *row).count()).sum::<usize>();
    if cells <= 1 {
        return true;
    }
    let named = rows.iter().any(|(row, _)| cells_named(tree, *row));
    !named && tree.descendants(table).any(|id| tree.name(id) == "table")
}

fn cells_named(tree: &Tree, row: Id) -> bool {
    cells(tree, row).any(|cell| tree.name(cell) == "th")
}

/// The tables inside the cells of a table.
pub(super) fn inner(tree: &Tree, table: Id) -> Vec<Id> {
    tree.descendants(table).filter(|id| tree.name(*id) == "table").collect()
}

pub(super) fn grid(tree: &Tree, table: Id, caption: Option<String>) -> Grid {
    let rows = rows(tree, table);
    let head = rows.iter().take_while(|(_, head)| *head).count();
    let row =
        |(row, _): &(Id, bool)| cells(tree, *row).map(|cell| self::cell(tree, cell)).collect();
    let inner_caption = tree.children(table).iter().find(|id| tree.name(**id) == "caption");
    let inner_caption = inner_caption.map(|caption| gather(tree, *caption).on_one_line().text);
    let caption = inner_caption.filter(|words| !words.is_empty()).or(caption);
    let header_rows = (head > 0 && head < rows.len()).then_some(head);
    Grid { caption, rows: rows.iter().map(row).collect(), header_rows }
}

/// The rows in the order they are shown, each with whether it is in the head.
fn rows(tree: &Tree, table: Id) -> Vec<(Id, bool)> {
    let (mut head, mut body, mut foot) = (vec![], vec![], vec![]);
    for &child in tree.children(table) {
        let rows = || tree.children(child).iter().copied().filter(|id| tree.name(*id) == "tr");
        match tree.name(child) {
            "thead" => head.extend(rows().map(|row| (row, true))),
            "tbody" => body.extend(rows().map(|row| (row, false))),
            "tfoot" => foot.extend(rows().map(|row| (row, false))),
            "tr" => body.push((child, false)),
            _ => {}
        }
    }
    head.into_iter().chain(body).chain(foot).collect()
}

pub(super) fn cells(tree: &Tree, row: Id) -> impl Iterator<Item = Id> {
    tree.children(row).iter().copied().filter(|id| matches!(tree.name(*id), "td" | "th"))
}

fn cell(tree: &Tree, cell: Id) -> Cell {
    let span = |name: &str| tree.attribute(cell, name).and_then(|span| span.trim().parse().ok());
    // A row span of 0 goes to the end.
    let rows = span("rowspan").map_or(1, |rows: usize| if rows == 0 { usize::MAX } else { rows });
    Cell {
        content: gather(tree, cell),
        rows,
        columns: span("colspan").unwrap_or(1),
        header: tree.name(cell) == "th",
    }
}

/// Makes tables of the paragraphs of a Markdown text that are tables in HTML.
pub(crate) fn tables_in(text: &str, parsed: &mut Parsed) {
    for index in 0..parsed.blocks.len() {
        let block = &parsed.blocks[index];
        let words = &text[block.range.clone()];
        if block.kind != BlockKind::Paragraph || !words.starts_with("<table") {
            continue;
        }
        if let Some(table) = table_at(words, &block.range) {
            parsed.blocks[index].kind = BlockKind::Table(parsed.tables.len());
            parsed.tables.push(table);
        }
    }
    in_order(parsed);
}

/// The table that is all of `words`; `None` where rows and their places cannot be matched.
fn table_at(words: &str, range: &Range<usize>) -> Option<Table> {
    let lower = words.to_ascii_lowercase();
    if lower.matches("<table").count() != 1 || !lower.ends_with("</table>") {
        return None;
    }
    let tree = Tree::parse(words, false);
    let table = tree.descendants(ROOT).find(|id| tree.name(*id) == "table")?;
    let grid = grid(&tree, table, None);
    let starts: Vec<usize> = lower.match_indices("<tr").map(|(at, _)| at).collect();
    if grid.is_empty() || starts.len() != grid.rows.len() || lower.contains("<tfoot") {
        return None;
    }
    let placed = grid.place(crate::room::MAX_PLACES);
    let mut rows = vec![];
    for (row, places) in placed.places.iter().enumerate().skip(placed.header_rows) {
        let next = starts.get(row + 1).copied().unwrap_or(words.len());
        let row = &lower[starts[row]..next];
        let length = row.find("</tr>").map_or(row.trim_end().len(), |at| at + 5);
        let start = range.start + (next - row.len());
        rows.push(TableRow {
            range: start..start + length,
            cells: grid.values(places, placed.width),
        });
    }
    let columns = grid.columns(&placed);
    Some(Table {
        range: range.clone(),
        caption: grid.caption,
        columns,
        rows,
        merged: placed.merged,
        page: None,
    })
}

/// Sorts the tables by their places.
fn in_order(parsed: &mut Parsed) {
    let mut order: Vec<usize> = (0..parsed.tables.len()).collect();
    order.sort_by_key(|index| parsed.tables[*index].range.start);
    for block in &mut parsed.blocks {
        if let BlockKind::Table(table) = &mut block.kind {
            *table = order.iter().position(|old| old == table).unwrap_or(*table);
        }
    }
    parsed.tables.sort_by_key(|table| table.range.start);
}
