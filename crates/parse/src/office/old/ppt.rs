//! `PowerPoint` presentations of 1997 to 2003 (MS-PPT): records inside records. Each slide is a page
//! with its title as a heading, its texts in order, and what the speaker noted.
use std::collections::HashMap;

use encoding_rs::{Encoding, UTF_16LE, WINDOWS_1252};

use super::{RESAVE, SIGNS, damaged, number, short};
use crate::container::{Compound, locked, stream};
use crate::office::run_text::RunText;
use crate::office::symbols::is_private;
use crate::parsed::{Parsed, Refusal};
use crate::writer::Writer;
use crate::writer::inline::Inline;
use crate::writer::script::Script;

// Kinds of records.
const DOCUMENT: u16 = 0x03e8;
const SLIDE: u16 = 0x03ee;
const NOTES: u16 = 0x03f0;
const NOTES_ATOM: u16 = 0x03f1;
const SLIDE_PLACE: u16 = 0x03f3;
const HEADER_FOOTER: u16 = 0x0420;
const OUTLINE_REFERENCE: u16 = 0x0f9e;
const TEXT_KIND: u16 = 0x0f9f;
const TEXT_WIDE: u16 = 0x0fa0;
const TEXT_STYLE: u16 = 0x0fa1;
const TEXT_BYTES: u16 = 0x0fa8;
const SLIDE_LIST: u16 = 0x0ff0;
const PLACES: u16 = 0x1772;
const SHAPE: u16 = 0xf004;
const SHAPE_ATOM: u16 = 0xf00a;
const SHAPE_PROPERTIES: u16 = 0xf122;

/// The token of a presentation that is encrypted, in the stream `Current User`.
const ENCRYPTED: usize = 0xf3d1_c4df;
// Kinds of texts.
const TITLE: usize = 0;
const SPEAKER_NOTES: usize = 2;
const CENTERED_TITLE: usize = 6;
/// The property of a group that is a table.
const TABLE: u16 = 0x039f;
/// The kind of a shape that is a picture.
const PICTURE: u16 = 75;

pub(super) fn read(file: &mut Compound<'_>) -> Result<Parsed, Refusal> {
    let user = stream(file, "/Current User").unwrap_or_default();
    if number(&user, 12) == Some(ENCRYPTED) {
        return Err(locked());
    }
    let bytes = stream(file, "/PowerPoint Document").unwrap_or_default();
    // What is saved later stands further on.
    let (mut document, mut places) = (&[][..], HashMap::new());
    let (mut slides, mut notes) = (HashMap::new(), HashMap::new());
    for record in records(&bytes, false) {
        match record.kind {
            DOCUMENT => document = record.body,
            SLIDE => drop(slides.insert(record.place, record.body)),
            NOTES => {
                let about = records(record.body, false).find(|about| about.kind == NOTES_ATOM);
                let slide = about.and_then(|about| number(about.body, 0));
                notes.insert(slide, record.body);
            }
            PLACES => add_places(record.body, &mut places),
            _ => {}
        }
    }
    if document.is_empty() {
        return Err(damaged("PowerPoint presentation"));
    }
    let mut writer = Writer::new("ppt");
    for (page, listed) in (1..).zip(listed(document)) {
        writer.page(page);
        let slide = places.get(&listed.place).and_then(|place| slides.remove(place));
        if slide.is_none() {
            writer.warn("a slide is missing; open the file and save it again".to_owned());
        }
        let mut texts = Texts { outline: listed.texts.shown, ..Texts::default() };
        records(slide.unwrap_or_default(), true).for_each(|record| texts.record(&record));
        texts.write(&mut writer);
        let notes = notes.remove(&Some(listed.id)).unwrap_or_default();
        let mut texts = Texts::default();
        records(notes, true).for_each(|record| texts.record(&record));
        texts.shown.retain(|text| text.kind == SPEAKER_NOTES && !text.words.trim().is_empty());
        if !texts.shown.is_empty() {
            writer.heading(3, &Inline::words("Speaker notes"));
            texts.write(&mut writer);
        }
    }
    Ok(writer.finish())
}

