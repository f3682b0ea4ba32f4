//! Each format with what it can do. The files are made by `make_files.py`.
use halma_parse::{Merged, ParseOptions, Parsed};

use crate::check::outline;
use crate::{cells, file, parse};

fn read(name: &str) -> Parsed {
    // The name must not matter.
    let parsed = parse("file", &file(name)).unwrap();
    assert_eq!(parsed, parse("file", &file(name)).unwrap(), "{name} is read differently twice");
    parsed
}

#[test]
fn word() {
    let parsed = read("report.docx");
    assert_eq!((parsed.format, parsed.title.as_deref()), ("docx", Some("A report")));
    assert_eq!(
        (parsed.author.as_deref(), parsed.date.as_deref()),
        (Some("Halma"), Some("2023-12-31"))
    );
    let lines = outline(&parsed);
    let expected = [
        "h1 # A report",
        "p See the web site for more.",
        "h2 ## Points",
        "item - first",
        "item - second",
    ];
    assert_eq!(lines[..5], expected);
    let link = &parsed.links[0];
    assert_eq!(link.target, "https://site.example/a?b=1&c=2");
    assert_eq!(&parsed.text[link.range.clone()], "the web site");
    let figure = &parsed.figures[0];
    assert_eq!(figure.caption.as_deref(), Some("A grey square"));
    let (media, bytes) = figure.image.as_ref().unwrap();
    assert_eq!((media.as_str(), bytes), ("image/png", &file("square.png")));
    let [table, inner] = &parsed.tables[..] else { panic!("{:?}", parsed.tables) };
    assert_eq!(table.columns, ["Name", "Cost", "Cost"]);
    assert_eq!(cells(table), ["Jaws|low|7", "Jaws|high|9"]);
    assert_eq!(table.merged, [Merged { row: 0, column: 0, rows: 2, columns: 1 }]);
    assert_eq!(
        (&inner.columns[..], cells(inner)),
        (&["in".to_owned(), "side".into()][..], vec!["1|2".into()])
    );
}

#[test]
fn slides() {
    let parsed = read("slides.pptx");
    assert_eq!(parsed.title.as_deref(), Some("First slide"));
    assert_eq!(
        outline(&parsed)[..3],
        ["h2 ## First slide", "p Words on it.", "h2 ## Second slide"]
    );
    let numbers: Vec<u32> = parsed.pages.iter().map(|page| page.number).collect();
    assert_eq!(numbers, [1, 2]);
    assert!(parsed.text[parsed.pages[1].start..].starts_with("## Second slide"));
    let table = &parsed.tables[0];
    assert_eq!(table.columns, ["Name", "Year"]);
    assert_eq!(cells(table), ["Jaws|Jaws", "Duel|1971"]);
    assert_eq!(table.page, Some(2));
}

#[test]
fn open_documents() {
    let letter = read("letter.odt");
    assert_eq!(
        outline(&letter)[..4],
        [
            "h1 # A letter",
            "p Dear reader, this letter says very little.",
            "item - one",
            "item - two",
        ]
    );
    assert_eq!(cells(&letter.tables[0]), ["Jaws|1975", "Jaws|1976"]);
    assert_eq!(letter.tables[0].merged, [Merged { row: 0, column: 0, rows: 2, columns: 1 }]);
    let sheet = read("sheet.ods");
    assert_eq!(sheet.tables[0].caption.as_deref(), Some("Films"));
    assert_eq!(sheet.tables[0].columns, ["Name", "Share"]);
    assert_eq!(cells(&sheet.tables[0]), ["Jaws|25%", "Duel|2023-01-31"]);
}

#[test]
fn sheets() {
    let parsed = read("sheet.xlsx");
    let [films, more] = &parsed.tables[..] else { panic!("{:?}", parsed.tables) };
    assert_eq!(films.caption.as_deref(), Some("Films"));
    assert_eq!(films.columns, ["Name", "Cost / low", "Cost / high", "Day"]);
    assert_eq!(cells(films), ["Jaws|0.3|9|2023-01-31", "Jaws|8|10.5|2023-01-31"]);
    assert_eq!(films.merged, [Merged { row: 0, column: 0, rows: 2, columns: 1 }]);
    assert_eq!(cells(more), ["a|b|1"]);
    assert_eq!(&parsed.text[more.rows[0].range.clone()], "| a\\|b | 1 |");
    assert_eq!(outline(&parsed)[..2], ["h1 # Films", "p All films"]);
}

#[test]
fn books() {
    let parsed = read("book.epub");
    assert_eq!(parsed.title.as_deref(), Some("A book & more"));
    assert_eq!(parsed.author.as_deref(), Some("Ann, Bob"));
    assert_eq!(
        (parsed.date.as_deref(), parsed.language.as_deref()),
        (Some("2020-02-03"), Some("de"))
    );
    assert_eq!(outline(&parsed)[..4], ["h1 # One", "p Go to two.", "h1 # Two", "p End."]);
    assert_eq!(parsed.links[0].target, "two.xhtml#x");
    assert_eq!(parsed.figures[0].image.as_ref().unwrap().1, file("square.png"));
}

