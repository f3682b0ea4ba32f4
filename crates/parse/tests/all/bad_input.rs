//! Files that are broken, enormous, or malicious.
use std::fmt::Write as _;

use halma_parse::ParseOptions;

use crate::amplified::{Outcome, files, sheet, zipped};
use crate::{file, old_files, parse};

fn refused(name: &str, bytes: &[u8]) -> String {
    let refusal = parse(name, bytes).map(|parsed| parsed.text).unwrap_err();
    assert!(!refusal.reason.is_empty() && !refusal.hint.is_empty(), "{refusal:?}");
    format!("{} / {}", refusal.reason, refusal.hint)
}

#[test]
fn locked_files_ask_for_the_password_to_be_removed() {
    assert!(refused("a.pdf", &file("locked.pdf")).contains("remove the password"));
    let mut office = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".to_vec();
    office.extend("EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes));
    assert!(refused("a.docx", &office).contains("remove the password"));
    let manifest = "<manifest:file-entry><manifest:encryption-data/></manifest:file-entry>";
    let odt = zipped(&[
        ("mimetype", "application/vnd.oasis.opendocument.text"),
        ("META-INF/manifest.xml", manifest),
    ]);
    assert!(refused("a.odt", &odt).contains("remove the password"));
}

#[test]
fn cut_off_and_empty_files_are_refused() {
    for name in ["paper.pdf", "report.docx", "sheet.xlsx", "book.epub", "letter.odt", "slides.pptx"]
    {
        let whole = file(name);
        for part in [1, 10, whole.len() / 4, whole.len() / 2, whole.len() - 30] {
            // A reader may save something of a damaged file; it must not break.
            let _ = parse(name, &whole[..part]);
        }
    }
    for whole in [old_files::doc(), old_files::ppt()] {
        (0..whole.len()).step_by(100).for_each(|part| drop(parse("a", &whole[..part])));
    }
    assert!(refused("a.docx", &file("report.docx")[..1000]).contains("archive"));
    assert!(refused("a.pdf", &file("no-pages.pdf")).contains("no pages"));
    assert!(refused("a.pdf", &file("blank.pdf")).contains("no page with a text"));
    assert!(refused("a.pdf", b"%PDF-1.7").contains("cannot be read"));
    for (name, content, words) in [
        ("a.txt", &b""[..], "empty"),
        ("a.md", b" \n\r\n", "empty"),
        ("a.md", b"---\ntitle: x\n---\n\n", "front matter"),
        ("a.csv", b"only,a,header\n", "no rows"),
        ("a.txt", b"text\0more", "bytes that are NUL"),
        ("a.html", b"<!doctype html><script>x</script>", "no text"),
        ("a.zip", &zipped(&[("a.txt", "x")]), "zip archive"),
    ] {
        let message = refused(name, content);
        assert!(message.contains(words), "{name}: {message}");
    }
}

#[test]
fn names_may_lie() {
    assert_eq!(parse("a.txt", &file("report.docx")).unwrap().format, "docx");
    assert_eq!(parse("a.docx", &file("paper.pdf")).unwrap().format, "pdf");
    assert_eq!(parse("a.pdf", b"just words").unwrap().format, "text");
    assert_eq!(parse("a.xlsx", &file("letter.odt")).unwrap().format, "odt");
    assert_eq!(parse("a.md", b"\x89PNG\r\n\x1a\nnot a picture").unwrap().format, "image");
}

#[test]
fn a_bomb_is_refused() {
    let words = "<w:p/>".repeat(12_000_000);
    let bytes = zipped(&[("word/document.xml", &words)]);
    assert!(bytes.len() < 1_000_000);
    assert!(refused("a.docx", &bytes).contains("unpack to"));
}

#[test]
fn a_limit_of_bytes_is_kept() {
    let options = ParseOptions { max_bytes: 10, ..ParseOptions::default() };
    let refusal = halma_parse::parse("a.txt", b"more than ten", &options).unwrap_err();
    assert!(refusal.reason.contains("at most"), "{refusal:?}");
}

#[test]
fn a_hundred_thousand_rows_are_read() {
    let mut rows = "<row r=\"1\"><c r=\"A1\" t=\"str\"><v>Name</v></c><c r=\"B1\" t=\"str\"><v>N</v></c></row>"
        .to_owned();
    for row in 2..=100_001 {
        let name = format!("<c r=\"A{row}\" t=\"str\"><v>name {row}</v></c>");
        write!(rows, "<row r=\"{row}\">{name}<c r=\"B{row}\"><v>{row}.5</v></c></row>").unwrap();
    }
    let parsed = parse("a.xlsx", &sheet(&rows, "")).unwrap();
    let table = &parsed.tables[0];
    assert_eq!(
        (table.rows.len(), &table.columns[..]),
        (100_000, &["Name".to_owned(), "N".into()][..])
    );
    assert_eq!(table.rows[99_999].cells, ["name 100001", "100001.5"]);
}

#[test]
fn a_sheet_as_wide_as_can_be_is_read() {
    let mut rows = String::new();
    for row in 1..=20 {
        write!(rows, "<row r=\"{row}\">").unwrap();
        for column in 0..16_384 {
            let value = if row == 1 { format!("c{column}") } else { (row * column).to_string() };
            write!(rows, "<c t=\"str\"><v>{value}</v></c>").unwrap();
        }
        rows.push_str("</row>");
    }
    let parsed = parse("a.xlsx", &sheet(&rows, "")).unwrap();
    let table = &parsed.tables[0];
    assert_eq!((table.columns.len(), table.rows.len()), (16_384, 19));
    assert_eq!(table.columns[16_383], "c16383");
}

#[test]
fn the_last_cell_of_a_sheet_makes_no_room() {
    let rows = "<row r=\"1\"><c r=\"A1\" t=\"str\"><v>first</v></c></row>\
                <row r=\"1048576\"><c r=\"XFD1048576\" t=\"str\"><v>last</v></c></row>";
    let parsed = parse("a.xlsx", &sheet(rows, "")).unwrap();
    assert_eq!(parsed.tables[0].columns.len(), 2);
    assert!(parsed.text.contains("last"));
}

#[test]
fn nested_pages_are_flattened_and_nested_documents_refused() {
    let page =
        format!("<!doctype html>{}deep{}", "<div>".repeat(100_000), "</div>".repeat(100_000));
    let parsed = parse("a.html", page.as_bytes()).unwrap();
    assert!(parsed.text.contains("deep") && !parsed.warnings.is_empty());
    let document = format!("<w:document>{}", "<w:tbl><w:tr><w:tc>".repeat(40_000));
    let bytes = zipped(&[("word/document.xml", &document)]);
    assert!(refused("a.docx", &bytes).contains("nests"));
    let quotes = format!("{} deep\n\n{}", ">".repeat(20_000), "- ".repeat(5_000));
    let parsed = parse("a.md", quotes.as_bytes()).unwrap();
    assert!(parsed.text.contains("deep"));
    let array = format!("%PDF-1.4\n1 0 obj\n{}\nendobj\n", "[".repeat(200_000));
    assert!(parse("a.pdf", array.as_bytes()).is_err());
}

#[test]
fn what_a_file_names_a_million_times_is_read_once() {
    for file in files() {
        match (parse(file.name, &file.bytes), file.outcome) {
            (Err(refusal), Outcome::Refused(words)) => {
                assert!(refusal.reason.contains(words), "{}: {refusal:?}", file.name);
            }
            (Ok(parsed), Outcome::Read(limit)) => {
                assert!(parsed.text.len() <= limit, "{}: {} bytes", file.name, parsed.text.len());
                assert!(parsed.text.contains("words") || parsed.text.contains("Read this."));
                let places: usize =
                    parsed.tables.iter().map(|table| table.rows.len() * table.columns.len()).sum();
                assert!(places <= 2_000_000, "{}: {places} places", file.name);
            }
            (parsed, _) => {
                let parsed = parsed.map(|parsed| parsed.text.len());
                panic!("{} ({}): {parsed:?}", file.name, file.about);
            }
        }
    }
}