struct Record<'a> {
    /// Where it begins.
    place: usize,
    instance: u16,
    kind: u16,
    body: &'a [u8],
}

/// The records of a stream or of a container in order; `deep` says whether those inside containers
/// are among them.
fn records(bytes: &[u8], deep: bool) -> impl Iterator<Item = Record<'_>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let (place, start) = (at, at + 8);
        let (version, length) = (short(bytes, at)?, number(bytes, at + 4)?);
        let end = start.saturating_add(length).min(bytes.len());
        let is_container = version & 0xf == 0xf;
        at = if deep && is_container { start } else { end };
        let kind = short(bytes, place + 2)?;
        Some(Record { place, instance: version >> 4, kind, body: bytes.get(start..end)? })
    })
}

/// Where the parts of the presentation with these numbers begin.
fn add_places(mut list: &[u8], places: &mut HashMap<usize, usize>) {
    while let Some(entry) = number(list, 0) {
        list = &list[4..];
        for id in (entry & 0xf_ffff..).take(entry >> 20) {
            let Some(place) = number(list, 0) else { return };
            places.insert(id, place);
            list = &list[4..];
        }
    }
}

/// A slide as the list of slides names it.
struct Listed<'a> {
    /// The number of its place.
    place: usize,
    id: usize,
    texts: Texts<'a>,
}

/// The slides in order, with the texts that are in their outline.
fn listed(document: &[u8]) -> Vec<Listed<'_>> {
    let mut slides: Vec<Listed<'_>> = vec![];
    let lists =
        records(document, false).filter(|list| list.kind == SLIDE_LIST && list.instance == 0);
    for record in lists.flat_map(|list| records(list.body, false)) {
        if record.kind == SLIDE_PLACE {
            let [place, id] = [0, 12].map(|at| number(record.body, at).unwrap_or(0));
            slides.push(Listed { place, id, texts: Texts::default() });
        } else if let Some(slide) = slides.last_mut() {
            slide.texts.record(&record);
        }
    }
    slides
}

#[derive(Default)]
struct Text<'a> {
    kind: usize,
    words: String,
    style: &'a [u8],
}

/// The texts of a slide.
#[derive(Default)]
struct Texts<'a> {
    shown: Vec<Text<'a>>,
    /// Texts of the outline that no shape has shown so far.
    outline: Vec<Text<'a>>,
    /// Whether the shape is a header, a footer or a number.
    is_margin: bool,
    has_pictures: bool,
    has_tables: bool,
}

impl<'a> Texts<'a> {
    fn record(&mut self, record: &Record<'a>) {
        let value = || number(record.body, 0).unwrap_or(usize::MAX);
        match record.kind {
            SHAPE => self.is_margin = false,
            HEADER_FOOTER => self.is_margin = true,
            SHAPE_PROPERTIES => {
                let mut names = record.body.chunks(6).map(|property| short(property, 0));
                self.has_tables |= names.any(|name| name == Some(TABLE));
            }
            SHAPE_ATOM => self.has_pictures |= record.instance == PICTURE,
            _ if self.is_margin => {}
            TEXT_KIND => self.shown.push(Text { kind: value(), ..Text::default() }),
            OUTLINE_REFERENCE => {
                self.shown.extend(self.outline.get_mut(value()).map(std::mem::take));
            }
            kind => {
                let Some(text) = self.shown.last_mut() else { return };
                let decode = |encoding: &'static Encoding| {
                    encoding.decode_without_bom_handling(record.body).0.into_owned()
                };
                match kind {
                    TEXT_WIDE => text.words = decode(UTF_16LE),
                    TEXT_BYTES => text.words = decode(WINDOWS_1252),
                    TEXT_STYLE => text.style = record.body,
                    _ => {}
                }
            }
        }
    }

    fn write(&self, writer: &mut Writer) {
        let mut is_titled = false;
        for text in self.shown.iter().chain(&self.outline) {
            let lines = text.lines();
            if matches!(text.kind, TITLE | CENTERED_TITLE) && !is_titled {
                let mut title = Inline::default();
                for (_, line) in &lines {
                    title.append(line);
                }
                is_titled = !title.is_empty();
                writer.heading(2, &title.trimmed());
                continue;
            }
            for (level, line) in lines {
                match level {
                    Some(level) => writer.item(level, "-", &line),
                    None => writer.paragraph(&line),
                }
            }
            if text.words.contains(is_private) {
                writer.warn(SIGNS.to_owned());
            }
        }
        if self.has_pictures {
            writer.warn(format!("pictures, charts and objects are left out; {RESAVE}"));
        }
        if self.has_tables {
            writer.warn(format!("cells of tables are read as paragraphs; {RESAVE} as tables"));
        }
    }
}

