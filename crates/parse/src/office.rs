//! Tables of DOCX, PPTX and ODT, read from their XML: xberg gives their words, but not which cells
//! are merged, which rows are the header, and which tables lie inside cells.
use quick_xml::events::{BytesStart, Event};

use crate::container::{Archive, member_text};
use crate::detect::Format;
use crate::grid::{Cell, Grid};
use crate::inline::Inline;

/// A table with the tables inside its cells.
#[derive(Debug, Default)]
pub(crate) struct OfficeTable {
    pub(crate) grid: Grid,
    /// Whether all that it holds is other tables or a frame around a text.
    pub(crate) inner: Vec<OfficeTable>,
    /// The continued parts of vertically merged cells, until the table is done: row, column.
    continued: Vec<(usize, usize)>,
    columns: Vec<Vec<usize>>,
    column: usize,
    header_rows: usize,
    in_header: bool,
}

/// The tables of the document in reading order; those of later slides after those of earlier ones.
pub(crate) fn tables(format: Format, archive: &mut Archive<'_>) -> Vec<OfficeTable> {
    let parts = match format {
        Format::Docx => vec!["word/document.xml".to_owned()],
        Format::Odt | Format::Odp => vec!["content.xml".to_owned()],
        Format::Pptx => slides(archive),
        _ => vec![],
    };
    let mut tables = vec![];
    for part in parts {
        if let Some(xml) = member_text(archive, &part) {
            tables.extend(tables_of(&xml));
        }
    }
    tables
}

/// The slides in the order in which they are shown.
fn slides(archive: &mut Archive<'_>) -> Vec<String> {
    let mut part = |name| member_text(archive, name).unwrap_or_default();
    let order = part("ppt/presentation.xml");
    let targets = part("ppt/_rels/presentation.xml.rels");
    let mut by_id = std::collections::HashMap::new();
    each_tag(&targets, |tag| {
        if tag.local_name().as_ref() == "Relationship"
            && let (Some(id), Some(target)) = (attribute(tag, "Id"), attribute(tag, "Target"))
        {
            by_id.insert(id, target);
        }
    });
    let mut slides = vec![];
    each_tag(&order, |tag| {
        if tag.local_name().as_ref() == "sldId" {
            // `r:id`, not `id`.
            let id = tag.attributes().flatten().find(|a| a.key.as_ref() == "r:id");
            let id = id.map(|id| id.value.into_owned());
            if let Some(target) = id.and_then(|id| by_id.get(&id)) {
                slides.push(format!("ppt/{}", target.trim_start_matches("/ppt/")));
            }
        }
    });
    slides
}

