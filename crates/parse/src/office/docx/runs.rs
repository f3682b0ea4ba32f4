//! The words of a DOCX paragraph with what stands among them: links, formulas, pictures, text
//! boxes, notes, and where pages end.
use crate::office::math;
use crate::office::package::Relations;
use crate::office::xml::{self, Node};
use crate::writer::inline::Inline;

/// What a paragraph holds.
#[derive(Default)]
pub(super) struct Runs<'a> {
    pub(super) inline: Inline,
    /// Drawings that hold pictures.
    pub(super) pictures: Vec<Node<'a>>,
    /// Contents of text boxes.
    pub(super) boxes: Vec<Node<'a>>,
    /// Marks of footnotes and endnotes: the name of the part and the id.
    pub(super) notes: Vec<(&'static str, &'a str)>,
    /// Pages that end before the first word.
    pub(super) pages_before: u32,
    /// Pages that end among or after the words.
    pub(super) pages_after: u32,
    /// Whether the document says where its pages ended when it was saved last; only else are the
    /// breaks that its author set counted.
    rendered_pages: bool,
    fields: Vec<Field>,
}

/// A field whose result is being read.
#[derive(Default)]
struct Field {
    instruction: String,
    /// Where the result begins, once it has.
    start: Option<usize>,
}

impl<'a> Runs<'a> {
    pub(super) fn new(rendered_pages: bool) -> Self {
        Self { rendered_pages, ..Self::default() }
    }

    pub(super) fn read(&mut self, parent: Node<'a>, relations: &Relations) {
        for node in parent.children() {
            self.node(node, relations);
        }
    }

    fn node(&mut self, node: Node<'a>, relations: &Relations) {
        match xml::name(node) {
            "t" => self.inline.push(node.text().unwrap_or_default()),
            "tab" | "ptab" => self.inline.push(" "),
            "cr" => self.inline.break_line(),
            "br" => match xml::attribute(node, "type") {
                Some("page") if self.rendered_pages => {}
                Some("page") => self.page_ends(),
                _ => self.inline.break_line(),
            },
            "lastRenderedPageBreak" if self.rendered_pages => self.page_ends(),
            "noBreakHyphen" => self.inline.push("-"),
            "sym" => self.symbol(node),
            "oMath" => self.formula(node, "$"),
            "oMathPara" => self.formula(node, "$$"),
            "hyperlink" => self.link(node, relations),
            "fldChar" => self.field(node),
            "instrText" => {
                if let Some(field) = self.fields.last_mut().filter(|field| field.start.is_none()) {
                    field.instruction.push_str(node.text().unwrap_or_default());
                }
            }
            "drawing" | "pict" | "object" => self.drawing(node),
            "footnoteReference" => self.note("footnotes", node),
            "endnoteReference" => self.note("endnotes", node),
            "AlternateContent" => {
                if let Some(content) = xml::choice(node) {
                    self.read(content, relations);
                }
            }
            // Deleted or moved away, of no text, or read elsewhere.
            "del" | "moveFrom" | "pPr" | "rPr" | "sdtPr" | "sdtEndPr" | "annotationRef" => {}
            _ => self.read(node, relations),
        }
    }

    fn formula(&mut self, node: Node<'_>, mark: &str) {
        let latex = math::latex(node);
        if !latex.is_empty() {
            self.inline.push(&format!(" {mark}{latex}{mark} "));
        }
    }

    fn page_ends(&mut self) {
        if self.inline.is_empty() { self.pages_before += 1 } else { self.pages_after += 1 }
    }

    /// A character by its code; those of symbol fonts have no meaning outside them.
    fn symbol(&mut self, node: Node<'_>) {
        let code = xml::attribute(node, "char").and_then(|code| u32::from_str_radix(code, 16).ok());
        let character = code.and_then(char::from_u32);
        if let Some(character) = character.filter(|c| !('\u{e000}'..='\u{f8ff}').contains(c)) {
            self.inline.push(character.encode_utf8(&mut [0; 4]));
        }
    }

    fn link(&mut self, node: Node<'a>, relations: &Relations) {
        let start = self.inline.text.len();
        self.read(node, relations);
        let anchor = xml::attribute(node, "anchor").map(|anchor| format!("#{anchor}"));
        let target = xml::relation(node, "id").and_then(|id| relations.target(id));
        let target = match (target, anchor) {
            (Some(target), Some(anchor)) => format!("{target}{anchor}"),
            (Some(target), None) => target.to_owned(),
            (None, anchor) => anchor.unwrap_or_default(),
        };
        self.inline.link_from(start, &target);
    }

    fn field(&mut self, node: Node<'_>) {
        match xml::attribute(node, "fldCharType") {
            Some("begin") => self.fields.push(Field::default()),
            Some("separate") => {
                if let Some(field) = self.fields.last_mut() {
                    field.start = Some(self.inline.text.len());
                }
            }
            Some("end") => {
                let field = self.fields.pop().unwrap_or_default();
                let mut words = field.instruction.split_whitespace();
                if let (Some("HYPERLINK"), Some(start)) = (words.next(), field.start) {
                    let local = field.instruction.contains("\\l");
                    let quoted = field.instruction.split('"').nth(1).unwrap_or_default();
                    let target = if local { format!("#{quoted}") } else { quoted.to_owned() };
                    self.inline.link_from(start, &target);
                }
            }
            _ => {}
        }
    }

    fn drawing(&mut self, node: Node<'a>) {
        let mut has_picture = false;
        let mut next = vec![node];
        while let Some(node) = next.pop() {
            match xml::name(node) {
                "txbxContent" => self.boxes.push(node),
                "AlternateContent" => next.extend(xml::choice(node)),
                name => {
                    has_picture |= matches!(name, "blip" | "imagedata");
                    next.extend(node.children().rev());
                }
            }
        }
        if has_picture {
            self.pictures.push(node);
        }
    }

    fn note(&mut self, part: &'static str, node: Node<'a>) {
        self.notes.extend(xml::attribute(node, "id").map(|id| (part, id)));
    }
}
