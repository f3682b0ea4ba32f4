//! Word documents: paragraphs, lists, tables and pictures of the body in order, then the notes.
//! Headers, footers and comments are left out.
mod imports;
mod runs;
mod styles;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use roxmltree::Document;

use super::drawing;
use super::package::{CORE, Pictures, Relations, is_ornament, main_part};
use super::table::{CellKind, TableBuilder, TableCell};
use super::xml::{self, Node};
use crate::container::{Archive, MAX_BYTES, member, member_text};
use crate::parsed::{Parsed, Refusal};
use crate::writer::Writer;
use crate::writer::inline::Inline;
use runs::{Context, Runs, Unread};
use styles::{ListPlace, Numbering, Style, Styles};

pub(super) fn read(archive: &mut Archive<'_>) -> Result<Parsed, Refusal> {
    document(archive, true)
}

/// `imports` says whether the documents that it takes in are read.
fn document(archive: &mut Archive<'_>, imports: bool) -> Result<Parsed, Refusal> {
    let path = main_part(archive)?.path;
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let text = xml::required(archive, &path)?;
    let document = xml::parse(&path, &text)?;
    let relations = Relations::read(archive, &path);
    let mut part = |kind: &str| {
        let usual = format!("{folder}/{kind}.xml");
        member_text(archive, relations.part(kind).unwrap_or(&usual)).unwrap_or_default()
    };
    let (styles, numbering) = (part("styles"), part("numbering"));
    let notes = [("footnotes", part("footnotes")), ("endnotes", part("endnotes"))];
    let trees = notes.iter().filter_map(|(name, text)| Some((*name, xml::parse(name, text).ok()?)));
    let trees: Vec<(&str, Document<'_>)> = trees.collect();
    let styles = xml::parse("styles", &styles);
    let context = Context {
        styles: styles.map(|tree| Styles::read(tree.root_element())).unwrap_or_default(),
        relations,
        rendered_pages: text.contains("lastRenderedPageBreak"),
    };
    let mut reader = DocxReader {
        context,
        numbering: xml::parse("numbering", &numbering)
            .map(|tree| Numbering::read(tree.root_element()))
            .unwrap_or_default(),
        archive,
        writer: Writer::new("docx"),
        pictures: Pictures::default(),
        drawings: vec![],
        notes: vec![],
        unread: Unread::default(),
        imports,
        imported: HashSet::new(),
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
    reader.warn();
    let mut parsed = reader.writer.finish();
    CORE.read(reader.archive, &mut parsed);
    Ok(parsed)
}

struct DocxReader<'a, 'b> {
    archive: &'b mut Archive<'a>,
    context: Context,
    numbering: Numbering,
    writer: Writer,
    pictures: Pictures,
    /// Drawings that are not written yet.
    drawings: Vec<Node<'b>>,
    /// Notes that were referred to and are not written yet.
    notes: Vec<(&'static str, &'b str)>,
    unread: Unread<'b>,
    imports: bool,
    /// The documents that were taken in.
    imported: HashSet<String>,
    page: u32,
}

impl<'b> DocxReader<'_, 'b> {
    fn blocks(&mut self, parent: Node<'b>) {
        for node in parent.children() {
            match xml::name(node) {
                "p" => self.paragraph(node),
                "tbl" => {
                    if let Some(frame) = frame(node) {
                        self.blocks(frame);
                        continue;
                    }
                    let table = self.table(node);
                    table.write(&mut self.writer);
                    self.write_drawings();
                    if self.context.rendered_pages {
                        self.turn_pages(pages_of(node));
                    }
                }
                "altChunk" => self.import(node),
                "AlternateContent" => xml::choice(node).into_iter().for_each(|n| self.blocks(n)),
                "sdt" | "sdtContent" | "ins" | "moveTo" | "customXml" | "smartTag" => {
                    self.blocks(node);
                }
                _ => {}
            }
        }
    }

    fn paragraph(&mut self, node: Node<'b>) {
        let (runs, inline) = self.runs(node);
        let properties = xml::child(node, "pPr");
        let breaks_before =
            properties.is_some_and(|properties| xml::is_on(properties, "pageBreakBefore"));
        let breaks_before =
            breaks_before && !self.context.rendered_pages && !self.writer.is_empty();
        self.turn_pages(runs.pages_before + u32::from(breaks_before));
        self.write(runs.style, &inline);
        self.write_drawings();
        for content in runs.boxes {
            self.blocks(content);
        }
        self.turn_pages(runs.pages_after);
    }

    /// What a paragraph holds, its words apart; its drawings and notes are kept for later.
    fn runs(&mut self, paragraph: Node<'b>) -> (Runs<'b>, Inline) {
        let mut runs = Runs::read(paragraph, &self.context);
        self.drawings.append(&mut runs.drawings);
        self.notes.append(&mut runs.notes);
        self.unread.hidden |= runs.unread.hidden;
        self.unread.fonts.append(&mut runs.unread.fonts);
        let inline = std::mem::take(&mut runs.line).finish();
        (runs, inline)
    }

    /// Warns of what was not read.
    fn warn(&mut self) {
        if self.unread.hidden {
            let hint = "format it as visible in Word to have it read";
            self.writer.warn(format!("hidden text is left out; {hint}"));
        }
        let fonts: Vec<String> =
            self.unread.fonts.iter().take(5).map(|f| format!("`{f}`")).collect();
        if !fonts.is_empty() {
            let fonts = fonts.join(", ");
            self.writer.warn(format!(
                "signs of the font {fonts} are read as \u{fffd}; write them in an ordinary font"
            ));
        }
    }

    /// A document that is taken in, where it is first named.
    fn import(&mut self, node: Node<'b>) {
        let path = xml::relation(node, "id").and_then(|id| self.context.relations.target(id));
        let Some(path) = path.map(str::to_owned).filter(|path| !self.imported.contains(path))
        else {
            return;
        };
        let bytes = member(self.archive, &path, MAX_BYTES).unwrap_or_default();
        match imports::read(&path, bytes, self.imports) {
            Ok(parsed) => imports::append(parsed, &mut self.writer),
            Err(Refusal { reason, hint }) => {
                self.writer.warn(format!("`{path}` inside is not read: {reason}; {hint}"));
            }
        }
        self.imported.insert(path);
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

    fn write_drawings(&mut self) {
        for drawing in std::mem::take(&mut self.drawings) {
            if xml::name(drawing) == "altChunk" {
                self.import(drawing);
                continue;
            }
            self.picture(drawing);
            let Self { archive, context, writer, .. } = self;
            drawing::graphics(drawing, archive, &context.relations, writer);
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
            if let Some(path) = id.and_then(|id| self.context.relations.target(id)) {
                let caption = about.unwrap_or_default();
                self.pictures.write(self.archive, path, caption, &mut self.writer);
            }
        }
    }

    fn table(&mut self, node: Node<'b>) -> TableBuilder {
        let mut table = TableBuilder::default();
        for row in rows(node) {
            let about = xml::child(row, "trPr");
            table.row(about.is_some_and(|about| xml::is_on(about, "tblHeader")));
            let before = about.and_then(|about| xml::value(about, "gridBefore")?.parse().ok());
            if let Some(columns) = before.filter(|columns| *columns > 0) {
                let content = Inline::default();
                table.cell(TableCell { kind: CellKind::Anchor, rows: 1, columns, content });
            }
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
                    let (runs, inline) = self.runs(node);
                    words.append(&inline);
                    next.extend(runs.boxes.into_iter().rev());
                }
                "tbl" => match frame(node) {
                    Some(frame) => next.push(frame),
                    None => {
                        let table = self.table(node);
                        words.append(&Inline::words(&table.words()));
                        inner.push(table);
                    }
                },
                "altChunk" => self.drawings.push(node),
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

/// The only cell of a table, if there is a table inside: a frame, whose content is read as if it
/// stood by itself.
fn frame(table: Node<'_>) -> Option<Node<'_>> {
    let rows = rows(table);
    let [row] = rows[..] else { return None };
    let cells = wrapped(row, "tc");
    let [cell] = cells[..] else { return None };
    xml::descendant(cell, "tbl").map(|_| cell)
}

/// The rows of a table without those that are deleted.
fn rows(table: Node<'_>) -> Vec<Node<'_>> {
    let mut rows = wrapped(table, "tr");
    rows.retain(|row| {
        let about = xml::child(*row, "trPr");
        about.is_none_or(|about| xml::child(about, "del").is_none())
    });
    rows
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
