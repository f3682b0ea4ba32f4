//! `OpenDocument` texts and presentations: the body in order, then the notes. Deleted text and the
//! comments of reviewers are left out.
use std::collections::HashMap;

use super::package::{Pictures, Properties};
use super::table::{CellKind, TableBuilder, TableCell};
use super::xml::{self, Node};
use crate::container::{Archive, joined, member_text};
use crate::parsed::{Parsed, Refusal};
use crate::writer::Writer;
use crate::writer::inline::Inline;

/// Cells and rows may be repeated; more empty ones than this say nothing.
const MAX_REPEATED: usize = 1_000;
/// Spaces that `text:s` stands for are run together anyway.
const DEEPEST_LIST: usize = 20;

const META: Properties = Properties {
    path: "meta.xml",
    author: ["initial-creator", "creator"],
    date: ["date", "creation-date"],
};

pub(super) fn read(format: &'static str, archive: &mut Archive<'_>) -> Result<Parsed, Refusal> {
    let text = xml::required(archive, "content.xml")?;
    let document = xml::parse("content.xml", &text)?;
    let mut styles = Styles::default();
    let shared = member_text(archive, "styles.xml").unwrap_or_default();
    if let Ok(tree) = xml::parse("styles.xml", &shared) {
        styles.read(tree.root_element());
    }
    styles.read(document.root_element());
    let mut reader = OdfReader {
        archive,
        styles,
        writer: Writer::new(format),
        pictures: Pictures::default(),
        notes: vec![],
        page: 0,
    };
    if let Some(body) = xml::child(document.root_element(), "body") {
        reader.blocks(body);
    }
    for note in std::mem::take(&mut reader.notes) {
        reader.blocks(note);
    }
    let mut parsed = reader.writer.finish();
    META.read(reader.archive, &mut parsed);
    Ok(parsed)
}

/// What the names of styles mean.
#[derive(Default)]
struct Styles {
    /// By name: the name that the author sees, and the style that it is based on.
    names: HashMap<String, (String, Option<String>)>,
    /// Levels (from 1) of lists that are numbered.
    numbered: HashMap<String, Vec<usize>>,
}

impl Styles {
    fn read(&mut self, root: Node<'_>) {
        for node in root.descendants() {
            let Some(style) = xml::attribute(node, "name") else { continue };
            match xml::name(node) {
                "style" => {
                    let shown =
                        xml::attribute(node, "display-name").unwrap_or(style).to_lowercase();
                    let base = xml::attribute(node, "parent-style-name").map(str::to_owned);
                    self.names.insert(style.to_owned(), (shown, base));
                }
                "list-style" => {
                    let levels = node.children().filter(|child| {
                        xml::name(*child) == "list-level-style-number"
                            && xml::attribute(*child, "num-format").is_some_and(|f| !f.is_empty())
                    });
                    let levels = levels.filter_map(|level| xml::number(level, "level")).collect();
                    self.numbered.insert(style.to_owned(), levels);
                }
                _ => {}
            }
        }
    }

    /// Whether a paragraph style is, or is based on, the one of this name.
    fn is(&self, style: Option<&str>, wanted: &str) -> bool {
        let mut next = style;
        for _ in 0..20 {
            let Some(name) = next else { return false };
            let Some((shown, base)) = self.names.get(name) else {
                return name.eq_ignore_ascii_case(wanted);
            };
            if shown == wanted {
                return true;
            }
            next = base.as_deref();
        }
        false
    }
}

struct OdfReader<'a, 'b> {
    archive: &'b mut Archive<'a>,
    styles: Styles,
    writer: Writer,
    pictures: Pictures,
    /// Bodies of notes that were referred to and are not written yet.
    notes: Vec<Node<'b>>,
    page: u32,
}

/// What stands in a paragraph besides its words.
#[derive(Default)]
struct OdfWords<'a> {
    inline: Inline,
    frames: Vec<Node<'a>>,
    notes: Vec<Node<'a>>,
}

