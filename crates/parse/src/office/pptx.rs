//! `PowerPoint` presentations: a page for each slide, its title as a heading, then its shapes in
//! order, tables and pictures among them.
use std::collections::HashSet;

use super::drawing;
use super::package::{CORE, Pictures, Relations, is_ornament, main_part};
use super::table::{CellKind, TableBuilder, TableCell};
use super::xml::{self, Node};
use crate::container::{Archive, member_text};
use crate::parsed::{Parsed, Refusal};
use crate::writer::Writer;

pub(super) fn read(archive: &mut Archive<'_>) -> Result<Parsed, Refusal> {
    let path = main_part(archive)?.path;
    let text = xml::required(archive, &path)?;
    let document = xml::parse(&path, &text)?;
    let relations = Relations::read(archive, &path);
    let ids = document.descendants().filter(|node| xml::name(*node) == "sldId");
    let slides: Vec<&str> =
        ids.filter_map(|id| relations.target(xml::relation(id, "id")?)).collect();
    let mut writer = Writer::new("pptx");
    let mut pictures = Pictures::default();
    let mut read = HashSet::new();
    for (number, path) in (1..).zip(slides) {
        // A slide is read where it is first named.
        if !read.insert(path) {
            continue;
        }
        writer.page(number);
        let Some(text) = member_text(archive, path) else {
            writer.warn(format!("slide {number} is missing; open the file and save it again"));
            continue;
        };
        let slide = xml::parse(path, &text)?;
        let relations = Relations::read(archive, path);
        let mut reader = Slide {
            archive,
            relations,
            writer: &mut writer,
            pictures: &mut pictures,
            titled: false,
        };
        if let Some(tree) = xml::descendant(slide.root_element(), "spTree") {
            reader.shapes(tree);
        }
    }
    let mut parsed = writer.finish();
    CORE.read(archive, &mut parsed);
    Ok(parsed)
}

struct Slide<'a, 'b> {
    archive: &'b mut Archive<'a>,
    relations: Relations,
    writer: &'b mut Writer,
    pictures: &'b mut Pictures,
    titled: bool,
}

impl Slide<'_, '_> {
    fn shapes(&mut self, parent: Node<'_>) {
        for node in parent.children() {
            match xml::name(node) {
                "sp" | "cxnSp" => self.shape(node),
                "grpSp" => self.shapes(node),
                "pic" => self.picture(node),
                "graphicFrame" => self.frame(node),
                "AlternateContent" => xml::choice(node).into_iter().for_each(|n| self.shapes(n)),
                _ => {}
            }
        }
    }

    fn shape(&mut self, shape: Node<'_>) {
        let properties = shape.children().find(|child| xml::name(*child).starts_with("nv"));
        let place = properties.and_then(|properties| xml::descendant(properties, "ph"));
        let kind = place.map(|place| xml::attribute(place, "type").unwrap_or("obj"));
        if matches!(kind, Some("dt" | "ftr" | "sldNum" | "hdr")) {
            return;
        }
        let Some(body) = xml::child(shape, "txBody") else { return };
        if matches!(kind, Some("title" | "ctrTitle")) && !self.titled {
            self.titled = true;
            return self.writer.heading(2, &drawing::lines(body, &self.relations));
        }
        let mut number = 0;
        for paragraph in xml::children(body, "p") {
            let words = drawing::words(paragraph, &self.relations);
            let about = xml::child(paragraph, "pPr");
            let has = |name| about.is_some_and(|about| xml::child(about, name).is_some());
            let level = about.and_then(|about| xml::number(about, "lvl")).unwrap_or(0);
            if has("buAutoNum") {
                number += usize::from(!words.is_empty());
                self.writer.item(level, &format!("{number}."), &words);
            } else if has("buChar") || level > 0 {
                self.writer.item(level, "-", &words);
            } else {
                number = 0;
                self.writer.paragraph(&words);
            }
        }
    }

    fn picture(&mut self, node: Node<'_>) {
        let extent = xml::child(node, "spPr").and_then(|about| xml::descendant(about, "ext"));
        let blip = xml::descendant(node, "blip").and_then(|blip| xml::relation(blip, "embed"));
        let path = blip.and_then(|id| self.relations.target(id));
        if let Some(path) = path.filter(|_| !is_ornament(extent)) {
            let about = xml::descendant(node, "cNvPr");
            let caption =
                about.and_then(|about| xml::attribute(about, "descr")).unwrap_or_default();
            self.pictures.write(self.archive, path, caption, self.writer);
        }
    }

    fn frame(&mut self, frame: Node<'_>) {
        if let Some(table) = xml::descendant(frame, "tbl") {
            self.table(table).write(self.writer);
        }
        drawing::graphics(frame, self.archive, &self.relations, self.writer);
    }

    fn table(&self, node: Node<'_>) -> TableBuilder {
        let mut table = TableBuilder::default();
        for row in xml::children(node, "tr") {
            // `firstRow` only says how the first row looks.
            table.row(false);
            for cell in xml::children(row, "tc") {
                let is = |name| matches!(xml::attribute(cell, name), Some("1" | "true"));
                let covered = is("hMerge") || is("vMerge");
                table.cell(TableCell {
                    kind: if covered { CellKind::Covered } else { CellKind::Anchor },
                    rows: xml::number(cell, "rowSpan").unwrap_or(1),
                    columns: xml::number(cell, "gridSpan").unwrap_or(1),
                    content: xml::child(cell, "txBody")
                        .map(|body| drawing::lines(body, &self.relations))
                        .unwrap_or_default(),
                });
            }
        }
        table
    }
}