#[test]
fn papers() {
    let parsed = read("paper.pdf");
    assert_eq!(
        (parsed.title.as_deref(), parsed.date.as_deref()),
        (Some("A paper"), Some("2023-12-31"))
    );
    assert_eq!(parsed.language.as_deref(), Some("en"));
    let starts: Vec<&str> =
        parsed.pages.iter().map(|page| &parsed.text[page.start..][..9]).collect();
    assert_eq!(starts, ["# A paper", "## The en"]);
    assert_eq!(parsed.tables[0].columns, ["Name", "Year"]);
    assert_eq!(cells(&parsed.tables[0]), ["Jaws|1975", "Duel|1971"]);
    assert_eq!(parsed.tables[0].page, Some(1));
}

#[test]
fn mail_and_rich_text() {
    let mail = read("mail.eml");
    assert_eq!((mail.title.as_deref(), mail.author.as_deref()), (Some("The sharks"), Some("Ann")));
    assert_eq!(mail.date.as_deref(), Some("2023-01-31"));
    assert!(mail.text.contains("sharks are fish."));
    let [file] = &mail.attachments[..] else { panic!("{:?}", mail.attachments) };
    assert_eq!(file.name, "list.txt");
    let words = read("words.rtf");
    assert_eq!(outline(&words), ["p Café au lait.", "p Second paragraph."]);
    assert_eq!(words.title.as_deref(), Some("Rich words"));
}

#[test]
fn names_distinguish_kinds_of_text() {
    let text = "# One\n\n- two\n";
    assert_eq!(outline(&parse("a.md", text.as_bytes()).unwrap()), ["h1 # One", "item - two"]);
    assert_eq!(outline(&parse("a.txt", text.as_bytes()).unwrap()), ["p # One", "p - two"]);
    let table = parse("a.tsv", b"a\tb\n1,5\t2\n").unwrap();
    assert_eq!(cells(&table.tables[0]), ["1,5|2"]);
    let wide: Vec<u8> = "\u{feff}a;b\n1;2\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(cells(&parse("a.csv", &wide).unwrap().tables[0]), ["1|2"]);
}

#[test]
fn callers_may_name_the_kind() {
    assert_eq!(outline(&halma_parse::markdown("# One".into())), ["h1 # One"]);
    assert_eq!(outline(&halma_parse::plain("# One".into())), ["p # One"]);
    assert_eq!(halma_parse::delimited("a|b\n1|2".into(), b'|').tables[0].columns, ["a", "b"]);
    let heading = halma_parse::markdown("Big *Title*\n===\n".into());
    assert_eq!(heading.heading(&heading.blocks[0]), Some((1, "Big Title".into())));
}

#[test]
fn every_format_has_a_name_and_a_description() {
    for name in [
        "report.docx",
        "slides.pptx",
        "letter.odt",
        "sheet.ods",
        "sheet.xlsx",
        "book.epub",
        "paper.pdf",
        "mail.eml",
        "words.rtf",
        "square.png",
    ] {
        let format = parse("file", &file(name)).unwrap().format;
        assert!(halma_parse::formats().any(|info| info.name == format), "{format}");
    }
}

#[test]
fn the_reference_page_says_what_is_not_read() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/reference/formats.md")).unwrap();
    for info in halma_parse::formats() {
        let lost = if info.not_read.is_empty() { "–" } else { info.not_read };
        let row = format!("| `{}` | {} | {lost} |", info.name, info.description);
        assert!(page.contains(&row), "docs/reference/formats.md lacks: {row}");
    }
}

#[test]
fn pictures_are_figures_and_say_how_to_be_read() {
    let parsed = parse("a/square.png", &file("square.png")).unwrap();
    assert_eq!(outline(&parsed), ["figure ![](square.png)"]);
    assert_eq!(parsed.figures[0].image.as_ref().unwrap().0, "image/png");
    assert_eq!(parsed.warnings, ["the picture is not read: OCR is off; set `kb.reading.ocr`"]);
}

/// Where tesseract and poppler are installed, a drawn page comes back as words.
#[test]
fn a_scan_is_read_or_says_what_is_missing() {
    let paper = file("paper.pdf");
    let path = std::env::temp_dir().join(format!("halma-parse-{}.pdf", std::process::id()));
    std::fs::write(&path, paper).unwrap();
    let drawn = std::process::Command::new("pdftoppm")
        .args(["-r", "150", "-f", "1", "-l", "1", "-png"])
        .arg(&path)
        .output();
    std::fs::remove_file(&path).unwrap();
    let Ok(drawn) = drawn else { return };
    let options = ParseOptions { seconds: 60, ..ParseOptions::default() };
    let parsed = halma_parse::parse("page.png", &drawn.stdout, &options).unwrap();
    match &parsed.warnings[..] {
        [] => assert!(parsed.text.contains("sharks are fish"), "{}", parsed.text),
        [warning] => assert!(warning.contains("tesseract"), "{warning}"),
        more => panic!("{more:?}"),
    }
}
