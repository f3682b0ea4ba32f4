//! The words of a DOCX paragraph with what stands among them: links, formulas, pictures, text
//! boxes, notes, and where pages end.
use std::collections::BTreeSet;

use super::styles::{RunStyle, Style, Styles};
use crate::office::line::Line;
use crate::office::package::Relations;
use crate::office::xml::{self, Node};
use crate::office::{math, symbols};

/// What all paragraphs of a document are read with.
pub(super) struct Context {
    pub(super) relations: Relations,
    pub(super) styles: Styles,
    /// Whether the document says where its pages ended when it was saved last; only else are the
    /// breaks that its author set counted.
    pub(super) rendered_pages: bool,
}

/// What a paragraph holds.
#[derive(Default)]
pub(super) struct Runs<'a> {
    pub(super) style: Style,
    pub(super) line: Line,
    /// Drawings that hold pictures, charts or diagrams.
    pub(super) drawings: Vec<Node<'a>>,
    /// Contents of text boxes.
    pub(super) boxes: Vec<Node<'a>>,
    /// Marks of footnotes and endnotes: the name of the part and the id.
    pub(super) notes: Vec<(&'static str, &'a str)>,
    /// Pages that end before the first word.
    pub(super) pages_before: u32,
    /// Pages that end among or after the words.
    pub(super) pages_after: u32,
    pub(super) unread: Unread<'a>,
    /// The style of the run that is being read.
    run: RunStyle,
    fields: Vec<Field>,
}

/// What is in a document and cannot be read, for one warning of each kind.
#[derive(Default)]
pub(super) struct Unread<'a> {
    pub(super) hidden: bool,
    /// Fonts whose signs have no character.
    pub(super) fonts: BTreeSet<&'a str>,
}

/// A field whose result is being read.
#[derive(Default)]
struct Field {
    instruction: String,
    /// Where the result begins, once it has.
    start: Option<usize>,
}

impl<'a> Runs<'a> {
    /// Those of a paragraph.
    pub(super) fn read(paragraph: Node<'a>, context: &Context) -> Self {
        let style = context.styles.of(paragraph);
        let mut runs = Self { style, run: style.run, ..Self::default() };
        runs.nodes(paragraph, context);
        runs
    }

    fn nodes(&mut self, parent: Node<'a>, context: &Context) {
        for node in parent.children() {
            self.node(node, context);
        }
    }

    fn node(&mut self, node: Node<'a>, context: &Context) {
        match xml::name(node) {
            "r" => {
                let outer = self.run;
                self.run = context.styles.run(node, self.style.run);
                self.nodes(node, context);
                self.run = outer;
            }
            "t" => self.text(node.text().unwrap_or_default()),
            "tab" | "ptab" => self.line.inline().push(" "),
            "cr" => self.line.inline().break_line(),
            "br" => match xml::attribute(node, "type") {
                Some("page") if context.rendered_pages => {}
                Some("page") => self.page_ends(),
                _ => self.line.inline().break_line(),
            },
            "lastRenderedPageBreak" if context.rendered_pages => self.page_ends(),
            "noBreakHyphen" => self.text("-"),
            "sym" => self.symbol(node),
            "oMath" => self.formula(node, "$"),
            "oMathPara" => self.formula(node, "$$"),
            "hyperlink" => self.link(node, context),
            "fldChar" => self.field(node),
            "instrText" => {
                if let Some(field) = self.fields.last_mut().filter(|field| field.start.is_none()) {
                    field.instruction.push_str(node.text().unwrap_or_default());
                }
            }
            "drawing" | "pict" | "object" | "footnoteReference" | "endnoteReference"
                if self.run.hidden == Some(true) =>
            {
                self.unread.hidden = true;
            }
            "drawing" | "pict" | "object" => self.drawing(node),
            "footnoteReference" => self.note("footnotes", node),
            "endnoteReference" => self.note("endnotes", node),
            "AlternateContent" => {
                if let Some(content) = xml::choice(node) {
                    self.nodes(content, context);
                }
            }
            // Deleted or moved away, of no text, or read elsewhere.
            "del" | "moveFrom" | "pPr" | "rPr" | "sdtPr" | "sdtEndPr" | "annotationRef" => {}
            // How a word is pronounced, character by character: it would tear the word apart.
            "rt" => {}
            _ => self.nodes(node, context),
        }
    }