fn each_tag(xml: &str, mut visit: impl FnMut(&BytesStart<'_>)) {
    let mut reader = quick_xml::Reader::from_str(xml);
    loop {
        match reader.read_event() {
            Ok(Event::Start(tag) | Event::Empty(tag)) => visit(&tag),
            // What follows a mistake is not looked at; xberg judges the file.
            Ok(Event::Eof) | Err(_) => return,
            Ok(_) => {}
        }
    }
}

fn tables_of(xml: &str) -> Vec<OfficeTable> {
    let mut reader = quick_xml::Reader::from_str(xml);
    let mut scan = Scan::default();
    loop {
        match reader.read_event() {
            Ok(Event::Start(tag)) => scan.open(&tag),
            Ok(Event::Empty(tag)) => {
                scan.open(&tag);
                scan.close(tag.local_name().as_ref());
            }
            Ok(Event::End(tag)) => scan.close(tag.local_name().as_ref()),
            Ok(Event::Text(text)) => scan.words(&text),
            Ok(Event::GeneralRef(name)) => scan.words(&entity(&name)),
            Ok(Event::Eof) | Err(_) => return scan.done,
            Ok(_) => {}
        }
    }
}

#[derive(Default)]
struct Scan {
    done: Vec<OfficeTable>,
    open: Vec<OfficeTable>,
    cells: Vec<Option<OpenCell>>,
    /// Open elements whose inside is there twice or was deleted.
    skipped: usize,
    /// Open elements whose text counts.
    text: usize,
}

#[derive(Default)]
struct OpenCell {
    words: String,
    rows: usize,
    columns: usize,
    continued: bool,
    /// Part of a cell to the left, which says itself how far it goes.
    beside: bool,
}

impl Scan {
    fn open(&mut self, tag: &BytesStart<'_>) {
        let name = tag.local_name();
        let name = name.as_ref();
        if matches!(name, "Fallback" | "del" | "instrText" | "annotation") {
            self.skipped += 1;
        }
        if self.skipped > 0 {
            return;
        }
        match name {
            "tbl" | "table" if is_table(tag) => {
                self.open.push(OfficeTable::default());
                self.cells.push(None);
            }
            "tr" | "table-row" => {
                if let Some(table) = self.open.last_mut() {
                    table.grid.rows.push(vec![]);
                    table.columns.push(vec![]);
                    table.column = 0;
                    table.header_rows += usize::from(table.in_header);
                }
            }
            "table-header-rows" => self.header(true),
            "tblHeader" => self.header_row(tag),
            "tc" | "table-cell" | "covered-table-cell" => self.open_cell(tag, name),
            "gridSpan" => {
                let span = attribute(tag, "val").and_then(|val| val.parse().ok());
                self.cell(|cell| cell.columns = span.unwrap_or(1));
            }
            "vMerge" => {
                let starts = attribute(tag, "val").is_some_and(|val| val == "restart");
                self.cell(|cell| cell.continued = !starts);
            }
            "t" | "span" | "h" => self.text += 1,
            "p" => {
                self.cell(|cell| cell.words.push('\n'));
                self.text += 1;
            }
            "br" | "line-break" => self.cell(|cell| cell.words.push('\n')),
            "tab" | "s" => self.cell(|cell| cell.words.push(' ')),
            _ => {}
        }
    }

    fn header(&mut self, is: bool) {
        if let Some(table) = self.open.last_mut() {
            table.in_header = is;
        }
    }

    /// DOCX marks each row of the header; those further down do not count.
    fn header_row(&mut self, tag: &BytesStart<'_>) {
        let off =
            attribute(tag, "val").is_some_and(|val| matches!(val.as_str(), "0" | "false" | "off"));
        if let Some(table) = self.open.last_mut()
            && !off
            && table.header_rows + 1 == table.grid.rows.len()
        {
            table.header_rows += 1;
        }
    }

    fn open_cell(&mut self, tag: &BytesStart<'_>, name: &str) {
        let number = |name: &str| attribute(tag, name).and_then(|value| value.parse().ok());
        let yes = |name| attribute(tag, name).is_some_and(|v| matches!(v.as_str(), "1" | "true"));
        let columns = number("gridSpan").or(number("number-columns-spanned")).unwrap_or(1);
        let rows = number("rowSpan").or(number("number-rows-spanned")).unwrap_or(1);
        let beside = name == "covered-table-cell" || yes("hMerge") || yes("vMerge");
        if let Some(cell) = self.cells.last_mut() {
            *cell = Some(OpenCell { rows, columns, beside, ..OpenCell::default() });
        }
    }

    fn cell(&mut self, change: impl FnOnce(&mut OpenCell)) {
        if let Some(Some(cell)) = self.cells.last_mut() {
            change(cell);
        }
    }

    fn words(&mut self, words: &str) {
        if self.text > 0 && self.skipped == 0 {
            self.cell(|cell| cell.words.push_str(words));
        }
    }

    fn close(&mut self, name: &str) {
        if matches!(name, "Fallback" | "del" | "instrText" | "annotation") {
            self.skipped = self.skipped.saturating_sub(1);
            return;
        }
        if self.skipped > 0 {
            return;
        }
        match name {
            "t" | "span" | "h" | "p" => self.text = self.text.saturating_sub(1),
            "tc" | "table-cell" | "covered-table-cell" => {
                let cell = self.cells.last_mut().and_then(Option::take);
                if let (Some(cell), Some(table)) = (cell, self.open.last_mut()) {
                    table.end_cell(&cell);
                }
            }
            "table-header-rows" => self.header(false),
            "tbl" | "table" => self.close_table(),
            _ => {}
        }
    }

    fn close_table(&mut self) {
        let Some(mut table) = self.open.pop() else { return };
        self.cells.pop();
        table.join();
        let words = table.grid.rows.iter().flatten().map(|cell| cell.content.text.as_str());
        let words = words.collect::<Vec<_>>().join(" ");
        match self.open.last_mut() {
            Some(outer) => {
                self.cells.last_mut().into_iter().flatten().for_each(|cell| {
                    cell.words.push('\n');
                    cell.words.push_str(&words);
                });
                outer.inner.push(table);
            }
            None => self.done.push(table),
        }
    }
}

/// Charts and drawings have elements of the same names.
fn is_table(tag: &BytesStart<'_>) -> bool {
    matches!(tag.name().as_ref(), "w:tbl" | "a:tbl" | "table:table")
}

impl OfficeTable {
    fn end_cell(&mut self, cell: &OpenCell) {
        let (Some(row), Some(columns)) = (self.grid.rows.last_mut(), self.columns.last_mut())
        else {
            return;
        };
        if cell.beside {
            return;
        }
        let width = cell.columns.clamp(1, 1_000);
        if cell.continued {
            self.continued.push((self.columns.len() - 1, self.column));
        } else {
            columns.push(self.column);
            row.push(Cell {
                content: Inline::lines(&cell.words),
                rows: cell.rows.max(1),
                columns: width,
                header: false,
            });
        }
        self.column += width;
    }

    /// Adds the continued parts of DOCX cells to the cells above, and tells the header.
    fn join(&mut self) {
        for (row, column) in std::mem::take(&mut self.continued) {
            let above = (0..row).rev().find_map(|above| {
                let cell = self.columns[above].iter().position(|at| *at == column)?;
                Some((above, cell))
            });
            if let Some((above, cell)) = above {
                self.grid.rows[above][cell].rows = row - above + 1;
            }
        }
        let below = self.header_rows < self.grid.rows.len();
        self.grid.header_rows = (self.header_rows > 0 && below).then_some(self.header_rows);
    }
}

/// An attribute by its local name.
pub(crate) fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let found = tag.attributes().flatten().find(|a| a.key.local_name().as_ref() == name)?;
    let value = found.value.into_owned();
    if !value.contains('&') {
        return Some(value);
    }
    quick_xml::escape::unescape(&value).ok().map(std::borrow::Cow::into_owned)
}

