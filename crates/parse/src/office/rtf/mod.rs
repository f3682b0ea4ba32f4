//! Rich Text Format (specification 1.9.1): paragraphs, headings by outline level, lists, tables
//! without merged cells, text boxes, notes, links and pictures. Deleted and hidden text is left out.
mod code_page;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::HashMap;

pub(crate) use code_page::CodePage;
use code_page::WESTERN;

use super::describe;
use super::run_text::RunText;
use super::symbols::{self, SymbolFont};
use super::table::TableBuilder;
use crate::parsed::Parsed;
use crate::room::MAX_PICTURE_BYTES;
use crate::writer::Writer;
use crate::writer::inline::Inline;
use crate::writer::script::Script;

/// Groups inside groups; deeper ones share the state of the last.
const DEEPEST: usize = 1_000;

/// Half-points above or below the line that make a script; fewer only move a word.
const RAISED: i64 = 3;

/// Destinations behind `\*` that are read.
const OPTIONAL: &[&str] = &["fldinst", "shppict", "shpinst", "do", "nesttableprops", "footnote"];

pub(crate) fn read(bytes: &[u8]) -> Parsed {
    let reader = RtfReader::new().read(bytes);
    let information = reader.information;
    let mut parsed = reader.writer.finish();
    describe(&mut parsed, Some(information.title), Some(information.author));
    parsed.date = halma_text::dates::normalise_stamp(&information.date);
    parsed
}

/// The web page that a mail program has wrapped into RTF (MS-OXRTFEX).
pub(crate) fn unwrapped(bytes: &[u8]) -> Option<String> {
    let reader = RtfReader { page: Some(String::new()), ..RtfReader::new() };
    reader.read(bytes).page
}

/// Where the text of a group goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Destination {
    #[default]
    Body,
    Skipped,
    Fonts,
    Information,
    Title,
    Author,
    Date,
    /// The instruction of a field, as in `HYPERLINK "…"`.
    Instruction,
    /// The mark of an item as it is shown.
    Marker,
    Picture,
    /// The properties of a shape or an object: only a part of it is text.
    Shape,
}

#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "control words switch them one by one")]
struct Group {
    destination: Destination,
    /// Characters that stand for one `\u` in readers that know no Unicode.
    unicode_skip: usize,
    font: i64,
    /// What the font table says of it.
    page: Option<CodePage>,
    signs: Option<SymbolFont>,
    script: Option<Script>,
    is_hidden: bool,
    is_deleted: bool,
    /// Inside `\shp`, which may say the same twice.
    in_shape: bool,
    /// The group of a text box or a note.
    is_aside: bool,
    /// Where the result of a field begins, in the group of the result.
    link_start: Option<usize>,
}

#[derive(Default)]
struct RtfParagraph {
    heading: Option<u8>,
    level: usize,
    in_table: bool,
}

#[derive(Default)]
struct Font {
    page: Option<CodePage>,
    /// As in `Arial;`.
    name: String,
    signs: Option<SymbolFont>,
}

#[derive(Default)]
struct Information {
    title: String,
    author: String,
    date: String,
}

struct RtfReader {
    stack: Vec<Group>,
    group: Group,
    codepage: CodePage,
    fonts: HashMap<i64, Font>,
    default_font: i64,
    writer: Writer,
    /// Characters that are still to be left out after a `\u`.
    skip: usize,
    /// Bytes of a text that waits for its encoding.
    pending: Vec<u8>,
    /// The first half of a character above U+FFFF.
    high: Option<u16>,
    line: RunText,
    /// The text around a text box or a note.
    outer: Vec<RunText>,
    /// Text boxes and notes that stand below the paragraph.
    asides: Vec<Inline>,
    marker: String,
    paragraph: RtfParagraph,
    cells: Vec<Inline>,
    table: TableBuilder,
    instruction: String,
    /// The media type of a picture and its bytes in hexadecimal digits.
    picture: Option<(&'static str, Vec<u8>)>,
    picture_bytes: usize,
    information: Information,
    /// The web page, where only that is read.
    page: Option<String>,
}

impl RtfReader {
    fn new() -> Self {
        Self {
            stack: vec![],
            group: Group { unicode_skip: 1, ..Group::default() },
            codepage: WESTERN,
            fonts: HashMap::new(),
            default_font: 0,
            writer: Writer::new("rtf"),
            skip: 0,
            pending: vec![],
            high: None,
            line: RunText::default(),
            outer: vec![],
            asides: vec![],
            marker: String::new(),
            paragraph: RtfParagraph::default(),
            cells: vec![],
            table: TableBuilder::default(),
            instruction: String::new(),
            picture: None,
            picture_bytes: 0,
            information: Information::default(),
            page: None,
        }
    }

