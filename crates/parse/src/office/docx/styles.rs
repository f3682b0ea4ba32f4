//! What the styles of a DOCX make of a paragraph: a heading, a quotation, an item of a list; and of
//! a run: hidden, raised, or in a font of signs.
use std::collections::HashMap;

use crate::office::symbols::{self, SymbolFont};
use crate::office::xml::{self, Node};
use crate::writer::script::Script;

/// A list at one of its levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ListPlace {
    /// The number of the list; 0 takes a paragraph out of the list of its style.
    pub(super) list: usize,
    pub(super) level: usize,
}

/// One paragraph style, with what it inherits already filled in by [`Styles::get`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Style {
    /// Counted from 1.
    pub(super) heading: Option<u8>,
    pub(super) quote: bool,
    pub(super) list: Option<ListPlace>,
    pub(super) run: RunStyle,
}

/// How a run is shown, as far as it matters for its words. `None` is what is not stated, so that a
/// style further away decides.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct RunStyle {
    pub(super) hidden: Option<bool>,
    pub(super) script: Option<Option<Script>>,
    pub(super) font: Option<Option<SymbolFont>>,
}

impl RunStyle {
    /// What `w:rPr` states itself.
    fn read(properties: Node<'_>) -> Self {
        let mut style = Self::default();
        for node in properties.children() {
            match xml::name(node) {
                "vanish" => style.hidden = Some(xml::is_set(node)),
                "vertAlign" => {
                    style.script = Some(match xml::attribute(node, "val") {
                        Some("superscript") => Some(Script::Super),
                        Some("subscript") => Some(Script::Sub),
                        _ => None,
                    });
                }
                "rFonts" => {
                    let font = ["ascii", "hAnsi"].map(|name| xml::attribute(node, name));
                    style.font = font.into_iter().flatten().next().map(symbols::find);
                }
                _ => {}
            }
        }
        style
    }

    fn or(self, base: Self) -> Self {
        Self {
            hidden: self.hidden.or(base.hidden),
            script: self.script.or(base.script),
            font: self.font.or(base.font),
        }
    }
}

#[derive(Default)]
pub(super) struct Styles {
    /// By id, each with the id of the style that it is based on.
    styles: HashMap<String, (Style, Option<String>)>,
}

impl Styles {
    pub(super) fn read(root: Node<'_>) -> Self {
        let mut styles = HashMap::new();
        for node in xml::children(root, "style") {
            let Some(id) = xml::attribute(node, "styleId") else { continue };
            let name = xml::value(node, "name").unwrap_or_default().to_lowercase();
            let properties = xml::child(node, "pPr");
            let level = properties.and_then(outline_level).or_else(|| heading_name(&name));
            let style = Style {
                heading: level,
                quote: matches!(name.as_str(), "quote" | "intense quote"),
                list: properties.and_then(list_place),
                run: xml::child(node, "rPr").map(RunStyle::read).unwrap_or_default(),
            };
            let base = xml::value(node, "basedOn").map(str::to_owned);
            styles.insert(id.to_owned(), (style, base));
        }
        Self { styles }
    }

    /// The style of a paragraph, its own properties first.
    pub(super) fn of(&self, paragraph: Node<'_>) -> Style {
        let Some(properties) = xml::child(paragraph, "pPr") else { return Style::default() };
        let id = xml::value(properties, "pStyle");
        let mut style = id.map(|id| self.get(id)).unwrap_or_default();
        style.heading = outline_level(properties).or(style.heading);
        if let Some(place) = list_place(properties) {
            // A level alone moves the paragraph within the list of its style.
            let list =
                if place.list == 0 { style.list.map_or(0, |base| base.list) } else { place.list };
            let taken_out = xml::child(properties, "numPr")
                .and_then(|list| xml::value(list, "numId"))
                .is_some_and(|id| id == "0");
            style.list = (!taken_out).then_some(ListPlace { list, level: place.level });
        }
        style.list = style.list.filter(|place| place.list > 0);
        style
    }

    /// The style of a run in a paragraph of this style.
    pub(super) fn run(&self, run: Node<'_>, paragraph: RunStyle) -> RunStyle {
        let Some(properties) = xml::child(run, "rPr") else { return paragraph };
        let style = xml::value(properties, "rStyle").map(|id| self.get(id).run);
        RunStyle::read(properties).or(style.unwrap_or_default()).or(paragraph)
    }

    fn get(&self, id: &str) -> Style {
        let (mut merged, mut next) = (Style::default(), Some(id));
        // Styles that are based on each other in a circle end somewhere.
        for _ in 0..20 {
            let Some((style, base)) = next.and_then(|id| self.styles.get(id)) else { break };
            merged.heading = merged.heading.or(style.heading);
            merged.quote |= style.quote;
            merged.list = merged.list.or(style.list);
            merged.run = merged.run.or(style.run);
            next = base.as_deref();
        }
        merged
    }
}

/// `w:outlineLvl` counts from 0; 9 is the level of running text.
fn outline_level(properties: Node<'_>) -> Option<u8> {
    let level: u8 = xml::value(properties, "outlineLvl")?.parse().ok()?;
    (level < 9).then_some(level + 1)
}

fn heading_name(name: &str) -> Option<u8> {
    match name {
        "title" => Some(1),
        name => name.strip_prefix("heading ")?.trim().parse().ok().filter(|level| *level > 0),
    }
}