impl<'b> OdfReader<'_, 'b> {
    fn blocks(&mut self, parent: Node<'b>) {
        for node in parent.children() {
            self.block(node);
        }
    }

    fn block(&mut self, node: Node<'b>) {
        match xml::name(node) {
            "h" => {
                let level = xml::number(node, "outline-level").unwrap_or(1);
                let words = self.words(node);
                self.writer.heading(u8::try_from(level).unwrap_or(6), &words);
            }
            "p" => self.paragraph(node),
            "list" => self.list(node, 0, None),
            "table" => {
                let table = self.table(node);
                table.write(&mut self.writer);
            }
            "page" => {
                self.page += 1;
                self.writer.page(self.page);
                self.blocks(node);
            }
            "frame" => self.frame(node),
            "tracked-changes" | "annotation" | "notes" | "forms" | "sequence-decls" | "desc"
            | "title" => {}
            _ => self.blocks(node),
        }
    }

    fn paragraph(&mut self, node: Node<'b>) {
        let style = xml::attribute(node, "style-name").map(str::to_owned);
        let style = style.as_deref();
        let mut words = OdfWords::default();
        gather(node, &mut words);
        let inline = words.inline.trimmed();
        if self.styles.is(style, "title") {
            self.writer.heading(1, &inline);
        } else if self.styles.is(style, "quotations") {
            self.writer.quote(&inline);
        } else {
            self.writer.paragraph(&inline);
        }
        self.notes.append(&mut words.notes);
        words.frames.into_iter().for_each(|frame| self.frame(frame));
    }

    fn words(&mut self, node: Node<'b>) -> Inline {
        let mut words = OdfWords::default();
        gather(node, &mut words);
        self.notes.append(&mut words.notes);
        words.inline.trimmed()
    }

    fn list(&mut self, node: Node<'b>, depth: usize, style: Option<&str>) {
        let style = xml::attribute(node, "style-name").or(style);
        let levels = style.and_then(|style| self.styles.numbered.get(style));
        let is_numbered = levels.is_some_and(|levels| levels.contains(&(depth + 1)));
        let mut number = 0;
        for item in node.children().filter(Node::is_element) {
            let mut has_mark = false;
            for child in item.children() {
                match xml::name(child) {
                    "p" if !has_mark => {
                        let words = self.words(child);
                        has_mark = !words.is_empty();
                        number += usize::from(has_mark);
                        let marker =
                            if is_numbered { format!("{number}.") } else { "-".to_owned() };
                        self.writer.item(depth, &marker, &words);
                    }
                    "list" if depth < DEEPEST_LIST => self.list(child, depth + 1, style),
                    _ => self.block(child),
                }
            }
        }
    }

    /// Pictures, text boxes and tables of a presentation.
    fn frame(&mut self, frame: Node<'b>) {
        let kind = xml::attribute(frame, "class").unwrap_or_default();
        if matches!(kind, "date-time" | "footer" | "header" | "page-number") {
            return;
        }
        if kind == "title" {
            let words = self.words(frame);
            return self.writer.heading(2, &words);
        }
        let about =
            |name| xml::child(frame, name).map(xml::text).filter(|text| !text.trim().is_empty());
        let caption = about("desc").or_else(|| about("title")).unwrap_or_default();
        for node in frame.children() {
            match xml::name(node) {
                "text-box" => self.blocks(node),
                "table" => self.block(node),
                // The same picture in a second form.
                "image" if xml::child(frame, "table").is_none() => {
                    if let Some(path) = xml::attribute(node, "href") {
                        let path = joined("", path.trim_start_matches("./"));
                        self.pictures.write(self.archive, &path, caption.trim(), &mut self.writer);
                        break;
                    }
                }
                _ => {}
            }
        }
    }

    fn table(&mut self, node: Node<'b>) -> TableBuilder {
        let mut table = TableBuilder::default();
        self.rows(node, false, &mut table);
        table
    }

    fn rows(&mut self, parent: Node<'b>, header: bool, table: &mut TableBuilder) {
        for node in parent.children() {
            match xml::name(node) {
                "table-header-rows" => self.rows(node, true, table),
                "table-rows" | "table-row-group" => self.rows(node, header, table),
                "table-row" => {
                    table.row(header);
                    self.cells(node, table);
                }
                _ => {}
            }
        }
    }

    fn cells(&mut self, row: Node<'b>, table: &mut TableBuilder) {
        for cell in row.children() {
            let kind = match xml::name(cell) {
                "table-cell" => CellKind::Own,
                "covered-table-cell" => CellKind::Covered,
                _ => continue,
            };
            let span = |name| xml::number(cell, name).unwrap_or(1);
            let (content, inner) = self.cell_words(cell);
            for _ in 0..span("number-columns-repeated").clamp(1, MAX_REPEATED) {
                let (rows, columns) = (span("number-rows-spanned"), span("number-columns-spanned"));
                table.cell(TableCell { kind, rows, columns, content: content.clone() });
            }
            for inner in inner {
                table.inner(inner);
            }
        }
    }

    fn cell_words(&mut self, cell: Node<'b>) -> (Inline, Vec<TableBuilder>) {
        let (mut words, mut inner) = (Inline::default(), vec![]);
        let mut next = vec![cell];
        while let Some(node) = next.pop() {
            match xml::name(node) {
                "p" | "h" => words.append(&self.words(node)),
                "table" => {
                    let table = self.table(node);
                    words.append(&Inline::words(&table.words()));
                    inner.push(table);
                }
                "annotation" => {}
                _ => next.extend(node.children().rev()),
            }
        }
        (words.trimmed(), inner)
    }
}

fn gather<'a>(parent: Node<'a>, words: &mut OdfWords<'a>) {
    for node in parent.children() {
        if let Some(text) = node.text().filter(|_| node.is_text()) {
            words.inline.push(text);
            continue;
        }
        match xml::name(node) {
            "s" | "tab" => words.inline.push(" "),
            "line-break" => words.inline.break_line(),
            "a" => {
                let start = words.inline.text.len();
                gather(node, words);
                words.inline.link_from(start, xml::attribute(node, "href").unwrap_or_default());
            }
            "note" => words.notes.extend(xml::child(node, "note-body")),
            "frame" => words.frames.push(node),
            "annotation" | "tracked-changes" | "title" | "desc" => {}
            // Of a title in a text box, each paragraph is a line.
            "p" => {
                words.inline.break_line();
                gather(node, words);
            }
            _ => gather(node, words),
        }
    }
}
