//! `PowerPoint` presentations: a page for each slide, its title as a heading, then its shapes in
//! order, tables and pictures among them, then what the speaker noted.
use std::collections::HashSet;

use super::drawing;
use super::package::{CORE, Pictures, Relations, is_ornament, main_part};
use super::table::{CellKind, TableBuilder, TableCell};
use super::xml::{self, Node};
use crate::container::{Archive, member_text};
use crate::parsed::{Parsed, Refusal};
use crate::writer::Writer;
use crate::writer::inline::Inline;

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
    let (mut read, mut hidden) = (HashSet::new(), vec![]);
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
        if matches!(xml::attribute(slide.root_element(), "show"), Some("0" | "false")) {
            hidden.push(number.to_string());
        }
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
        reader.notes();
    }
    if !hidden.is_empty() {
        let slides = hidden.join(", ");
        writer.warn(format!("hidden slides are read like the others ({slides}); delete old ones"));
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
        let kind = place(shape);
        if is_margin(kind) {
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

    fn notes(&mut self) {
        let Some(path) = self.relations.part("notesSlide").map(str::to_owned) else { return };
        let text = member_text(self.archive, &path).unwrap_or_default();
        let Ok(notes) = xml::parse(&path, &text) else {
            return self
                .writer
                .warn(format!("`{path}` is missing or damaged: open and save the file"));
        };
        self.relations = Relations::read(self.archive, &path);
        self.titled = true;
        let mut shapes = notes.descendants().filter(|node| xml::name(*node) == "sp");
        if shapes.any(|shape| !is_margin(place(shape)) && !xml::text(shape).trim().is_empty()) {
            self.writer.heading(3, &Inline::words("Speaker notes"));
        }
        if let Some(tree) = xml::descendant(notes.root_element(), "spTree") {
            self.shapes(tree);
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

/// What a shape is the place of, as in `title`.
fn place(shape: Node<'_>) -> Option<&str> {
    let properties = shape.children().find(|child| xml::name(*child).starts_with("nv"))?;
    Some(xml::attribute(xml::descendant(properties, "ph")?, "type").unwrap_or("obj"))
}

/// Whether a place is the same on every slide.
fn is_margin(place: Option<&str>) -> bool {
    matches!(place, Some("dt" | "ftr" | "sldNum" | "hdr"))
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write as _};

    use zip::write::SimpleFileOptions;

    use super::*;
    use crate::check::{check, outline};
    use crate::container::open;

    const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

    fn shape(place: &str, paragraphs: &str) -> String {
        format!(
            "<p:sp><p:nvSpPr><p:nvPr><p:ph type=\"{place}\"/></p:nvPr></p:nvSpPr>\
             <p:txBody>{paragraphs}</p:txBody></p:sp>"
        )
    }

    fn paragraph(text: &str) -> String {
        format!("<a:p><a:r><a:t>{text}</a:t></a:r></a:p>")
    }

    fn relation(id: &str, kind: &str, target: &str) -> String {
        format!("<Relationship Id=\"{id}\" Type=\"{OFFICE}/{kind}\" Target=\"{target}\"/>")
    }

    /// A presentation of these slides, each with attributes of its root, its shapes, and those of its
    /// notes, if it has any.
    fn presentation(slides: &[[&str; 3]]) -> Parsed {
        let mut zip = zip::ZipWriter::new(Cursor::new(vec![]));
        let spaces = format!("xmlns:p=\"urn:p\" xmlns:a=\"urn:a\" xmlns:r=\"{OFFICE}\"");
        let mut add = |name: &str, root: &str, attributes: &str, inside: &str| {
            zip.start_file(name, SimpleFileOptions::default()).unwrap();
            let tag = root.split(' ').next().unwrap();
            write!(zip, "<{root} {spaces} {attributes}>{inside}</{tag}>").unwrap();
        };
        let (mut ids, mut relations) = (String::new(), String::new());
        for (number, [attributes, shapes, notes]) in (1..).zip(slides) {
            ids.push_str(&["<p:sldId r:id=\"r", &number.to_string(), "\"/>"].concat());
            relations +=
                &relation(&format!("r{number}"), "slide", &format!("slides/s{number}.xml"));
            let tree = |shapes: &str| format!("<p:cSld><p:spTree>{shapes}</p:spTree></p:cSld>");
            add(&format!("ppt/slides/s{number}.xml"), "p:sld", attributes, &tree(shapes));
            if !notes.is_empty() {
                let target = format!("../notes/n{number}.xml");
                let of_slide = relation("r7", "notesSlide", &target);
                let rels = format!("ppt/slides/_rels/s{number}.xml.rels");
                add(&rels, "Relationships", "", &of_slide);
                add(&format!("ppt/notes/n{number}.xml"), "p:notes", "", &tree(notes));
            }
        }
        add("ppt/presentation.xml", "p:presentation", "", &ids);
        add("ppt/_rels/presentation.xml.rels", "Relationships", "", &relations);
        let package = relation("r1", "officeDocument", "ppt/presentation.xml");
        add("_rels/.rels", "Relationships", "", &package);
        let bytes = zip.finish().unwrap().into_inner();
        let parsed = read(&mut open(&bytes).unwrap()).unwrap();
        check(&parsed);
        parsed
    }

    #[test]
    fn speaker_notes_stand_below_their_slide() {
        let number = "<p:sp><p:nvSpPr><p:nvPr><p:ph type=\"sldNum\"/></p:nvPr></p:nvSpPr><p:txBody>\
                      <a:p><a:fld><a:t>1</a:t></a:fld></a:p></p:txBody></p:sp>";
        let notes =
            [shape("sldImg", ""), shape("body", &paragraph("It is 4.2 million.")), number.into()];
        let empty = [shape("body", "<a:p/>"), number.into()].concat();
        let box_on_notes = format!("<p:sp><p:txBody>{}</p:txBody></p:sp>", paragraph("A box"));
        let parsed = presentation(&[
            ["", &shape("title", &paragraph("Budget")), &notes.concat()],
            ["", &shape("title", &paragraph("Plan")), &empty],
            ["", &shape("body", &paragraph("End")), &box_on_notes],
        ]);
        assert_eq!(
            outline(&parsed),
            [
                "h2 ## Budget",
                "h3 ### Speaker notes",
                "p It is 4.2 million.",
                "h2 ## Plan",
                "p End",
                "h3 ### Speaker notes",
                "p A box"
            ]
        );
        assert_eq!(parsed.pages[1].start, parsed.text.find("## Plan").unwrap());
        assert!(parsed.warnings.is_empty(), "{:?}", parsed.warnings);
    }

    #[test]
    fn hidden_slides_are_read_and_named() {
        let slide = |text: &str| shape("body", &paragraph(text));
        let parsed = presentation(&[
            ["", &slide("One"), ""],
            ["show=\"0\"", &slide("Two"), ""],
            ["show=\"1\"", &slide("Three"), ""],
            ["show=\"false\"", &slide("Four"), ""],
        ]);
        assert_eq!(outline(&parsed), ["p One", "p Two", "p Three", "p Four"]);
        let [warning] = &parsed.warnings[..] else { panic!("{:?}", parsed.warnings) };
        assert!(warning.contains("(2, 4)"), "{warning}");
    }

    #[test]
    fn powers_and_formulas_keep_their_height() {
        let run = |about: &str, text: &str| format!("<a:r><a:rPr {about}/><a:t>{text}</a:t></a:r>");
        let runs = run("", "10")
            + &run("baseline=\"30000\"", "6")
            + &run("baseline=\"0\"", " g of CO")
            + &run("baseline=\"-25000\"", "2")
            + &run("b=\"1\"", ", 12 m")
            + &run("baseline=\"30%\"", "2");
        let parsed = presentation(&[["", &shape("body", &format!("<a:p>{runs}</a:p>")), ""]]);
        assert_eq!(parsed.text, "10⁶ g of CO₂, 12 m²\n");
    }
}
