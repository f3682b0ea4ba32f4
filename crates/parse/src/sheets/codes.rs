//! Number formats of XLSX that show whole numbers as codes: by `00000`, 123 is the postcode 00123.
use std::collections::HashMap;

use quick_xml::events::Event;
use roxmltree::{Document, Node};

use super::Sheet;
use crate::container::{Archive, attribute, joined, member_text, open};

/// Places of a format: a digit that is always shown, and one that may be missing.
const ALWAYS: char = '\u{1}';
const ANY: char = '\u{2}';

/// The styles of a workbook that show codes.
pub(super) struct Codes<'a> {
    archive: Archive<'a>,
    /// Formats by the number of their style.
    styles: HashMap<String, String>,
    /// Parts of sheets by their names.
    paths: HashMap<String, String>,
}

impl<'a> Codes<'a> {
    /// `None` where no style does.
    pub(super) fn read(bytes: &'a [u8]) -> Option<Self> {
        let mut archive = open(bytes).ok()?;
        let mut part = |name: &str| member_text(&mut archive, name);
        let (styles, book) = (part("xl/styles.xml")?, part("xl/workbook.xml")?);
        let links = part("xl/_rels/workbook.xml.rels")?;
        let styles = Document::parse(&styles).ok()?;
        let (book, links) = (Document::parse(&book).ok()?, Document::parse(&links).ok()?);
        let format = |node: Node<'_, '_>| {
            Some((node.attribute("numFmtId")?.to_owned(), format(node.attribute("formatCode")?)?))
        };
        let formats: HashMap<String, String> = styles.descendants().filter_map(format).collect();
        let cells = styles.descendants().find(|node| node.tag_name().name() == "cellXfs")?;
        let code = |(at, style): (usize, Node<'_, '_>)| {
            Some((at.to_string(), formats.get(style.attribute("numFmtId")?)?.clone()))
        };
        let cells = cells.children().filter(Node::is_element).enumerate();
        let styles: HashMap<String, String> = cells.filter_map(code).collect();
        let targets: HashMap<_, _> = links
            .descendants()
            .filter_map(|link| Some((link.attribute("Id")?, link.attribute("Target")?)))
            .collect();
        let path = |sheet: Node<'_, '_>| {
            let id = sheet.attributes().find(|attribute| attribute.name() == "id")?.value();
            Some((sheet.attribute("name")?.to_owned(), joined("xl", targets.get(id)?)))
        };
        let paths = book.descendants().filter_map(path).collect();
        (!styles.is_empty()).then_some(Self { archive, styles, paths })
    }

    /// Writes the whole numbers of a sheet as it shows them.
    pub(super) fn apply(&mut self, sheet: &mut Sheet) -> Option<()> {
        let xml = member_text(&mut self.archive, self.paths.get(&sheet.name)?)?;
        sheet.cells.sort_by_key(|(row, column, _)| (*row, *column));
        let mut reader = quick_xml::Reader::from_str(&xml);
        loop {
            let event = reader.read_event().ok()?;
            if let Event::Start(tag) = &event
                && let Some(code) = attribute(tag, "s").and_then(|style| self.styles.get(&style))
                && let Some(place) = attribute(tag, "r").and_then(|cell| place(&cell))
                && let Ok(at) = sheet.cells.binary_search_by_key(&place, |cell| (cell.0, cell.1))
            {
                sheet.cells[at].2 = shown(code, &sheet.cells[at].2);
            }
            if let Event::Eof = event {
                return Some(());
            }
        }
    }
}

/// Row and column of `B12`.
fn place(cell: &str) -> Option<(u32, u32)> {
    let (letters, row) = cell.split_at(cell.find(|c: char| c.is_ascii_digit())?);
    let column = letters.bytes().try_fold(0_u32, |column, letter| {
        column.checked_mul(26)?.checked_add(u32::from(letter.checked_sub(b'A' - 1)?))
    })?;
    Some((row.parse::<u32>().ok()?.checked_sub(1)?, column.checked_sub(1)?))
}

/// A format as literal characters and places, if it shows a code: several digits always, or further
/// digits of its own.
fn format(format: &str) -> Option<String> {
    let mut places = String::new();
    let mut characters = format.split(';').next()?.chars();
    while let Some(c) = characters.next() {
        match c {
            '0' => places.push(ALWAYS),
            '#' => places.push(ANY),
            '\\' => places.extend(characters.next()),
            '"' => places.extend(characters.by_ref().take_while(|c| *c != '"')),
            '-' | ' ' | '(' | ')' => places.push(c),
            _ => return None,
        }
    }
    let digits = places.matches(ALWAYS).count();
    let literal = places.contains(|c: char| c.is_ascii_digit()) && places.contains([ALWAYS, ANY]);
    (digits > 1 || literal).then_some(places)
}

/// A whole number in the places of a format, from the last one on; what is no whole number as it is.
fn shown(places: &str, number: &str) -> String {
    if !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return number.to_owned();
    }
    let mut digits: Vec<char> = number.chars().collect();
    let mut shown = vec![];
    let first = places.find([ALWAYS, ANY]);
    for (at, c) in places.char_indices().rev() {
        if c == ALWAYS || c == ANY {
            shown.extend(digits.pop().or((c == ALWAYS).then_some('0')));
        } else {
            shown.push(c);
        }
        if Some(at) == first {
            shown.extend(digits.drain(..).rev());
        }
    }
    shown.iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(code: &str, number: &str) -> Option<String> {
        format(code).map(|places| shown(&places, number))
    }

    #[test]
    fn codes_keep_their_zeros_and_marks() {
        for (code, number, expected) in [
            ("00000", "123", "00123"),
            ("00000", "1234567", "1234567"),
            ("000-00-0000", "12345678", "012-34-5678"),
            ("\\1\\.0#", "7", "1.07"),
            ("\"A-\"0000;-0", "42", "A-0042"),
            ("(000) 000\\-0000", "15551234567", "(1555) 123-4567"),
            ("00", "1.5", "1.5"),
        ] {
            assert_eq!(of(code, number).as_deref(), Some(expected), "{code}");
        }
    }

    #[test]
    fn formats_of_amounts_and_dates_leave_values_alone() {
        for code in
            ["0", "0.00", "#,##0", "0%", "yyyy", "0\" kg\"", "0.0E+00", "# ?/?", "General", "@"]
        {
            assert_eq!(of(code, "5"), None, "{code}");
        }
    }

    #[test]
    fn places_of_cells_are_counted_from_nought() {
        assert_eq!(place("A1"), Some((0, 0)));
        assert_eq!(place("BC12"), Some((11, 54)));
        assert_eq!((place("A0"), place("12"), place("ZZZZZZZZZZ1")), (None, None, None));
    }
}