    fn read(mut self, bytes: &[u8]) -> Self {
        let mut at = 0;
        while at < bytes.len() {
            at = self.token(bytes, at);
        }
        self.flush();
        while !self.outer.is_empty() {
            self.end_aside();
        }
        self.paragraph.in_table = false;
        self.end_paragraph();
        self.end_table();
        self
    }

    /// Reads one token and returns where the next one begins.
    fn token(&mut self, bytes: &[u8], at: usize) -> usize {
        match bytes[at] {
            b'{' => {
                self.flush();
                self.skip = 0;
                if self.stack.len() < DEEPEST {
                    self.stack.push(self.group);
                    self.group.link_start = None;
                    self.group.is_aside = false;
                }
            }
            b'}' => {
                self.flush();
                self.skip = 0;
                self.close_group();
            }
            b'\\' => return self.control(bytes, at + 1),
            b'\r' | b'\n' => {}
            byte => self.byte(byte),
        }
        at + 1
    }

    fn close_group(&mut self) {
        let Some(outer) = self.stack.pop() else { return };
        let inner = std::mem::replace(&mut self.group, outer);
        if let Some(start) = inner.link_start {
            let instruction = std::mem::take(&mut self.instruction);
            let inline = self.line.inline();
            if instruction.trim_start().starts_with("HYPERLINK") {
                inline.link_from(start, instruction.split('"').nth(1).unwrap_or_default());
            } else if inline.text.len() == start {
                self.text(&field_sign(&instruction).unwrap_or_default());
            }
        }
        if inner.destination == Destination::Fonts && outer.destination == Destination::Body {
            self.set_font(self.default_font);
        }
        if inner.is_aside {
            self.end_aside();
        }
        if inner.destination == Destination::Picture && outer.destination != Destination::Picture {
            self.end_picture();
        }
    }

    /// What follows a backslash: a word with a number, or a single character.
    fn control(&mut self, bytes: &[u8], at: usize) -> usize {
        let run = |from: usize, is: fn(&u8) -> bool| {
            bytes.get(from..).into_iter().flatten().take(32).take_while(|byte| is(byte)).count()
        };
        let letters = run(at, u8::is_ascii_alphabetic);
        if letters == 0 {
            return self.symbol(bytes, at);
        }
        let sign = usize::from(bytes.get(at + letters) == Some(&b'-'));
        let end = at + letters + sign + run(at + letters + sign, u8::is_ascii_digit);
        let text =
            |range: std::ops::Range<usize>| std::str::from_utf8(&bytes[range]).unwrap_or_default();
        let (word, number) = (text(at..at + letters), text(at + letters..end).parse::<i64>().ok());
        let end = end + usize::from(bytes.get(end) == Some(&b' '));
        self.flush();
        match (word, number) {
            // Raw bytes, in which braces mean nothing.
            ("bin", Some(length)) => {
                return end.saturating_add(usize::try_from(length).unwrap_or(0)).min(bytes.len());
            }
            ("u", Some(code)) => self.unicode(code),
            _ => self.word(word, number),
        }
        end
    }

    fn symbol(&mut self, bytes: &[u8], at: usize) -> usize {
        match bytes.get(at) {
            Some(b'\'') => {
                let digits =
                    bytes.get(at + 1..at + 3).and_then(|pair| std::str::from_utf8(pair).ok());
                if let Some(byte) = digits.and_then(|pair| u8::from_str_radix(pair, 16).ok()) {
                    self.byte(byte);
                }
                return (at + 3).min(bytes.len());
            }
            // A destination that readers may leave out, unless we know the word that follows.
            Some(b'*') => {
                let word = bytes[at + 1..].strip_prefix(b"\\").unwrap_or_default();
                let end = word.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
                let is = |name: &&str| name.as_bytes() == &word[..end];
                if !OPTIONAL.iter().any(is) && (self.page.is_none() || !is(&"htmltag")) {
                    self.group.destination = Destination::Skipped;
                }
            }
            Some(b'~') => self.byte(b' '),
            Some(b'_') => self.byte(b'-'),
            Some(byte @ (b'{' | b'}' | b'\\')) => self.byte(*byte),
            Some(b'\r' | b'\n') => {
                self.flush();
                self.word("par", None);
            }
            _ => {}
        }
        at + 1
    }

