//! Tiny readers of our own that count tables, rows and columns without the crate's code, to compare
//! with.
use std::collections::BTreeSet;
use std::io::{Cursor, Read};

/// A table as its file has it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) rows: usize,
    /// Of the widest row, spans included.
    pub(crate) columns: usize,
    pub(crate) cells: usize,
    pub(crate) nested: bool,
    pub(crate) names: bool,
    pub(crate) words: bool,
    /// For sheets: rows of a single cell before the first wider one.
    pub(crate) titles: usize,
    width: usize,
}

pub(crate) fn members(bytes: &[u8], wanted: impl Fn(&str) -> bool) -> Vec<String> {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
    let names = archive.file_names().map(|name| name.unwrap().into_owned());
    let names: Vec<String> = names.filter(|name| wanted(name)).collect();
    let mut texts = vec![];
    for name in names {
        let mut text = String::new();
        archive.by_name(&name).unwrap().read_to_string(&mut text).unwrap();
        texts.push(text);
    }
    texts
}

/// `(tag with its attributes, text behind it)`, tags in lower case.
fn tags(text: &str) -> Vec<(String, String)> {
    let mut marks = vec![];
    for part in text.split('<').skip(1) {
        let (tag, behind) = part.split_once('>').unwrap_or((part, ""));
        marks.push((tag.to_lowercase(), behind.to_owned()));
    }
    marks
}

fn number(tag: &str, attribute: &str) -> usize {
    let value =
        tag.split_once(&format!("{attribute}=")).map(|(_, value)| value.trim_matches(['"', '\'']));
    let digits: String = value.unwrap_or("1").chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(1)
}

/// The tables of an HTML page, the outer before the inner.
pub(crate) fn html(page: &str) -> Vec<Shape> {
    let mut done: Vec<Shape> = vec![];
    let mut open: Vec<usize> = vec![];
    for (tag, behind) in tags(page) {
        let name = tag.split([' ', '\n', '\t', '/']).next().unwrap_or_default().to_owned();
        match name.as_str() {
            "table" => {
                for outer in &open {
                    done[*outer].nested = true;
                }
                open.push(done.len());
                done.push(Shape::default());
            }
            "" if tag.starts_with("/table") => {
                open.pop();
            }
            _ => {}
        }
        let Some(shape) = open.last().map(|at| &mut done[*at]) else { continue };
        match name.as_str() {
            "tr" => {
                shape.rows += 1;
                shape.width = 0;
            }
            "td" | "th" => {
                shape.cells += 1;
                shape.names |= name == "th";
                shape.width += number(&tag, "colspan");
                shape.columns = shape.columns.max(shape.width);
            }
            _ => {}
        }
        shape.words |= shape.cells > 0 && !behind.replace("&nbsp;", "").trim().is_empty();
    }
    done
}

/// The numbers of a chart: a column for each series, a row for each point.
fn chart(part: &str) -> Shape {
    let tags = tags(part);
    let series = tags.iter().filter(|(tag, _)| tag == "c:ser").count();
    let points = tags.iter().filter(|(tag, _)| tag.starts_with("c:ptcount"));
    let points = points.map(|(tag, _)| number(tag, "val")).max().unwrap_or(0);
    Shape { rows: points + 1, columns: series + 1, words: true, ..Shape::default() }
}