impl Text<'_> {
    /// The paragraphs, each with its level if it is an item of a list.
    fn lines(&self) -> Vec<(Option<usize>, Inline)> {
        let length = self.words.encode_utf16().count() + 1;
        let mut at = 0;
        let levels = spread(self.style, &mut at, length, paragraph_style);
        let scripts = spread(self.style, &mut at, length, character_style);
        let (mut lines, mut line, mut at) = (vec![], RunText::default(), 0);
        for c in self.words.chars().chain(['\r']) {
            match c {
                '\r' => lines.push((levels[at].level, std::mem::take(&mut line).finish())),
                '\x0b' => line.inline().break_line(),
                c if is_private(c) => line.push("\u{fffd}", scripts[at].script),
                c => line.push(c.encode_utf8(&mut [0; 4]), scripts[at].script),
            }
            at += c.len_utf16();
        }
        lines
    }
}

#[derive(Default, Clone, Copy)]
struct Style {
    /// Of a paragraph that is an item of a list.
    level: Option<usize>,
    script: Option<Script>,
}

/// What runs of formatting say of each character, as `read` reads a run and goes on after it.
fn spread(
    list: &[u8],
    at: &mut usize,
    length: usize,
    read: fn(&[u8], &mut usize) -> Option<Style>,
) -> Vec<Style> {
    let mut styles = vec![];
    while let Some(count) = number(list, *at).filter(|_| styles.len() < length) {
        *at += 4;
        let Some(style) = read(list, at) else { break };
        styles.extend(std::iter::repeat_n(style, count.min(length - styles.len())));
    }
    styles.resize(length, Style::default());
    styles
}

fn paragraph_style(list: &[u8], at: &mut usize) -> Option<Style> {
    let (level, parts) = (short(list, *at)?, number(list, *at + 2)?);
    *at += 6;
    let is_item = level > 0 || (parts & 1 == 1 && short(list, *at)? & 1 == 1);
    // Each bit names a part of two bytes, or shares one, or (the colour) has four.
    let shared = [0xf, 0xe_0000].into_iter().filter(|bits| parts & bits != 0).count();
    *at += 2 * (shared + (parts & 0x21_fdd0).count_ones() as usize) + (parts >> 5 & 1) * 4;
    Some(Style { level: is_item.then_some(level.into()), script: None })
}

fn character_style(list: &[u8], at: &mut usize) -> Option<Style> {
    let parts = number(list, *at)?;
    let shared = usize::from(parts & 0x3eb7 != 0);
    *at += 4 + 2 * (shared + (parts & 0xe3_0000).count_ones() as usize) + (parts >> 18 & 1) * 4;
    let mut style = Style::default();
    if parts & 0x8_0000 != 0 {
        // In percent, negative below the line.
        style.script = match short(list, *at)? {
            0 => None,
            1..0x8000 => Some(Script::Super),
            _ => Some(Script::Sub),
        };
        *at += 2;
    }
    Some(style)
}