    fn byte(&mut self, byte: u8) {
        if self.skip > 0 {
            self.skip -= 1;
        } else {
            self.pending.push(byte);
        }
    }

    fn flush(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        let mut bytes = std::mem::take(&mut self.pending);
        if self.group.destination == Destination::Picture {
            let room = MAX_PICTURE_BYTES.saturating_sub(self.picture_bytes);
            if let Some((_, digits)) =
                self.picture.as_mut().filter(|(_, digits)| digits.len() / 2 < room)
            {
                digits.extend(&bytes);
            }
        } else {
            let text = self.decoded(&bytes);
            self.text(&text);
        }
        bytes.clear();
        self.pending = bytes;
    }

    /// The characters of bytes in the code page of the font, else of the document.
    fn decoded<'b>(&self, bytes: &'b [u8]) -> Cow<'b, str> {
        if self.group.signs.is_some() {
            return bytes.iter().map(|byte| char::from(*byte)).collect();
        }
        let page = self.group.page.unwrap_or(self.codepage);
        // Programs call any font Western, and write UTF-8 into any document.
        let is_foreign = || bytes.windows(3).any(|run| run.iter().all(|byte| *byte >= 0xc0));
        match std::str::from_utf8(bytes) {
            Ok(text) if page == WESTERN => text.into(),
            _ if page == WESTERN && is_foreign() => self.codepage.decode(bytes).into(),
            _ => page.decode(bytes).into(),
        }
    }

    fn unicode(&mut self, code: i64) {
        self.skip = self.group.unicode_skip;
        // Numbers above 32,767 are written as negative ones, characters above U+FFFF as two.
        let unit = u16::try_from(code.rem_euclid(65_536)).unwrap_or(0);
        if (0xd800..0xdc00).contains(&unit) {
            self.high = Some(unit);
            return;
        }
        let units = self.high.take().into_iter().chain([unit]);
        let text: String = char::decode_utf16(units).filter_map(Result::ok).collect();
        self.text(&text);
    }

    fn text(&mut self, text: &str) {
        let sign = |font: SymbolFont, c| font.unicode(c).unwrap_or(char::REPLACEMENT_CHARACTER);
        let signs =
            self.group.signs.map(|font| text.chars().map(|c| sign(font, c)).collect::<String>());
        let text = signs.as_deref().unwrap_or(text);
        match self.group.destination {
            Destination::Body if !self.is_left_out() => self.body(text),
            Destination::Title => self.information.title.push_str(text),
            Destination::Author => self.information.author.push_str(text),
            Destination::Marker => self.marker.push_str(text),
            Destination::Fonts => {
                let font = self.fonts.entry(self.group.font).or_default();
                font.name.push_str(text);
                font.signs = symbols::find(font.name.trim_end_matches(';'));
            }
            Destination::Instruction => self.instruction.push_str(text),
            _ => {}
        }
    }

    fn is_left_out(&self) -> bool {
        self.group.is_hidden || self.group.is_deleted
    }

    fn body(&mut self, text: &str) {
        if !text.is_ascii() && text.contains(char::REPLACEMENT_CHARACTER) {
            let lost = "some of its characters are in an encoding that is not read";
            self.writer.warn(format!("{lost}; open it in a word processor and save it as DOCX"));
        }
        match &mut self.page {
            Some(page) => page.push_str(text),
            None => self.line.push(text, self.group.script),
        }
    }

    fn word(&mut self, word: &str, number: Option<i64>) {
        let count = || number.and_then(|number| usize::try_from(number).ok());
        if self.group.destination == Destination::Skipped {
            return;
        }
        if let Some(character) = character(word) {
            // It may stand for a `\u`, as a byte may.
            let text = if self.skip > 0 { "" } else { character };
            self.skip = self.skip.saturating_sub(1);
            return self.text(text);
        }
        let in_aside = !self.outer.is_empty();
        match word {
            // The end of a paragraph that is deleted joins it with the next.
            "par" if self.is_left_out() => {}
            "par" | "line" if self.page.is_some() => self.text("\r\n"),
            "line" | "nestrow" => self.line.inline().break_line(),
            "par" | "sect" | "page" | "cell" | "row" if in_aside => self.line.inline().break_line(),
            "pard" | "outlinelevel" | "ilvl" | "intbl" if in_aside => {}
            "par" | "sect" | "page" => self.end_paragraph(),
            "pard" => self.paragraph = RtfParagraph::default(),
            "outlinelevel" => {
                let level = count().and_then(|level| u8::try_from(level + 1).ok());
                self.paragraph.heading = level.filter(|level| *level <= 9);
            }
            "ilvl" => self.paragraph.level = count().unwrap_or(0),
            "intbl" => self.paragraph.in_table = true,
            "cell" => self.cells.push(std::mem::take(&mut self.line).finish()),
            "nestcell" => self.line.inline().push(" "),
            "row" => self.end_row(),
            "uc" => self.group.unicode_skip = count().unwrap_or(1),
            "pngblip" => self.picture = Some(("image/png", vec![])),
            "jpegblip" => self.picture = Some(("image/jpeg", vec![])),
            "fldrslt" => self.group.link_start = Some(self.line.inline().text.len()),
            "yr" | "mo" | "dy" if self.group.destination == Destination::Date => {
                let separator = if word == "yr" { "" } else { "-" };
                let part = format!("{separator}{:02}", number.unwrap_or(0));
                self.information.date.push_str(&part);
            }
            _ => self.characters(word, number),
        }
    }

    /// What a word says of the characters behind it.
    fn characters(&mut self, word: &str, number: Option<i64>) {
        let is_on = number != Some(0);
        let is_raised = number.is_none_or(|points| points >= RAISED);
        let page = |or| CodePage::for_number(number.filter(|page| *page > 0).unwrap_or(or));
        let group = &mut self.group;
        match word {
            "plain" => {
                (group.script, group.is_deleted) = (None, false);
                // What is no part of a web page is hidden by `\htmlrtf` alone.
                group.is_hidden &= self.page.is_some();
                self.set_font(self.default_font);
            }
            "v" if self.page.is_none() => group.is_hidden = is_on,
            "htmlrtf" if self.page.is_some() => group.is_hidden = is_on,
            "deleted" | "mvf" => group.is_deleted = is_on,
            "super" => group.script = is_on.then_some(Script::Super),
            "sub" => group.script = is_on.then_some(Script::Sub),
            "nosupersub" => group.script = None,
            "up" => group.script = is_raised.then_some(Script::Super),
            "dn" => group.script = is_raised.then_some(Script::Sub),
            "ansicpg" => self.codepage = page(1_252),
            "mac" => self.codepage = page(10_000),
            "pc" => self.codepage = page(437),
            "pca" => self.codepage = page(850),
            "f" => self.set_font(number.unwrap_or(0)),
            "deff" => self.default_font = number.unwrap_or(0),
            "fcharset" | "cpg" if group.destination == Destination::Fonts => {
                let charset = || CodePage::for_charset(number.unwrap_or(0));
                let page = if word == "cpg" { Some(page(1_252)) } else { charset() };
                self.fonts.entry(group.font).or_default().page = page;
            }
            _ => self.destination(word),
        }
    }

    fn set_font(&mut self, number: i64) {
        let font = self.fonts.get(&number);
        self.group.font = number;
        self.group.page = font.and_then(|font| font.page);
        self.group.signs = font.and_then(|font| font.signs);
    }

    fn destination(&mut self, word: &str) {
        let new = match (self.group.destination, word) {
            (Destination::Body, "info") => Destination::Information,
            (Destination::Body, "fonttbl") => Destination::Fonts,
            (Destination::Information, "title") => Destination::Title,
            (Destination::Information, "author") => Destination::Author,
            // The last one counts: when it was saved.
            (Destination::Information, "creatim" | "revtim") => {
                self.information.date.clear();
                Destination::Date
            }
            (Destination::Body, "fldinst") => {
                self.instruction.clear();
                Destination::Instruction
            }
            (Destination::Body, "listtext" | "pntext") => {
                self.marker.clear();
                Destination::Marker
            }
            (Destination::Body, "pict") if !self.is_left_out() => Destination::Picture,
            (Destination::Body, "shp") => return self.group.in_shape = true,
            // For readers that know no shapes; its text stands in `\shptxt` too.
            (Destination::Body, "do") if self.group.in_shape => Destination::Skipped,
            (Destination::Body, "shpinst" | "do" | "object") => Destination::Shape,
            (Destination::Shape, "result") => Destination::Body,
            (Destination::Shape, "shptxt" | "dptxbxtext") | (Destination::Body, "footnote") => {
                self.begin_aside();
                Destination::Body
            }
            (
                _,
                "colortbl" | "stylesheet" | "header" | "headerl" | "headerr" | "headerf" | "footer"
                | "footerl" | "footerr" | "footerf" | "nonshppict" | "nonesttables" | "datafield"
                | "listtable" | "listoverridetable" | "themedata" | "atnid" | "atnauthor",
            ) => Destination::Skipped,
            _ => return,
        };
        self.group.destination = new;
    }

    fn begin_aside(&mut self) {
        // Groups that are too deep share one aside.
        if !self.group.is_aside {
            self.group.is_aside = true;
            self.outer.push(std::mem::take(&mut self.line));
        }
    }

    fn end_aside(&mut self) {
        let outer = self.outer.pop().unwrap_or_default();
        self.asides.push(std::mem::replace(&mut self.line, outer).finish());
    }

    fn end_paragraph(&mut self) {
        if self.paragraph.in_table {
            return self.line.inline().break_line();
        }
        let inline = std::mem::take(&mut self.line).finish();
        let marker = std::mem::take(&mut self.marker);
        if inline.is_empty() && self.asides.is_empty() {
            return;
        }
        self.end_table();
        if let Some(level) = self.paragraph.heading {
            self.writer.heading(level, &inline);
        } else if marker.trim().is_empty() {
            self.writer.paragraph(&inline);
        } else {
            let is_number = marker.chars().any(char::is_alphanumeric);
            let marker = if is_number { marker.trim() } else { "-" };
            self.writer.item(self.paragraph.level, marker, &inline);
        }
        self.asides.drain(..).for_each(|aside| self.writer.paragraph(&aside));
    }

    fn end_row(&mut self) {
        self.table.plain_row(false, std::mem::take(&mut self.cells));
        self.paragraph.in_table = false;
    }

    fn end_table(&mut self) {
        if !self.cells.is_empty() {
            self.end_row();
        }
        std::mem::take(&mut self.table).write(&mut self.writer);
    }

    fn end_picture(&mut self) {
        let Some((media, digits)) = self.picture.take() else { return };
        let digits: Vec<u8> = digits.into_iter().filter(u8::is_ascii_hexdigit).collect();
        let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
        let bytes: Vec<u8> = digits.chunks_exact(2).filter_map(pair).collect();
        if !bytes.is_empty() {
            self.picture_bytes += bytes.len();
            self.writer.figure("", "picture", Some((media.to_owned(), bytes)));
        }
    }
}

/// The character that a word stands for.
fn character(word: &str) -> Option<&'static str> {
    Some(match word {
        "tab" | "emspace" | "enspace" | "qmspace" => " ",
        "emdash" => "—",
        "endash" => "–",
        "lquote" => "‘",
        "rquote" => "’",
        "ldblquote" => "“",
        "rdblquote" => "”",
        "bullet" => "•",
        _ => return None,
    })
}

/// The sign of a field `SYMBOL 109 \f "Symbol"`, which programs draw themselves.
fn field_sign(instruction: &str) -> Option<String> {
    let code = instruction.trim_start().strip_prefix("SYMBOL")?.split_whitespace().next()?;
    let font = symbols::find(instruction.split('"').nth(1)?)?;
    font.unicode(char::from_u32(code.parse().ok()?)?).map(String::from)
}