/// The tables of a DOCX, the outer before the inner, and its charts.
pub(crate) fn docx(bytes: &[u8]) -> Vec<Shape> {
    let mut charts = members(bytes, |name| name.starts_with("word/charts/chart"));
    let document = members(bytes, |name| name == "word/document.xml").remove(0);
    let mut done: Vec<Shape> = vec![];
    let mut open: Vec<usize> = vec![];
    let mut again = 0;
    for (tag, behind) in tags(&document) {
        let name = tag.split([' ', '/']).next().unwrap_or_default().to_owned();
        // What older programs are shown stands in the file a second time.
        again += usize::from(name == "mc:fallback");
        again -= usize::from(tag == "/mc:fallback");
        if again > 0 {
            continue;
        }
        match name.as_str() {
            "w:tbl" => {
                for outer in &open {
                    done[*outer].nested = true;
                }
                open.push(done.len());
                done.push(Shape::default());
            }
            "" if tag == "/w:tbl" => {
                open.pop();
            }
            "c:chart" => done.push(chart(&charts.remove(0))),
            _ => {}
        }
        let Some(shape) = open.last().map(|at| &mut done[*at]) else { continue };
        match name.as_str() {
            "w:tr" => {
                shape.rows += 1;
                shape.width = 0;
            }
            "w:tc" => {
                shape.cells += 1;
                shape.width += 1;
            }
            "w:gridspan" => shape.width += number(&tag, "w:val") - 1,
            "w:t" | "m:t" => shape.words |= !behind.trim().is_empty(),
            _ => {}
        }
        shape.columns = shape.columns.max(shape.width);
    }
    done
}

/// The sheets of an XLSX that have a value: rows and columns with one.
pub(crate) fn xlsx(bytes: &[u8]) -> Vec<Shape> {
    let mut sheets = vec![];
    let shared = members(bytes, |name| name == "xl/sharedStrings.xml").pop().unwrap_or_default();
    let blank = |text: &str| tags(text).iter().all(|(_, behind)| behind.trim().is_empty());
    let blanks: Vec<bool> =
        shared.split("<si>").skip(1).map(|text| blank(&format!("<si>{text}"))).collect();
    for sheet in members(bytes, |name| name.starts_with("xl/worksheets/sheet")) {
        let (mut rows, mut columns) = (BTreeSet::new(), BTreeSet::new());
        let mut filled: Vec<(usize, String)> = vec![];
        for cell in sheet.split("<c ").skip(1) {
            let place =
                cell.split_once("r=\"").and_then(|(_, rest)| rest.split_once('"')).unwrap().0;
            let (tag, inside) = cell.split_once('>').unwrap_or((cell, ""));
            let inside =
                inside.split("</c>").next().filter(|_| !tag.ends_with('/')).unwrap_or_default();
            let inside_is_shared = tag.contains("t=\"s\"");
            let value = |(tag, behind): (String, String)| {
                let word = inside_is_shared.then(|| behind.parse::<usize>().ok()).flatten();
                if word.and_then(|word| blanks.get(word)) == Some(&true) {
                    return false;
                }
                (tag == "v" || tag == "t" || tag.starts_with("t ")) && !behind.trim().is_empty()
            };
            if tags(inside).into_iter().any(value) {
                let digits = place.find(|c: char| c.is_ascii_digit()).unwrap();
                let row = place[digits..].parse().unwrap();
                rows.insert(row);
                columns.insert(place[..digits].to_owned());
                filled.push((row, place.to_owned()));
            }
        }
        let alone = |row: &usize| filled.iter().filter(|(at, _)| at == row).count() == 1;
        let titles =
            if columns.len() > 1 { rows.iter().take_while(|row| alone(row)).count() } else { 0 };
        if !rows.is_empty() {
            sheets.push(Shape {
                rows: rows.len(),
                columns: columns.len(),
                titles,
                ..Shape::default()
            });
        }
    }
    sheets
}

#[test]
fn the_readers_count() {
    let page = "<table><tr><th>a<th colspan=2>b<tr><td>1<td>2<td>3</table><table><tr><td></table>";
    let shapes = html(page);
    assert_eq!((shapes.len(), shapes[0].rows, shapes[0].columns, shapes[1].cells), (2, 2, 3, 1));
    let shapes = docx(&crate::file("report.docx"));
    let sizes: Vec<_> = shapes.iter().map(|s| (s.rows, s.columns, s.nested)).collect();
    assert_eq!(sizes, [(3, 3, false), (1, 1, true), (2, 2, false)]);
    let sizes: Vec<_> =
        xlsx(&crate::file("sheet.xlsx")).iter().map(|s| (s.rows, s.columns, s.titles)).collect();
    assert_eq!(sizes, [(5, 4, 1), (2, 2, 0)]);
}
