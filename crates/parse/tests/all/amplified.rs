//! Small files that claim to be enormous: what they name a million times is in them once.
use std::fmt::Write as _;
use std::io::{Cursor, Write as _};

use crate::old_files;

/// What becomes of such a file.
pub(crate) enum Outcome {
    /// It is refused, and the reason contains these words.
    Refused(&'static str),
    /// What is in it is read, and no more than this many bytes of text come of it.
    Read(usize),
}

pub(crate) struct Amplified {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) bytes: Vec<u8>,
    pub(crate) outcome: Outcome,
}

pub(crate) fn files() -> Vec<Amplified> {
    let file = |name, about, bytes, outcome| Amplified { name, about, bytes, outcome };
    vec![
        file(
            "ragged.csv",
            "a line of 1,000,000 values, then 100,000 lines of one",
            ragged(),
            Outcome::Refused("1000001 columns"),
        ),
        file(
            "sparse.xlsx",
            "16,384 columns, 100,000 rows, and a value in each only",
            sheet(&sparse(), ""),
            Outcome::Refused("only"),
        ),
        file(
            "merged.xlsx",
            "20,000 merged cells that each cover the whole sheet",
            merged(),
            Outcome::Read(1_000_000),
        ),
        file(
            "spans.html",
            "20,000 cells of 1,000 × 1,000 places each",
            page(&format!("<tr>{}</tr>", cell(1_000, 1_000).repeat(20_000))),
            Outcome::Read(1_000),
        ),
        file(
            "wide.html",
            "a row of 5,900,000 places, then 2,000 rows",
            page(&format!(
                "<tr>{}</tr>{}",
                cell(1_000, 1).repeat(5_900),
                "<tr><td>b</td></tr>".repeat(2_000)
            )),
            Outcome::Read(1_000),
        ),
        file(
            "copied.html",
            "a cell of 100 kB in 1,000 × 1,000 places",
            page(&format!(
                "<tr><td rowspan=1000 colspan=1000>{}</td></tr>{}",
                "long words ".repeat(10_000),
                "<tr></tr>".repeat(999)
            )),
            Outcome::Read(200_000),
        ),
        file(
            "spine.epub",
            "a chapter of 90 kB that is named 100,000 times",
            book(),
            Outcome::Read(200_000),
        ),
        file(
            "spans.ods",
            "a cell of 4,000,000,000 × 4,000,000,000 places",
            spreadsheet(),
            Outcome::Read(1_000),
        ),
        file(
            "pieces.doc",
            "a text of 90 kB that 40,000 pieces name",
            old_files::pieces(),
            Outcome::Read(200_000),
        ),
        file(
            "slides.ppt",
            "a slide of 90 kB that is named 100,000 times",
            old_files::slides(),
            Outcome::Read(200_000),
        ),
    ]
}

fn ragged() -> Vec<u8> {
    format!("x{}x\n{}", ",".repeat(1_000_000), "a\n".repeat(100_000)).into_bytes()
}

fn sparse() -> String {
    let mut rows = "<row r=\"1\">".to_owned();
    rows.push_str(&"<c t=\"str\"><v>x</v></c>".repeat(16_384));
    rows.push_str("</row>");
    for row in 2..=100_001 {
        write!(rows, "<row r=\"{row}\"><c r=\"A{row}\"><v>1</v></c></row>").unwrap();
    }
    rows
}

fn merged() -> Vec<u8> {
    let mut rows = String::new();
    for row in 1..=1_000 {
        write!(rows, "<row r=\"{row}\">").unwrap();
        rows.push_str(&"<c t=\"str\"><v>some words</v></c>".repeat(20));
        rows.push_str("</row>");
    }
    let cells = "<mergeCell ref=\"A1:T1000\"/>".repeat(20_000);
    sheet(&rows, &format!("<mergeCells>{cells}</mergeCells>"))
}

fn cell(columns: usize, rows: usize) -> String {
    format!("<td colspan={columns} rowspan={rows}>a</td>")
}

fn page(rows: &str) -> Vec<u8> {
    format!("<!doctype html><p>Read this.</p><table>{rows}</table>").into_bytes()
}

fn book() -> Vec<u8> {
    let container =
        "<container><rootfiles><rootfile full-path=\"book.opf\"/></rootfiles></container>";
    let package = format!(
        "<package><manifest><item id=\"a\" href=\"a.xhtml\" media-type=\"application/xhtml+xml\"/>\
         </manifest><spine>{}</spine></package>",
        "<itemref idref=\"a\"/>".repeat(100_000)
    );
    let chapter = format!("<html><body>{}</body></html>", "<p>words, words</p>".repeat(5_000));
    zipped(&[
        ("mimetype", "application/epub+zip"),
        ("META-INF/container.xml", container),
        ("book.opf", &package),
        ("a.xhtml", &chapter),
    ])
}

fn spreadsheet() -> Vec<u8> {
    let many = "4000000000";
    let cell = format!(
        "<table:table-cell table:number-rows-spanned=\"{many}\" \
         table:number-columns-spanned=\"{many}\" table:number-columns-repeated=\"{many}\">\
         <text:p>Read this.</text:p></table:table-cell>"
    );
    let row = format!(
        "<table:table-row table:number-rows-repeated=\"{many}\">{cell}{cell}</table:table-row>"
    );
    let content = format!(
        "<office:document-content xmlns:office=\"o\" xmlns:table=\"t\" xmlns:text=\"x\">\
         <table:table table:name=\"S\">{row}{row}</table:table></office:document-content>"
    );
    zipped(&[
        ("mimetype", "application/vnd.oasis.opendocument.spreadsheet"),
        ("content.xml", &content),
    ])
}

pub(crate) fn zipped(files: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(vec![]));
    for (name, text) in files {
        writer.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        writer.write_all(text.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// A workbook with one sheet of these rows, and what follows them.
pub(crate) fn sheet(rows: &str, after: &str) -> Vec<u8> {
    let main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    let office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let book = format!(
        "<workbook xmlns=\"{main}\" xmlns:r=\"{office}\"><sheets><sheet name=\"S\" sheetId=\"1\" \
         r:id=\"a\"/></sheets></workbook>"
    );
    let links = format!(
        "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">\
         <Relationship Id=\"a\" Type=\"{office}/worksheet\" Target=\"worksheets/sheet1.xml\"/></Relationships>"
    );
    let root = links
        .replace("/worksheet\"", "/officeDocument\"")
        .replace("worksheets/sheet1", "xl/workbook");
    let data =
        format!("<worksheet xmlns=\"{main}\"><sheetData>{rows}</sheetData>{after}</worksheet>");
    zipped(&[
        ("[Content_Types].xml", "<Types/>"),
        ("_rels/.rels", &root),
        ("xl/workbook.xml", &book),
        ("xl/_rels/workbook.xml.rels", &links),
        ("xl/worksheets/sheet1.xml", &data),
    ])
}
