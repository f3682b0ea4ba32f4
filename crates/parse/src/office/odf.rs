//! `OpenDocument` texts and presentations: the body in order, then the notes. Deleted text and the
//! comments of reviewers are left out.
use std::collections::HashMap;

use super::package::{Pictures, Properties};
use super::run_text::RunText;
use super::table::{CellKind, TableBuilder, TableCell};
use super::xml::{self, Node};
use crate::container::{Archive, joined, member_text};
use crate::parsed::{Parsed, Refusal};
use crate::writer::Writer;
use crate::writer::inline::Inline;
use crate::writer::script::Script;

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

struct OdfStyle {
    /// The name that the author sees.
    shown: String,
    base: Option<String>,
    /// As in `super 58%`, or how far above the line in percent.
    position: Option<String>,
    is_hidden: Option<bool>,
}

/// What the names of styles mean.
#[derive(Default)]
struct Styles {
    styles: HashMap<String, OdfStyle>,
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
                    let about = xml::child(node, "text-properties");
                    let about = |name| about.and_then(|about| xml::attribute(about, name));
                    let position = about("text-position").map(str::to_owned);
                    let is_hidden = about("display").map(|display| display == "none");
                    let style = style.to_owned();
                    self.styles.insert(style, OdfStyle { shown, base, position, is_hidden });
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

    /// A style and those that it is based on.
    fn chain<'a>(&'a self, style: Option<&'a str>) -> impl Iterator<Item = &'a str> {
        std::iter::successors(style, |name| self.styles.get(*name)?.base.as_deref()).take(20)
    }

    /// Whether a paragraph style is, or is based on, the one of this name.
    fn is(&self, style: Option<&str>, name: &str) -> bool {
        self.chain(style).any(|style| {
            let shown = self.styles.get(style).map_or(style, |style| &style.shown);
            shown.eq_ignore_ascii_case(name)
        })
    }

    fn is_hidden(&self, node: Node<'_>) -> bool {
        let mut styles = self.chain(xml::attribute(node, "style-name"));
        let is_hidden = styles.find_map(|name| self.styles.get(name)?.is_hidden);
        is_hidden == Some(true)
            || xml::attribute(node, "display") == Some("none")
            || xml::attribute(node, "is-hidden") == Some("true")
    }

    /// Where the words of a span stand, which are inside others.
    fn script(&self, span: Node<'_>, outer: Option<Script>) -> Option<Script> {
        let mut styles = self.chain(xml::attribute(span, "style-name"));
        let position = styles.find_map(|name| self.styles.get(name)?.position.as_deref());
        let Some(position) = position else { return outer };
        let height = match position.split_whitespace().next()? {
            "super" => 1.0,
            "sub" => -1.0,
            percent => {
                percent.trim_end_matches('%').parse().ok().filter(|height| *height != 0.0)?
            }
        };
        Some(if height > 0.0 { Script::Super } else { Script::Sub })
    }

