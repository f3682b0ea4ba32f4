//! Rich Text Format (specification 1.9.1): paragraphs, headings by outline level, lists, tables
//! without merged cells, links and pictures.
use encoding_rs::{Encoding, WINDOWS_1252};

use super::describe;
use super::table::TableBuilder;
use crate::parsed::Parsed;
use crate::room::MAX_PICTURE_BYTES;
use crate::writer::Writer;
use crate::writer::inline::Inline;

/// Groups inside groups; deeper ones share the state of the last.
const DEEPEST: usize = 1_000;

pub(super) fn read(bytes: &[u8]) -> Parsed {
    let mut reader = RtfReader::new();
    let mut at = 0;
    while at < bytes.len() {
        at = reader.token(bytes, at);
    }
    reader.flush();
    reader.end_paragraph();
    reader.end_table();
    let information = reader.information;
    let mut parsed = reader.writer.finish();
    describe(&mut parsed, Some(information.title), Some(information.author));
    parsed.date = halma_text::dates::normalise_stamp(&information.date);
    parsed
}

/// Where the text of a group goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Destination {
    Body,
    Skipped,
    Information,
    Title,
    Author,
    Date,
    /// The instruction of a field, as in `HYPERLINK "…"`.
    Instruction,
    /// The mark of an item as it is shown.
    Marker,
    Picture,
}

#[derive(Debug, Clone, Copy)]
struct Group {
    destination: Destination,
    /// Characters that stand for one `\u` in readers that know no Unicode.
    unicode_skip: usize,
    is_hidden: bool,
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
struct Information {
    title: String,
    author: String,
    date: String,
}

struct RtfReader {
    stack: Vec<Group>,
    group: Group,
    codepage: &'static Encoding,
    writer: Writer,
    /// Bytes that are still to be left out after a `\u`.
    skip: usize,
    /// Bytes of a text that waits for its encoding.
    pending: Vec<u8>,
    /// The first half of a character above U+FFFF.
    high: Option<u16>,
    inline: Inline,
    marker: String,
    paragraph: RtfParagraph,
    cells: Vec<Inline>,
    table: TableBuilder,
    instruction: String,
    /// The media type of a picture and its bytes in hexadecimal digits.
    picture: Option<(&'static str, Vec<u8>)>,
    picture_bytes: usize,
    information: Information,
}

impl RtfReader {
    fn new() -> Self {
        let group = Group {
            destination: Destination::Body,
            unicode_skip: 1,
            is_hidden: false,
            link_start: None,
        };
        Self {
            stack: vec![],
            group,
            codepage: WINDOWS_1252,
            writer: Writer::new("rtf"),
            skip: 0,
            pending: vec![],
            high: None,
            inline: Inline::default(),
            marker: String::new(),
            paragraph: RtfParagraph::default(),
            cells: vec![],
            table: TableBuilder::default(),
            instruction: String::new(),
            picture: None,
            picture_bytes: 0,
            information: Information::default(),
        }
    }