/// What `&name;` stands for.
pub(crate) fn entity(name: &str) -> String {
    let escaped = format!("&{name};");
    quick_xml::escape::unescape(&escaped).map(std::borrow::Cow::into_owned).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(table: &OfficeTable) -> Vec<String> {
        let placed = table.grid.place();
        let row = |places: &Vec<_>| table.grid.values(places, placed.width).join("|");
        placed.places.iter().map(row).collect()
    }

    #[test]
    fn word_continues_cells_below_and_widens_them() {
        let xml = "<w:tbl><w:tr><w:trPr><w:tblHeader/></w:trPr><w:tc><w:p><w:r><w:t>A &amp; B</w:t></w:r></w:p>\
            </w:tc><w:tc><w:tcPr><w:gridSpan w:val='2'/></w:tcPr><w:p><w:t>C</w:t></w:p></w:tc></w:tr>\
            <w:tr><w:tc><w:tcPr><w:vMerge w:val='restart'/></w:tcPr><w:p><w:t>d</w:t></w:p></w:tc>\
            <w:tc><w:p><w:t>e</w:t></w:p><w:p><w:t>f</w:t></w:p></w:tc><w:tc><w:p><w:t>g</w:t></w:p></w:tc></w:tr>\
            <w:tr><w:tc><w:tcPr><w:vMerge/></w:tcPr><w:p/></w:tc><w:tc><w:p><w:t>h</w:t></w:p></w:tc>\
            <w:tc><w:p/></w:tc></w:tr></w:tbl>";
        let tables = tables_of(xml);
        assert_eq!(shown(&tables[0]), ["A & B|C|C", "d|e f|g", "d|h|"]);
        assert_eq!(tables[0].grid.header_rows, Some(1));
        let merged = tables[0].grid.place().merged;
        assert_eq!((merged.len(), merged[0].rows), (1, 2));
    }

    #[test]
    fn slides_and_open_documents_name_the_covered_cells() {
        let slide = "<a:tbl><a:tr><a:tc gridSpan='2'><a:t>x</a:t></a:tc><a:tc hMerge='1'/></a:tr>\
            <a:tr><a:tc rowSpan='2'><a:t>1</a:t></a:tc><a:tc><a:t>2</a:t></a:tc></a:tr>\
            <a:tr><a:tc vMerge='1'/><a:tc><a:t>3</a:t></a:tc></a:tr></a:tbl>";
        assert_eq!(shown(&tables_of(slide)[0]), ["x|x", "1|2", "1|3"]);
        let open = "<table:table><table:table-header-rows><table:table-row><table:table-cell \
            table:number-columns-spanned='2'><text:p>x</text:p></table:table-cell>\
            <table:covered-table-cell/></table:table-row></table:table-header-rows><table:table-row>\
            <table:table-cell><text:p>1</text:p></table:table-cell><table:table-cell><text:p>2<text:s/>3\
            </text:p></table:table-cell></table:table-row></table:table>";
        let tables = tables_of(open);
        assert_eq!(shown(&tables[0]), ["x|x", "1|2 3"]);
        assert_eq!(tables[0].grid.header_rows, Some(1));
    }

    #[test]
    fn tables_inside_cells_are_kept_apart() {
        let xml = "<w:tbl><w:tr><w:tc><w:tbl><w:tr><w:tc><w:t>in</w:t></w:tc></w:tr></w:tbl></w:tc></w:tr>\
            </w:tbl><w:tbl><w:tr><w:tc><w:t>next</w:t></w:tc></w:tr></w:tbl>";
        let tables = tables_of(xml);
        assert_eq!(tables.len(), 2);
        assert_eq!(shown(&tables[0].inner[0]), ["in"]);
        assert_eq!(shown(&tables[1]), ["next"]);
    }
}