    fn gather<'a>(&self, node: Node<'a>, outer: Option<Script>, words: &mut OdfWords<'a>) {
        if self.is_hidden(node) {
            return;
        }
        let script = self.script(node, outer);
        for node in node.children() {
            if let Some(text) = node.text().filter(|_| node.is_text()) {
                words.line.push(text, script);
                continue;
            }
            match xml::name(node) {
                "s" | "tab" => words.line.push(" ", script),
                "line-break" => words.line.inline().break_line(),
                "a" => {
                    let start = words.line.inline().text.len();
                    self.gather(node, script, words);
                    let target = xml::attribute(node, "href").unwrap_or_default();
                    words.line.inline().link_from(start, target);
                }
                "note" => words.notes.extend(xml::child(node, "note-body")),
                "frame" => words.frames.push(node),
                // How a word is read stands behind it, so that it stays whole.
                "ruby-text" if !xml::text(node).trim().is_empty() => {
                    words.line.push(&format!("({})", xml::text(node)), None);
                }
                "annotation" | "tracked-changes" | "title" | "desc" => {}
                // Of a title in a text box, each paragraph is a line.
                "p" => {
                    words.line.inline().break_line();
                    self.gather(node, script, words);
                }
                _ => self.gather(node, script, words),
            }
        }
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
    line: RunText,
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
            _ if self.styles.is_hidden(node) => {}
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
            "notes" => {
                let frames = xml::children(node, "frame");
                let mut notes =
                    frames.filter(|frame| xml::attribute(*frame, "class") == Some("notes"));
                if notes.any(|frame| !xml::text(frame).trim().is_empty()) {
                    self.writer.heading(3, &Inline::words("Speaker notes"));
                    self.blocks(node);
                }
            }
            "tracked-changes" | "annotation" | "forms" | "sequence-decls" | "desc" | "title" => {}
            _ => self.blocks(node),
        }
    }

    fn paragraph(&mut self, node: Node<'b>) {
        let style = xml::attribute(node, "style-name").map(str::to_owned);
        let style = style.as_deref();
        let words = self.gathered(node);
        let inline = words.line.finish();
        if self.styles.is(style, "title") {
            self.writer.heading(1, &inline);
        } else if self.styles.is(style, "quotations") {
            self.writer.quote(&inline);
        } else {
            self.writer.paragraph(&inline);
        }
        words.frames.into_iter().for_each(|frame| self.frame(frame));
    }

    fn words(&mut self, node: Node<'b>) -> Inline {
        self.gathered(node).line.finish()
    }

    fn gathered(&mut self, paragraph: Node<'b>) -> OdfWords<'b> {
        let mut words = OdfWords::default();
        let hidden = xml::child(paragraph, "hidden-paragraph");
        if !hidden.is_some_and(|mark| self.styles.is_hidden(mark)) {
            self.styles.gather(paragraph, None, &mut words);
            self.notes.append(&mut words.notes);
        }
        words
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
                "object" if xml::child(frame, "table").is_none() => {
                    let lost = "an embedded object (a chart, formula or sheet) is not read";
                    self.writer.warn(format!("{lost}; paste it as a table or text to have it"));
                }
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
                "table-cell" => CellKind::Anchor,
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

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write as _};

    use zip::write::SimpleFileOptions;

    use super::*;
    use crate::check::{check, outline};
    use crate::container::open;

    /// A document of these styles and this body.
    fn document(styles: &str, body: &str) -> Parsed {
        let mut zip = zip::ZipWriter::new(Cursor::new(vec![]));
        zip.start_file("content.xml", SimpleFileOptions::default()).unwrap();
        let spaces: Vec<String> =
            ["office", "text", "style", "fo", "draw", "presentation", "xlink"]
                .iter()
                .map(|name| format!(" xmlns:{name}=\"urn:{name}\""))
                .collect();
        let content = format!(
            "<office:document-content{}><office:automatic-styles>{styles}\
             </office:automatic-styles><office:body>{body}</office:body></office:document-content>",
            spaces.concat()
        );
        zip.write_all(content.as_bytes()).unwrap();
        let bytes = zip.finish().unwrap().into_inner();
        let parsed = read("odt", &mut open(&bytes).unwrap()).unwrap();
        check(&parsed);
        parsed
    }

    fn style(name: &str, about: &str) -> String {
        format!("<style:style style:name=\"{name}\"><style:text-properties {about}/></style:style>")
    }

    fn span(style: &str, text: &str) -> String {
        format!("<text:span text:style-name=\"{style}\">{text}</text:span>")
    }

    #[test]
    fn powers_and_formulas_keep_their_height() {
        let styles = [
            style("T1", "style:text-position=\"super 58%\""),
            style("T2", "style:text-position=\"sub 58%\""),
            style("T3", "style:text-position=\"33% 58%\""),
            style("T4", "style:text-position=\"-8% 58%\""),
            style("T5", "style:text-position=\"0% 100%\""),
            style("T6", "fo:font-weight=\"bold\"")
                .replace("><style:t", " style:parent-style-name=\"T1\"><style:t"),
        ]
        .concat();
        let body = format!(
            "<text:p>10{}{} cells, CO{}, m{}, H{}O, 2{}</text:p>",
            span("T1", "2"),
            span("T6", ".5"),
            span("T2", "2"),
            span("T3", "2"),
            span("T4", "2"),
            span("T1", &format!("3{}", span("T5", "4")))
        );
        let parsed = document(&styles, &body);
        assert_eq!(parsed.text, "10^2.5 cells, CO₂, m², H₂O, 2³4\n");
    }

    #[test]
    fn a_price_that_is_hidden_is_not_read() {
        let styles = style("T1", "text:display=\"none\"") + &style("P1", "text:display=\"none\"");
        let body = [
            &format!("<text:p>The price {}is 5.</text:p>", span("T1", "was 4, ")),
            "<text:p text:style-name=\"P1\">Draft 1</text:p>",
            "<text:p>Draft 2<text:hidden-paragraph text:is-hidden=\"true\"/></text:p>",
            "<text:p>Open<text:hidden-text text:is-hidden=\"true\"> draft 3</text:hidden-text>\
             <text:hidden-text text:is-hidden=\"false\"> end</text:hidden-text></text:p>",
            "<text:section text:display=\"none\"><text:p>Draft 4</text:p></text:section>",
            "<text:section text:display=\"condition\" text:is-hidden=\"true\"><text:p>5</text:p>\
             </text:section>",
            "<text:list><text:list-item><text:p text:style-name=\"P1\">Draft 6</text:p>\
             <text:p>Item</text:p></text:list-item></text:list>",
        ];
        let parsed = document(&styles, &body.concat());
        assert_eq!(outline(&parsed), ["p The price is 5.", "p Open end", "item - Item"]);
    }

    #[test]
    fn a_fee_that_was_struck_out_is_not_read() {
        let change = "<text:change-start text:change-id=\"1\"/>550<text:change-end \
                      text:change-id=\"1\"/><text:change text:change-id=\"2\"/>";
        let body = format!(
            "<office:text><text:tracked-changes><text:changed-region><text:deletion><text:p>400\
             </text:p></text:deletion></text:changed-region></text:tracked-changes>\
             <text:p>The fee is {change} euros.</text:p></office:text>"
        );
        assert_eq!(document("", &body).text, "The fee is 550 euros.\n");
    }

    #[test]
    fn a_name_with_its_reading_stays_whole() {
        let ruby = |base: &str, reading: &str| {
            format!(
                "<text:ruby><text:ruby-base>{base}</text:ruby-base>\
                 <text:ruby-text>{reading}</text:ruby-text></text:ruby>"
            )
        };
        let body = format!(
            "<text:p>Die Stadt {}は{}.</text:p>",
            ruby("東京", "とうきょう"),
            ruby("x", "")
        );
        assert_eq!(document("", &body).text, "Die Stadt 東京(とうきょう)はx.\n");
    }

    #[test]
    fn speaker_notes_stand_below_their_slide() {
        let frame = |class: &str, text: &str| {
            format!(
                "<draw:frame presentation:class=\"{class}\"><draw:text-box><text:p>{text}</text:p>\
                 </draw:text-box></draw:frame>"
            )
        };
        let page = |text: &str, notes: &str| {
            let number = frame("page-number", "1");
            let notes = format!("<draw:page-thumbnail/>{}{number}", frame("notes", notes));
            format!(
                "<draw:page>{}<presentation:notes>{notes}</presentation:notes></draw:page>",
                frame("title", text)
            )
        };
        let parsed = document("", &(page("Budget", "It is 4.2 million.") + &page("End", " ")));
        assert_eq!(
            outline(&parsed),
            ["h2 ## Budget", "h3 ### Speaker notes", "p It is 4.2 million.", "h2 ## End"]
        );
        let second = parsed.text.find("## End").unwrap();
        assert_eq!((parsed.pages[1].number, parsed.pages[1].start), (2, second));
    }

    #[test]
    fn a_chart_that_is_not_read_is_said() {
        let frame = |inside: &str| {
            let parsed =
                document("", &format!("<text:p>Text<draw:frame>{inside}</draw:frame></text:p>"));
            parsed.warnings
        };
        let object = "<draw:object xlink:href=\"./Object 1\"/>";
        assert!(frame(object)[0].contains("chart"));
        assert!(frame("<draw:text-box/>").is_empty());
        let table = format!("<table xmlns=\"urn:table\"/>{object}");
        assert!(frame(&table).is_empty());
    }
}