fn list_place(properties: Node<'_>) -> Option<ListPlace> {
    let list = xml::child(properties, "numPr")?;
    let number = |name: &str| xml::value(list, name).and_then(|value| value.parse().ok());
    Some(ListPlace {
        list: number("numId").unwrap_or(0),
        level: number("ilvl").unwrap_or(0).min(8),
    })
}

/// How the items of one level are marked.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Level {
    /// As in `decimal` or `bullet`.
    format: String,
    /// As in `%1.%2)`.
    text: String,
    start: usize,
}

/// The lists of a document, with how far each has counted.
#[derive(Default)]
pub(super) struct Numbering {
    /// By number of the list: which definition it follows.
    lists: HashMap<usize, String>,
    levels: HashMap<(String, usize), Level>,
    /// By definition: the number of the last item of each level.
    counts: HashMap<String, [usize; 9]>,
}

impl Numbering {
    pub(super) fn read(root: Node<'_>) -> Self {
        let mut numbering = Self::default();
        for node in root.children() {
            match xml::name(node) {
                "abstractNum" => {
                    let id = xml::attribute(node, "abstractNumId").unwrap_or_default();
                    for level in xml::children(node, "lvl") {
                        let text = |name| xml::value(level, name).unwrap_or_default().to_owned();
                        let start = xml::value(level, "start").and_then(|start| start.parse().ok());
                        let at = xml::number(level, "ilvl").unwrap_or(0);
                        let level = Level {
                            format: text("numFmt"),
                            text: text("lvlText"),
                            start: start.unwrap_or(1),
                        };
                        numbering.levels.insert((id.to_owned(), at), level);
                    }
                }
                "num" => {
                    let (Some(list), Some(definition)) =
                        (xml::number(node, "numId"), xml::value(node, "abstractNumId"))
                    else {
                        continue;
                    };
                    numbering.lists.insert(list, definition.to_owned());
                }
                _ => {}
            }
        }
        numbering
    }

    /// The mark of the next item: `-`, or its number as the list shows it.
    pub(super) fn marker(&mut self, place: ListPlace) -> String {
        let Some(definition) = self.lists.get(&place.list) else { return "-".to_owned() };
        let level = |at: usize| self.levels.get(&(definition.clone(), at));
        let start = |at: usize| level(at).map_or(1, |level| level.start);
        let counts = self
            .counts
            .entry(definition.clone())
            .or_insert_with(|| std::array::from_fn(|at| start(at).saturating_sub(1)));
        counts[place.level] += 1;
        for (at, count) in counts.iter_mut().enumerate().skip(place.level + 1) {
            *count = start(at).saturating_sub(1);
        }
        let Some(kind) = level(place.level).filter(|kind| kind.format != "bullet") else {
            return "-".to_owned();
        };
        let mut marker = kind.text.clone();
        for (at, count) in counts.iter().enumerate().take(place.level + 1) {
            let format = level(at).map_or("decimal", |level| level.format.as_str());
            let count = (*count).max(start(at));
            marker = marker.replace(&format!("%{}", at + 1), &shown(count, format));
        }
        let marker = marker.trim();
        if marker.chars().any(char::is_alphanumeric) { marker.to_owned() } else { "-".to_owned() }
    }
}

fn shown(number: usize, format: &str) -> String {
    match format {
        "lowerLetter" => letters(number, b'a'),
        "upperLetter" => letters(number, b'A'),
        "lowerRoman" => roman(number).to_lowercase(),
        "upperRoman" => roman(number),
        "none" => String::new(),
        _ => number.to_string(),
    }
}

/// a … z, aa, bb …, as Word counts.
fn letters(number: usize, first: u8) -> String {
    let at = number.saturating_sub(1);
    let letter = char::from(first + u8::try_from(at % 26).unwrap_or(0));
    String::from(letter).repeat((at / 26 + 1).min(20))
}

fn roman(number: usize) -> String {
    const SIGNS: [(usize, &str); 13] = [
        (1_000, "M"),
        (900, "CM"),
        (500, "D"),
        (400, "CD"),
        (100, "C"),
        (90, "XC"),
        (50, "L"),
        (40, "XL"),
        (10, "X"),
        (9, "IX"),
        (5, "V"),
        (4, "IV"),
        (1, "I"),
    ];
    let (mut left, mut out) = (number.min(4_000), String::new());
    for (value, sign) in SIGNS {
        while left >= value {
            out.push_str(sign);
            left -= value;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_count_as_they_say() {
        let xml = "<n xmlns:w='word'><w:abstractNum w:abstractNumId='7'><w:lvl w:ilvl='0'><w:start w:val='3'/>\
            <w:numFmt w:val='decimal'/><w:lvlText w:val='%1.'/></w:lvl><w:lvl w:ilvl='1'><w:start w:val='1'/>\
            <w:numFmt w:val='lowerRoman'/><w:lvlText w:val='%1.%2)'/></w:lvl></w:abstractNum>\
            <w:num w:numId='2'><w:abstractNumId w:val='7'/></w:num></n>";
        let document = roxmltree::Document::parse(xml).unwrap();
        let mut numbering = Numbering::read(document.root_element());
        let mut next = |level| numbering.marker(ListPlace { list: 2, level });
        assert_eq!(
            [next(0), next(1), next(1), next(0), next(1)],
            ["3.", "3.i)", "3.ii)", "4.", "4.i)"]
        );
        assert_eq!(numbering.marker(ListPlace { list: 9, level: 0 }), "-");
        assert_eq!((letters(28, b'a'), roman(1994)), ("bb".to_owned(), "MCMXCIV".to_owned()));
    }
}