    /// Reads one token and returns where the next one begins.
    fn token(&mut self, bytes: &[u8], at: usize) -> usize {
        match bytes[at] {
            b'{' => {
                self.flush();
                if self.stack.len() < DEEPEST {
                    self.stack.push(self.group);
                    self.group.link_start = None;
                }
            }
            b'}' => {
                self.flush();
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
            if instruction.trim_start().starts_with("HYPERLINK") {
                self.inline.link_from(start, instruction.split('"').nth(1).unwrap_or_default());
            }
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
                let known = [&b"\\fldinst"[..], b"\\shppict"];
                if !known.iter().any(|word| bytes[at + 1..].starts_with(word)) {
                    self.group.destination = Destination::Skipped;
                }
            }
            Some(b'~') => self.byte(b' '),
            Some(b'_') => self.byte(b'-'),
            Some(byte @ (b'{' | b'}' | b'\\')) => self.byte(*byte),
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
        let bytes = std::mem::take(&mut self.pending);
        if self.group.destination == Destination::Picture {
            let room = MAX_PICTURE_BYTES.saturating_sub(self.picture_bytes);
            if let Some((_, digits)) =
                self.picture.as_mut().filter(|(_, digits)| digits.len() / 2 < room)
            {
                digits.extend(bytes);
            }
            return;
        }
        let (text, _) = self.codepage.decode_without_bom_handling(&bytes);
        self.text(&text);
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
        match self.group.destination {
            Destination::Body if !self.group.is_hidden => self.inline.push(text),
            Destination::Title => self.information.title.push_str(text),
            Destination::Author => self.information.author.push_str(text),
            Destination::Marker => self.marker.push_str(text),
            Destination::Instruction => self.instruction.push_str(text),
            _ => {}
        }
    }

    fn word(&mut self, word: &str, number: Option<i64>) {
        let count = || number.and_then(|number| usize::try_from(number).ok());
        match word {
            "par" | "sect" | "page" => self.end_paragraph(),
            "line" => self.inline.break_line(),
            "tab" | "emspace" | "enspace" | "qmspace" => self.text(" "),
            "emdash" => self.text("—"),
            "endash" => self.text("–"),
            "lquote" => self.text("‘"),
            "rquote" => self.text("’"),
            "ldblquote" => self.text("“"),
            "rdblquote" => self.text("”"),
            "bullet" => self.text("•"),
            "pard" => self.paragraph = RtfParagraph::default(),
            "v" => self.group.is_hidden = number != Some(0),
            "outlinelevel" => {
                let level = count().and_then(|level| u8::try_from(level + 1).ok());
                self.paragraph.heading = level.filter(|level| *level <= 9);
            }
            "ilvl" => self.paragraph.level = count().unwrap_or(0),
            "intbl" => self.paragraph.in_table = true,
            "cell" => self.cells.push(std::mem::take(&mut self.inline).trimmed()),
            "row" => self.end_row(),
            "uc" => self.group.unicode_skip = count().unwrap_or(1),
            "ansicpg" => {
                let label = format!("windows-{}", number.unwrap_or(0));
                self.codepage = Encoding::for_label(label.as_bytes()).unwrap_or(WINDOWS_1252);
            }
            "pngblip" => self.picture = Some(("image/png", vec![])),
            "jpegblip" => self.picture = Some(("image/jpeg", vec![])),
            "fldrslt" => self.group.link_start = Some(self.inline.text.len()),
            "yr" | "mo" | "dy" if self.group.destination == Destination::Date => {
                let separator = if word == "yr" { "" } else { "-" };
                let part = format!("{separator}{:02}", number.unwrap_or(0));
                self.information.date.push_str(&part);
            }
            _ => self.destination(word),
        }
    }

    fn destination(&mut self, word: &str) {
        let new = match (self.group.destination, word) {
            (Destination::Body, "info") => Destination::Information,
            (Destination::Information, "title") => Destination::Title,
            (Destination::Information, "author") => Destination::Author,
            // The last one counts: when it was saved.
            (Destination::Information, "creatim" | "revtim") => {
                self.information.date.clear();
                Destination::Date
            }
            (Destination::Body, "fldinst") => Destination::Instruction,
            (Destination::Body, "listtext" | "pntext") => {
                self.marker.clear();
                Destination::Marker
            }
            (Destination::Body, "pict") => Destination::Picture,
            (
                _,
                "fonttbl" | "colortbl" | "stylesheet" | "header" | "headerl" | "headerr"
                | "headerf" | "footer" | "footerl" | "footerr" | "footerf" | "nonshppict"
                | "datafield" | "object" | "listtable" | "listoverridetable" | "themedata"
                | "atnid" | "atnauthor",
            ) => Destination::Skipped,
            _ => return,
        };
        self.group.destination = new;
    }

    fn end_paragraph(&mut self) {
        if self.paragraph.in_table {
            return self.inline.break_line();
        }
        let inline = std::mem::take(&mut self.inline).trimmed();
        let marker = std::mem::take(&mut self.marker);
        if inline.is_empty() {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{check, outline};

    #[test]
    fn headings_items_links_and_tables_come_out() {
        let text = br#"{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0 Arial;}}{\info{\title A title}{\author Ann}
{\revtim\yr2023\mo1\dy5}}{\header left out}\pard\outlinelevel0 Heading\par\pard See
 {\field{\*\fldinst{HYPERLINK "https://a.example"}}{\fldrslt{the site}}} caf\'e9 \u8364?\par
{\listtext\tab 1.\tab}First\par{\v hidden}\trowd\cellx1\cellx2\pard\intbl Name\cell Year\cell\row
\trowd\pard\intbl Jaws\cell 1975\cell\row\pard End\par}"#;
        let parsed = read(text);
        check(&parsed);
        let lines = outline(&parsed);
        assert_eq!(lines[..3], ["h1 # Heading", "p See the site café €", "item 1. First"]);
        assert_eq!(parsed.links[0].target, "https://a.example");
        assert_eq!(parsed.tables[0].columns, ["Name", "Year"]);
        assert_eq!(lines.last().map(String::as_str), Some("p End"));
        assert_eq!(
            (parsed.author.as_deref(), parsed.date.as_deref()),
            (Some("Ann"), Some("2023-01-05"))
        );
    }
}
