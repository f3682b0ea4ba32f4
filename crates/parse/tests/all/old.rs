//! Word and `PowerPoint` files from before 2007.
use crate::old_files::*;
use crate::{cells, parse};

fn outline(bytes: &[u8]) -> Vec<String> {
    crate::check::outline(&parse("a", bytes).unwrap())
}

#[test]
fn an_old_word_document_is_read_with_its_headings_tables_and_links() {
    let parsed = parse("a.doc", &doc()).unwrap();
    assert_eq!(parsed.format, "doc");
    let lines = crate::check::outline(&parsed);
    assert_eq!(lines[0], "h1 # Read this – it is short");
    assert_eq!(lines[1], "p Это вторая часть, 10⁶ of CO₂");
    assert_eq!(lines[2], "p One new word");
    assert_eq!(lines[4..], ["p the site", "p End", "item - First"]);
    assert_eq!(parsed.tables[0].columns, ["Name", "Dose"]);
    assert_eq!(cells(&parsed.tables[0]), ["Aspirin|5 µg", "Both|Both"]);
    assert_eq!(parsed.links[0].target, "https://a.example");
    let warnings = parsed.warnings.join("\n");
    for words in ["deleted text", "hidden text", "pictures", "numbers of lists"] {
        assert!(warnings.contains(words), "{words}: {warnings}");
    }
}

#[test]
fn a_footnote_stands_after_the_document_and_a_header_is_left_out() {
    let lines: &[Paragraph<'_>] = &[
        (&[("Text\r", &[])], PLAIN),
        (&[("\x02 Note\r", &[])], PLAIN),
        (&[("Header\r", &[])], PLAIN),
        (&[("Box\r", &[])], PLAIN),
    ];
    let [mut main, table] = streams(lines, 0);
    for (index, count) in [5, 7, 7, 0, 0, 0, 4].into_iter().enumerate() {
        main[0x4c + index * 4..][..4].copy_from_slice(&number(count));
    }
    let file = compound(&[("/WordDocument", &main), ("/0Table", &table)]);
    assert_eq!(outline(&file), ["p Text", "p Note", "p Box"]);
}

#[test]
fn words_after_a_field_without_an_end_are_read() {
    let lines: &[Paragraph<'_>] =
        &[(&[("\x13 PAGE \x13 X \r", &[])], PLAIN), (&[("more words\r", &[])], PLAIN)];
    assert_eq!(outline(&document(lines)), ["p more words"]);
}

#[test]
fn a_row_whose_formatting_is_in_another_stream_is_a_row() {
    let lines: &[Paragraph<'_>] = &[
        (&[("a\x07", &[])], CELL),
        (&[("b\x07", &[])], CELL),
        (&[("\x07", &[])], &[0, 0, 0x46, 0x66, 3, 0, 0, 0]),
        (&[("1\x07", &[])], CELL),
        (&[("2\x07", &[])], CELL),
        (&[("\x07", &[])], &[0, 0, 0x46, 0x66, 3, 0, 0, 0]),
    ];
    let [main, table] = streams(lines, 0);
    let data = [&[0; 3], &[6, 0][..], &CELL[2..], &[0x17, 0x24, 1]].concat();
    let file = compound(&[("/WordDocument", &main), ("/0Table", &table), ("/Data", &data)]);
    assert_eq!(cells(&parse("a", &file).unwrap().tables[0]), ["1|2"]);
}

#[test]
fn old_files_that_are_locked_or_older_say_so() {
    let lines: &[Paragraph<'_>] = &[(&[("x\r", &[])], PLAIN)];
    let refused = |file: &[u8]| parse("a", file).map(|parsed| parsed.text).unwrap_err().to_string();
    let [mut main, table] = streams(lines, 0x0100);
    let locked = compound(&[("/WordDocument", &main), ("/0Table", &table)]);
    assert_eq!(refused(&locked), "it is encrypted");
    main[2] = 0x68;
    let older = compound(&[("/WordDocument", &main)]);
    assert_eq!(refused(&older), "it is a Word document from before 1997");
    let user = [&[0; 12], &number(0xf3d1_c4df)[..]].concat();
    let slides = compound(&[("/PowerPoint Document", &[0; 100]), ("/Current User", &user)]);
    assert_eq!(refused(&slides), "it is encrypted");
}

#[test]
fn an_old_presentation_is_read_slide_by_slide() {
    let parsed = parse("a.ppt", &ppt()).unwrap();
    assert_eq!(parsed.format, "ppt");
    assert_eq!(
        crate::check::outline(&parsed),
        [
            "h2 ## Read this",
            "p Первый",
            "item - 10⁶ m x",
            "h3 ### Speaker notes",
            "p Say it",
            "h2 ## Second",
            "p a",
            "p b",
        ]
    );
    let pages: Vec<&str> =
        parsed.pages.iter().map(|page| &parsed.text[page.start..][..7]).collect();
    assert_eq!(pages, ["## Read", "## Seco"]);
    assert!(parsed.warnings[0].contains("pictures"), "{:?}", parsed.warnings);
    assert!(parsed.warnings[1].contains("tables"), "{:?}", parsed.warnings);
}

/// Every number of both formats as large as it can be, one after the other.
#[test]
fn no_number_of_an_old_file_is_trusted() {
    let [main, table] =
        streams(&[(&[("Read this\r", RAISED)], CELL), (&[("\x07", &[])], PLAIN)], 0);
    for at in 0..main.len().max(table.len()) {
        let (mut main, mut table) = (main.clone(), table.clone());
        for (stream, at) in [(&mut main, at), (&mut table, at)] {
            let end = stream.len().min(at + 4);
            if !(1024..1536).contains(&at) && at < end {
                stream[at..end].fill(0xff);
            }
        }
        let refused = parse("a", &compound(&[("/WordDocument", &main), ("/0Table", &table)])).err();
        assert!(refused.is_none_or(|refused| !refused.reason.contains("reader")));
    }
}
