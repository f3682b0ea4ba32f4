//! Word documents: paragraphs, lists, tables and pictures of the body in order, then the notes.
//! Headers, footers and comments are left out.
mod runs;
mod styles;

use roxmltree::Document;

use super::package::{CORE, Pictures, Relations, is_ornament, main_part};
use super::table::{CellKind, TableBuilder, TableCell};
use super::xml::{self, Node};
use crate::container::{Archive, member_text};
use crate::parsed::{Parsed, Refusal};
use crate::writer::Writer;
use crate::writer::inline::Inline;
use runs::Runs;
use styles::{ListPlace, Numbering, Style, Styles};

pub(super) fn read(archive: &mut Archive<'_>) -> Result<Parsed, Refusal> {
    let path = main_part(archive)?.path;
    let text = xml::required(archive, &path)?;
    let document = xml::parse(&path, &text)?;
    let mut part =
        |name: &str| member_text(archive, &format!("word/{name}.xml")).unwrap_or_default();
    let (styles, numbering) = (part("styles"), part("numbering"));
    let notes = [("footnotes", part("footnotes")), ("endnotes", part("endnotes"))];
    let trees = notes.iter().filter_map(|(name, text)| Some((*name, xml::parse(name, text).ok()?)));
    let trees: Vec<(&str, Document<'_>)> = trees.collect();
    let mut reader = DocxReader {
        relations: Relations::read(archive, &path),
        styles: xml::parse("styles", &styles)
            .map(|tree| Styles::read(tree.root_element()))
            .unwrap_or_default(),
        numbering: xml::parse("numbering", &numbering)
            .map(|tree| Numbering::read(tree.root_element()))
            .unwrap_or_default(),
        archive,
        writer: Writer::new("docx"),
        pictures: Pictures::default(),
        notes: vec![],
        rendered_pages: text.contains("lastRenderedPageBreak"),
        page: 1,
    };
    reader.writer.page(1);
    if let Some(body) = xml::child(document.root_element(), "body") {
        reader.blocks(body);
    }
    for (part, id) in std::mem::take(&mut reader.notes) {
        let tree = trees.iter().find(|(name, _)| *name == part);
        let note = tree.and_then(|(_, tree)| {
            tree.root_element().children().find(|note| xml::attribute(*note, "id") == Some(id))
        });
        if let Some(note) = note {
            let (inline, _) = reader.cell_words(note);
            reader.writer.paragraph(&inline);
        }
    }
    let mut parsed = reader.writer.finish();
    CORE.read(reader.archive, &mut parsed);
    Ok(parsed)
}

struct DocxReader<'a, 'b> {
    archive: &'b mut Archive<'a>,
    relations: Relations,
    styles: Styles,
    numbering: Numbering,
    writer: Writer,
    pictures: Pictures,
    /// Notes that were referred to and are not written yet.
    notes: Vec<(&'static str, &'b str)>,
    /// Whether the document says where its pages ended when it was saved last.
    rendered_pages: bool,
    page: u32,
}

impl<'b> DocxReader<'_, 'b> {
    fn blocks(&mut self, parent: Node<'b>) {
        for node in parent.children() {
            match xml::name(node) {
                "p" => self.paragraph(node),
                "tbl" => {
                    let table = self.table(node);
                    table.write(&mut self.writer);
                    if self.rendered_pages {
                        self.turn_pages(pages_of(node));
                    }
                }
                "AlternateContent" => xml::choice(node).into_iter().for_each(|n| self.blocks(n)),
                "sdt" | "sdtContent" | "ins" | "moveTo" | "customXml" | "smartTag" => {
                    self.blocks(node);
                }
                _ => {}
            }
        }
    }

    fn paragraph(&mut self, node: Node<'b>) {
        let mut runs = Runs::new(self.rendered_pages);
        runs.read(node, &self.relations);
        let style = self.styles.of(node);
        let properties = xml::child(node, "pPr");
        let breaks_before =
            properties.is_some_and(|properties| xml::is_on(properties, "pageBreakBefore"));
        let breaks_before = breaks_before && !self.rendered_pages && !self.writer.is_empty();
        self.turn_pages(runs.pages_before + u32::from(breaks_before));
        let inline = std::mem::take(&mut runs.inline).trimmed();
        self.write(style, &inline);
        for picture in std::mem::take(&mut runs.pictures) {
            self.picture(picture);
        }
        for content in std::mem::take(&mut runs.boxes) {
            self.blocks(content);
        }
        self.notes.append(&mut runs.notes);
        self.turn_pages(runs.pages_after);
    }

    fn turn_pages(&mut self, pages: u32) {
        if pages > 0 {
            self.page += pages;
            self.writer.page(self.page);
        }
    }

    fn write(&mut self, style: Style, inline: &Inline) {
        if inline.is_empty() {
            return;
        }
        if let Some(level) = style.heading {
            self.writer.heading(level, inline);
        } else if let Some(place) = style.list {
            let ListPlace { level, .. } = place;
            self.writer.item(level, &self.numbering.marker(place), inline);
        } else if style.quote {
            self.writer.quote(inline);
        } else {
            self.writer.paragraph(inline);
        }
    }

    fn picture(&mut self, drawing: Node<'b>) {
        let extent = xml::descendant(drawing, "extent");
        if is_ornament(extent) {
            return;
        }
        let about = xml::descendant(drawing, "docPr");
        let about = about.and_then(|about| {
            let texts = ["descr", "title", "name"].map(|name| xml::attribute(about, name));
            texts.into_iter().flatten().find(|words| !words.trim().is_empty())
        });
        for node in drawing.descendants() {
            let id = match xml::name(node) {
                "blip" => xml::relation(node, "embed"),
                "imagedata" => xml::relation(node, "id"),
                _ => continue,
            };
            if let Some(path) = id.and_then(|id| self.relations.target(id)) {
                let caption = about.unwrap_or_default();
                self.pictures.write(self.archive, path, caption, &mut self.writer);
            }
        }
    }

    fn table(&mut self, node: Node<'b>) -> TableBuilder {
        let mut table = TableBuilder::default();
        for row in wrapped(node, "tr") {
            let about = xml::child(row, "trPr");
            if about.is_some_and(|about| xml::child(about, "del").is_some()) {
                continue;
            }
            table.row(about.is_some_and(|about| xml::is_on(about, "tblHeader")));
            for cell in wrapped(row, "tc") {
                let about = xml::child(cell, "tcPr");
                let span = about.and_then(|about| xml::value(about, "gridSpan")?.parse().ok());
                let merge = about.and_then(|about| xml::child(about, "vMerge"));
                let continued =
                    merge.is_some_and(|merge| xml::attribute(merge, "val") != Some("restart"));
                let (content, inner) = self.cell_words(cell);
                let kind = if continued { CellKind::Continued } else { CellKind::Anchor };
                table.cell(TableCell { kind, rows: 1, columns: span.unwrap_or(1), content });
                for inner in inner {
                    table.inner(inner);
                }
            }
        }
        table
    }

    /// The words of a cell or note, line by line, and the tables inside it.
    fn cell_words(&mut self, cell: Node<'b>) -> (Inline, Vec<TableBuilder>) {
        let (mut words, mut inner) = (Inline::default(), vec![]);
        let mut next: Vec<Node<'b>> = vec![cell];
        while let Some(node) = next.pop() {
            match xml::name(node) {
                "p" => {
                    let mut runs = Runs::new(self.rendered_pages);
                    runs.read(node, &self.relations);
                    words.append(&runs.inline.trimmed());
                    self.notes.append(&mut runs.notes);
                    next.extend(runs.boxes.into_iter().rev());
                }
                "tbl" => {
                    let table = self.table(node);
                    words.append(&Inline::words(&table.words()));
                    inner.push(table);
                }
                "AlternateContent" => next.extend(xml::choice(node)),
                "tcPr" | "del" | "moveFrom" => {}
                _ => next.extend(node.children().rev()),
            }
        }
        (words.trimmed(), inner)
    }
}

/// How many pages end inside a table. Each cell of a row that does says so.
fn pages_of(table: Node<'_>) -> u32 {
    let breaks = |node: Node<'_>| {
        node.descendants().filter(|inner| xml::name(*inner) == "lastRenderedPageBreak").count()
    };
    let rows = wrapped(table, "tr").into_iter();
    let pages = rows.map(|row| wrapped(row, "tc").into_iter().map(breaks).max().unwrap_or(0));
    u32::try_from(pages.sum::<usize>()).unwrap_or(0)
}

/// The rows of a table or the cells of a row, through what Word wraps around them.
fn wrapped<'a>(parent: Node<'a>, wanted: &str) -> Vec<Node<'a>> {
    let mut nodes = vec![];
    let mut next: Vec<Node<'a>> = parent.children().rev().collect();
    while let Some(node) = next.pop() {
        let name = xml::name(node);
        if name == wanted {
            nodes.push(node);
        } else if matches!(name, "sdt" | "sdtContent" | "ins" | "customXml" | "smartTag" | "moveTo")
        {
            next.extend(node.children().rev());
        }
    }
    nodes
}