    fn formula(&mut self, node: Node<'_>, mark: &str) {
        let latex = math::latex(node);
        if !latex.is_empty() {
            self.line.inline().push(&format!(" {mark}{latex}{mark} "));
        }
    }

    fn page_ends(&mut self) {
        if self.line.inline().is_empty() { self.pages_before += 1 } else { self.pages_after += 1 }
    }

    /// Adds words in the style of the run.
    fn text(&mut self, text: &str) {
        if self.run.hidden == Some(true) {
            self.unread.hidden |= !text.trim().is_empty();
            return;
        }
        let script = self.run.script.flatten();
        let Some(font) = self.run.font.flatten() else { return self.line.push(text, script) };
        let signs: String = text.chars().map(|c| self.sign(c, font.name)).collect();
        self.line.push(&signs, script);
    }

    /// A character by its code and its font.
    fn symbol(&mut self, node: Node<'a>) {
        let code = xml::attribute(node, "char").and_then(|code| u32::from_str_radix(code, 16).ok());
        let Some(character) = code.and_then(char::from_u32) else { return };
        if self.run.hidden == Some(true) {
            self.unread.hidden = true;
            return;
        }
        let of_run = self.run.font.flatten().map_or("", |font| font.name);
        let sign = self.sign(character, xml::attribute(node, "font").unwrap_or(of_run));
        self.line.push(sign.encode_utf8(&mut [0; 4]), self.run.script.flatten());
    }

    /// What a character of a font is read as.
    fn sign(&mut self, c: char, font: &'a str) -> char {
        let sign = match symbols::find(font) {
            Some(font) => font.unicode(c),
            None => Some(c).filter(|c| !symbols::is_private(*c)),
        };
        sign.unwrap_or_else(|| {
            self.unread.fonts.insert(font);
            char::REPLACEMENT_CHARACTER
        })
    }

    fn link(&mut self, node: Node<'a>, context: &Context) {
        let start = self.line.inline().text.len();
        self.nodes(node, context);
        let anchor = xml::attribute(node, "anchor").map(|anchor| format!("#{anchor}"));
        let target = xml::relation(node, "id").and_then(|id| context.relations.target(id));
        let target = match (target, anchor) {
            (Some(target), Some(anchor)) => format!("{target}{anchor}"),
            (Some(target), None) => target.to_owned(),
            (None, anchor) => anchor.unwrap_or_default(),
        };
        self.line.inline().link_from(start, &target);
    }

    fn field(&mut self, node: Node<'_>) {
        match xml::attribute(node, "fldCharType") {
            Some("begin") => self.fields.push(Field::default()),
            Some("separate") => {
                if let Some(field) = self.fields.last_mut() {
                    field.start = Some(self.line.inline().text.len());
                }
            }
            Some("end") => {
                let field = self.fields.pop().unwrap_or_default();
                let mut words = field.instruction.split_whitespace();
                if let (Some("HYPERLINK"), Some(start)) = (words.next(), field.start) {
                    let local = field.instruction.contains("\\l");
                    let quoted = field.instruction.split('"').nth(1).unwrap_or_default();
                    let target = if local { format!("#{quoted}") } else { quoted.to_owned() };
                    self.line.inline().link_from(start, &target);
                }
            }
            _ => {}
        }
    }

    fn drawing(&mut self, node: Node<'a>) {
        let mut is_shown = false;
        let mut next = vec![node];
        while let Some(node) = next.pop() {
            match xml::name(node) {
                "txbxContent" | "txBody" => self.boxes.push(node),
                // Words as a drawing (`WordArt`).
                "textpath" => {
                    self.text(xml::attribute(node, "string").unwrap_or_default());
                }
                "AlternateContent" => next.extend(xml::choice(node)),
                name => {
                    is_shown |= matches!(name, "blip" | "imagedata" | "chart" | "relIds");
                    next.extend(node.children().rev());
                }
            }
        }
        if is_shown {
            self.drawings.push(node);
        }
    }

    fn note(&mut self, part: &'static str, node: Node<'a>) {
        self.notes.extend(xml::attribute(node, "id").map(|id| (part, id)));
    }
}
