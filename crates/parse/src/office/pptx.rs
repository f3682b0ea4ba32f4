//! `PowerPoint` presentations: a page for each slide, its title as a heading, then its shapes in
//! order, tables and pictures among them.
use std::collections::HashSet;

use super::math;
use super::package::{CORE, Pictures, Relations, is_ornament};
use super::table::{CellKind, TableBuilder, TableCell};
use super::xml::{self, Node};
use crate::container::{Archive, member_text};
use crate::parsed::{Parsed, Refusal};
use crate::writer::Writer;
use crate::writer::inline::Inline;

const PRESENTATION: &str = "ppt/presentation.xml";

pub(super) fn read(archive: &mut Archive<'_>) -> Result<Parsed, Refusal> {
    let text = xml::required(archive, PRESENTATION)?;
    let document = xml::parse(PRESENTATION, &text)?;
    let relations = Relations::read(archive, PRESENTATION);
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
        let own = shape.children().find(|child| xml::name(*child).starts_with("nv"));
        let place = own.and_then(|own| xml::descendant(own, "ph"));
        let kind = place.map(|place| xml::attribute(place, "type").unwrap_or("obj"));
        if matches!(kind, Some("dt" | "ftr" | "sldNum" | "hdr")) {
            return;
        }
        let Some(body) = xml::child(shape, "txBody") else { return };
        if matches!(kind, Some("title" | "ctrTitle")) && !self.titled {
            self.titled = true;
            return self.writer.heading(2, &self.lines(body));
        }
        let mut number = 0;
        for paragraph in xml::children(body, "p") {
            let words = self.words(paragraph);
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

    /// All paragraphs of a text, each on a line.
    fn lines(&self, body: Node<'_>) -> Inline {
        let mut lines = Inline::default();
        for paragraph in xml::children(body, "p") {
            lines.append(&self.words(paragraph));
        }
        lines.trimmed()
    }

    fn words(&self, paragraph: Node<'_>) -> Inline {
        let mut inline = Inline::default();
        self.runs(paragraph, &mut inline);
        inline.trimmed()
    }

    fn runs(&self, parent: Node<'_>, inline: &mut Inline) {
        for node in parent.children() {
            match xml::name(node) {
                "r" | "fld" => {
                    let start = inline.text.len();
                    inline.push(&xml::child(node, "t").map(xml::text).unwrap_or_default());
                    let link =
                        xml::child(node, "rPr").and_then(|about| xml::child(about, "hlinkClick"));
                    let id = link.and_then(|link| xml::relation(link, "id"));
                    if let Some(target) = id.and_then(|id| self.relations.target(id)) {
                        inline.link_from(start, target);
                    }
                }
                "br" => inline.break_line(),
                "oMath" | "oMathPara" => inline.push(&math::latex(node)),
                "AlternateContent" => {
                    if let Some(content) = xml::choice(node) {
                        self.runs(content, inline);
                    }
                }
                "m" => self.runs(node, inline),
                _ => {}
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
        let chart = xml::descendant(frame, "chart").and_then(|chart| xml::relation(chart, "id"));
        if let Some(path) = chart.and_then(|id| self.relations.target(id)).map(str::to_owned) {
            self.chart(&path);
        }
        let diagram = xml::descendant(frame, "relIds").and_then(|ids| xml::relation(ids, "dm"));
        if let Some(path) = diagram.and_then(|id| self.relations.target(id)).map(str::to_owned) {
            self.diagram(&path);
        }
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
                    kind: if covered { CellKind::Covered } else { CellKind::Own },
                    rows: xml::number(cell, "rowSpan").unwrap_or(1),
                    columns: xml::number(cell, "gridSpan").unwrap_or(1),
                    content: xml::child(cell, "txBody")
                        .map(|body| self.lines(body))
                        .unwrap_or_default(),
                });
            }
        }
        table
    }

    /// The title of a chart and the numbers behind it, a column for each series.
    fn chart(&mut self, path: &str) {
        let Some(text) = member_text(self.archive, path) else { return };
        let Ok(chart) = xml::parse(path, &text) else { return };
        let root = chart.root_element();
        if let Some(title) = xml::descendant(root, "title") {
            let runs = title.descendants().filter(|node| xml::name(*node) == "t");
            let words: String = runs.map(xml::text).collect();
            self.writer.paragraph(&Inline::words(&words));
        }
        let series: Vec<Node<'_>> =
            root.descendants().filter(|node| xml::name(*node) == "ser").collect();
        let points = |node: Option<Node<'_>>| -> Vec<String> {
            let points = node.into_iter().flat_map(|node| node.descendants());
            let points = points.filter(|node| xml::name(*node) == "pt");
            points.filter_map(|point| xml::child(point, "v")).map(xml::text).collect()
        };
        let Some(first) = series.first() else { return };
        let names = points(xml::child(*first, "cat").or_else(|| xml::child(*first, "xVal")));
        let mut table = TableBuilder::default();
        let mut row = |cells: Vec<String>, header| {
            table.plain_row(header, cells.iter().map(|cell| Inline::words(cell)));
        };
        let titles = series.iter().map(|ser| points(xml::child(*ser, "tx")).join(" "));
        row(std::iter::once(String::new()).chain(titles).collect(), true);
        let values: Vec<Vec<String>> = series
            .iter()
            .map(|ser| points(xml::child(*ser, "val").or_else(|| xml::child(*ser, "yVal"))))
            .collect();
        let height = values.iter().map(Vec::len).max().unwrap_or(0);
        let at = |column: &[String], index: usize| column.get(index).cloned().unwrap_or_default();
        for index in 0..height {
            let cells = values.iter().map(|column| at(column, index));
            row(std::iter::once(at(&names, index)).chain(cells).collect(), false);
        }
        table.write(self.writer);
    }

    /// The texts of a diagram (`SmartArt`), each as an item.
    fn diagram(&mut self, path: &str) {
        let Some(text) = member_text(self.archive, path) else { return };
        let Ok(diagram) = xml::parse(path, &text) else { return };
        for point in diagram.descendants().filter(|node| xml::name(*node) == "pt") {
            if let Some(body) = xml::child(point, "t") {
                let words = self.lines(body);
                self.writer.item(0, "-", &words);
            }
        }
    }
}
