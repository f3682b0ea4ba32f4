//! Word documents as they are written by their programs, each with what its reader sees.
use std::io::{Cursor, Write as _};

use zip::write::SimpleFileOptions;

use crate::check::{check, outline};
use crate::parsed::Parsed;

const RELS: &str = "_rels/.rels";

fn zipped(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(vec![]));
    for (name, bytes) in files {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn read(bytes: &[u8]) -> Parsed {
    let options = crate::ParseOptions { ocr: false, ..crate::ParseOptions::default() };
    let parsed = crate::parse("file", bytes, &options).unwrap();
    check(&parsed);
    parsed
}

fn body(inside: &str) -> String {
    format!(
        "<w:document xmlns:w='w' xmlns:r='http://x/relationships' xmlns:a='a' xmlns:v='v' xmlns:m='m'>\
         <w:body>{inside}</w:body></w:document>"
    )
}

/// A document with other parts, each with the last word of the type of its relation. The relation is
/// named as the part.
fn docx(inside: &str, parts: &[(&str, &str, &[u8])]) -> Parsed {
    let relation = |(path, kind, _): &(&str, &str, &[u8])| {
        format!("<Relationship Id='{path}' Type='http://x/{kind}' Target='{path}'/>")
    };
    let relations: String = parts.iter().map(relation).collect();
    let relations = format!("<Relationships>{relations}</Relationships>");
    let (body, paths) = (body(inside), parts.iter().map(|(path, _, _)| format!("word/{path}")));
    let paths: Vec<String> = paths.collect();
    let mut files = vec![
        ("word/document.xml", body.as_bytes()),
        ("word/_rels/document.xml.rels", relations.as_bytes()),
    ];
    files.extend(paths.iter().zip(parts).map(|(path, (_, _, bytes))| (path.as_str(), *bytes)));
    read(&zipped(&files))
}

fn text(inside: &str) -> String {
    docx(inside, &[]).text.trim().to_owned()
}

/// A run with properties.
fn run(properties: &str, words: &str) -> String {
    format!("<w:r><w:rPr>{properties}</w:rPr><w:t>{words}</w:t></w:r>")
}

fn paragraph(runs: &[String]) -> String {
    format!("<w:p>{}</w:p>", runs.concat())
}

fn plain(words: &str) -> String {
    paragraph(&[run("", words)])
}

fn cell(inside: &str) -> String {
    format!("<w:tc>{inside}</w:tc>")
}

fn rows(parsed: &Parsed) -> Vec<String> {
    let rows = parsed.tables.iter().flat_map(|table| &table.rows);
    rows.map(|row| row.cells.join("|")).collect()
}

const UP: &str = "<w:vertAlign w:val='superscript'/>";
const DOWN: &str = "<w:vertAlign w:val='subscript'/>";
const SYMBOL: &str = "<w:rFonts w:ascii='Symbol' w:hAnsi='Symbol'/>";

#[test]
fn the_main_part_is_where_the_package_says() {
    let rels = |kind: &str, target: &str| {
        format!(
            "<Relationships><Relationship Id='1' Type='{kind}/officeDocument' Target='{target}'/></Relationships>"
        )
    };
    let old = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let strict = "http://purl.oclc.org/ooxml/officeDocument/relationships";
    let document = body(&format!(
        "{}<w:p><w:r><w:t>Kept.</w:t></w:r></w:p>",
        "<w:p><w:hyperlink r:id='x'><w:r><w:t>site</w:t></w:r></w:hyperlink></w:p>"
    ));
    let link = "<Relationships><Relationship Id='x' Type='h' TargetMode='External' Target='http://q.example'/></Relationships>";
    for (kind, target, path, links) in [
        (strict, "/main/text.xml", "main/text.xml", "main/_rels/text.xml.rels"),
        (old, "body.xml", "body.xml", "_rels/body.xml.rels"),
        (old, "./word/document7.xml", "word/document7.xml", "word/_rels/document7.xml.rels"),
        (old, r"word\document.xml", r"word\document.xml", r"word\_rels\document.xml.rels"),
        (old, "word/document.xml", "Word/Document.XML", "Word/_rels/Document.xml.rels"),
        (old, "word/document.xml", "/word/document.xml", "./word/_rels/document.xml.rels"),
    ] {
        let rels = rels(kind, target);
        let files =
            [(RELS, rels.as_bytes()), (path, document.as_bytes()), (links, link.as_bytes())];
        let parsed = read(&zipped(&files));
        assert_eq!(outline(&parsed), ["p site", "p Kept."], "{path}");
        assert_eq!(
            parsed.links.first().map(|link| link.target.as_str()),
            Some("http://q.example"),
            "{path}"
        );
    }
    // A package that names nothing that is there is read by the usual name.
    let rels = rels(old, "gone.xml");
    let parsed =
        read(&zipped(&[(RELS, rels.as_bytes()), ("word/document.xml", document.as_bytes())]));
    assert_eq!(parsed.format, "docx");
}

#[test]
fn a_dose_in_a_symbol_font_keeps_its_unit() {
    let symbol =
        |code: &str, font: &str| format!("<w:r><w:sym w:font='{font}' w:char='{code}'/></w:r>");
    assert_eq!(text(&paragraph(&[run("", "5 "), symbol("F06D", "Symbol"), run("", "g")])), "5 µg");
    assert_eq!(text(&paragraph(&[run("", "37 "), symbol("B0", "Symbol"), run("", "C")])), "37 °C");
    assert_eq!(
        text(&paragraph(&[run("", "x "), run(SYMBOL, "\u{f0a3} \u{f0b1}"), run("", " 2")])),
        "x ≤ ± 2"
    );
    assert_eq!(text(&paragraph(&[run(SYMBOL, "DW"), run("", " = 3")])), "ΔΩ = 3");
    assert_eq!(text(&paragraph(&[run("", "done "), symbol("F0FC", "Wingdings")])), "done ✓");
    // The font may come from the style of the run or of the paragraph, and be taken back.
    let styles = b"<w:styles xmlns:w='w'><w:style w:styleId='Greek'><w:rPr><w:rFonts w:ascii='Symbol'/></w:rPr></w:style></w:styles>";
    let inside = format!(
        "<w:p><w:pPr><w:pStyle w:val='Greek'/></w:pPr>{}{}</w:p>{}",
        run("", "m"),
        run("<w:rFonts w:ascii='Arial'/>", "m"),
        paragraph(&[run("<w:rStyle w:val='Greek'/>", "a"), run("", "a")])
    );
    assert_eq!(outline(&docx(&inside, &[("s.xml", "styles", styles)])), ["p µm", "p αa"]);
}

#[test]
fn signs_without_a_character_are_warned_of_by_their_font() {
    let inside = "<w:p><w:r><w:t>See </w:t><w:sym w:font='Map Icons' w:char='F041'/>\
                  <w:sym w:font='Wingdings 3' w:char='F041'/><w:sym w:font='Arial' w:char='2022'/></w:r></w:p>";
    let parsed = docx(inside, &[]);
    assert_eq!(parsed.text, "See ��•\n");
    assert!(parsed.warnings[0].contains("`Map Icons`, `Wingdings 3`"), "{:?}", parsed.warnings);
}

#[test]
fn powers_and_formulas_keep_their_height() {
    let runs = [run("", "2 x 10"), run(UP, "-"), run(UP, "6"), run("", " g of CO"), run(DOWN, "2")];
    assert_eq!(text(&paragraph(&runs)), "2 x 10⁻⁶ g of CO₂");
    assert_eq!(
        text(&paragraph(&[run("", "10"), run(UP, "2."), run(UP, "5"), run("", " m")])),
        "10^2.5 m"
    );
    let styles = format!(
        "<w:styles xmlns:w='w'><w:style w:styleId='Up'><w:rPr>{UP}</w:rPr></w:style>\
         <w:style w:styleId='Higher'><w:basedOn w:val='Up'/></w:style></w:styles>"
    );
    let runs = [
        run("", "40 m"),
        run("<w:rStyle w:val='Higher'/>", "3"),
        run("<w:rStyle w:val='Up'/><w:vertAlign w:val='baseline'/>", " by 2"),
    ];
    let parsed = docx(&paragraph(&runs), &[("styles.xml", "styles", styles.as_bytes())]);
    assert_eq!(parsed.text, "40 m³ by 2\n");
    // A minus that may not end a line, and a sign of a font.
    let runs = "<w:r><w:t>10</w:t></w:r><w:r><w:rPr><w:vertAlign w:val='superscript'/></w:rPr>\
                <w:noBreakHyphen/><w:t>3</w:t></w:r>";
    assert_eq!(text(&format!("<w:p>{runs}</w:p>")), "10⁻³");
}

#[test]
fn hidden_text_is_left_out_with_a_warning() {
    let styles = b"<w:styles xmlns:w='w'><w:style w:styleId='Off'><w:rPr><w:vanish/></w:rPr></w:style></w:styles>";
    let hidden = [
        paragraph(&[run("", "Seen."), run("<w:vanish w:val='true'/>", " Draft price 9.")]),
        paragraph(&[run("", "Seen."), run("<w:rStyle w:val='Off'/>", " Draft price 9.")]),
        format!(
            "{}<w:p><w:pPr><w:pStyle w:val='Off'/></w:pPr>{}</w:p>",
            plain("Seen."),
            run("", "Draft.")
        ),
        format!(
            "{}<w:tbl><w:tr>{}</w:tr></w:tbl>",
            plain("Seen."),
            cell(&paragraph(&[run("<w:vanish/>", "Draft.")]))
        ),
    ];
    for inside in hidden {
        let parsed = docx(&inside, &[("styles.xml", "styles", styles)]);
        assert_eq!(parsed.text, "Seen.\n");
        assert!(parsed.warnings[0].contains("hidden text"), "{:?}", parsed.warnings);
    }
    let shown = [
        paragraph(&[run("<w:vanish w:val='0'/>", "Seen.")]),
        paragraph(&[run("<w:webHidden/>", "Seen.")]),
        format!("<w:p><w:pPr><w:rPr><w:vanish/></w:rPr></w:pPr>{}</w:p>", run("", "Seen.")),
        format!(
            "<w:p><w:pPr><w:pStyle w:val='Off'/></w:pPr>{}</w:p>",
            run("<w:vanish w:val='off'/>", "Seen.")
        ),
        paragraph(&[run("<w:vanish/>", " "), run("", "Seen.")]),
    ];
    for inside in shown {
        let parsed = docx(&inside, &[("styles.xml", "styles", styles)]);
        assert_eq!((parsed.text.as_str(), parsed.warnings.len()), ("Seen.\n", 0), "{inside}");
    }
}

#[test]
fn charts_and_diagrams_are_read_where_they_stand() {
    let chart = b"<c:chartSpace xmlns:c='c'><c:ser><c:tx><c:v>Tons</c:v></c:tx><c:cat><c:strLit>\
        <c:pt idx='0'><c:v>May</c:v></c:pt></c:strLit></c:cat><c:val><c:numLit><c:pt idx='0'>\
        <c:v>7</c:v></c:pt></c:numLit></c:val></c:ser></c:chartSpace>";
    let diagram = b"<d:dataModel xmlns:d='d' xmlns:a='a'><d:pt><d:t><a:p><a:r><a:t>Plan</a:t></a:r></a:p></d:t></d:pt></d:dataModel>";
    let parts: [(&str, &str, &[u8]); 2] =
        [("c.xml", "chart", chart), ("d.xml", "diagramData", diagram)];
    let drawing = |inside: &str| format!("<w:p><w:r><w:drawing>{inside}</w:drawing></w:r></w:p>");
    let (chart, diagram) =
        (drawing("<a:chart r:id='c.xml'/>"), drawing("<a:relIds r:dm='d.xml'/>"));
    let lines = outline(&docx(&format!("{}{chart}{diagram}", plain("One.")), &parts));
    assert_eq!(lines, ["p One.", "table | | Tons | | --- | --- | | May | 7 |", "item - Plan"]);
    // In a cell of a table they are read after it.
    let table = format!("<w:tbl><w:tr>{}{}</w:tr></w:tbl>", cell(&plain("Left")), cell(&chart));
    let lines = outline(&docx(&table, &parts));
    assert_eq!(lines[1], "table | | Tons | | --- | --- | | May | 7 |", "{lines:?}");
    let missing = docx(
        &format!("{}{}", plain("One."), drawing("<a:chart r:id='no.xml'/>")),
        &[("no.xml", "chart", b"<")],
    );
    assert!(missing.warnings[0].contains("`word/no.xml`"), "{:?}", missing.warnings);
}

#[test]
fn words_that_are_drawn_are_read() {
    let drawn = [
        "<w:pict><v:shape><v:textpath string='Harbour day'/></v:shape></w:pict>",
        "<w:drawing><a:sp><a:txBody><a:p><a:r><a:t>Harbour day</a:t></a:r></a:p></a:txBody></a:sp></w:drawing>",
        "<w:pict><v:textbox><w:txbxContent><w:p><w:r><w:t>Harbour day</w:t></w:r></w:p></w:txbxContent></v:textbox></w:pict>",
    ];
    for drawing in drawn {
        assert_eq!(text(&format!("<w:p><w:r>{drawing}</w:r></w:p>")), "Harbour day");
    }
}

#[test]
fn a_word_with_its_pronunciation_stays_one_word() {
    let ruby = |word: &str, reading: &str| {
        format!(
            "<w:r><w:ruby><w:rubyPr><w:lid w:val='ja-JP'/></w:rubyPr><w:rt>{}</w:rt>\
             <w:rubyBase>{}</w:rubyBase></w:ruby></w:r>",
            run("", reading),
            run("", word)
        )
    };
    assert_eq!(
        text(&paragraph(&[ruby("東", "とう"), ruby("京", "きょう"), run("", "都")])),
        "東京都"
    );
}

#[test]
fn documents_inside_are_read() {
    let import = |inside: &[u8]| {
        let rels =
            "<Relationships><Relationship Id='x' Type='aFChunk' Target='x.docx'/></Relationships>";
        let text = body(&format!("{}<w:altChunk r:id='x'/>", plain("From Word.")));
        zipped(&[
            ("word/document.xml", text.as_bytes()),
            ("word/_rels/document.xml.rels", rels.as_bytes()),
            ("word/x.docx", inside),
        ])
    };
    let inner = import(&import(b""));
    let page = "<html><h2>Fees</h2><table><tr><th>Who<th>Fee<tr><td>Ann<td>7</table>".as_bytes();
    let parts: [(&str, &str, &[u8]); 4] = [
        ("a.htm", "aFChunk", page),
        ("b.rtf", "aFChunk", br"{\rtf1 From RTF.}"),
        ("c.docx", "aFChunk", &inner),
        ("d.txt", "aFChunk", b"Plain words."),
    ];
    let chunk = |path: &str| format!("<w:altChunk r:id='{path}'/>");
    let inside = format!(
        "{}{}",
        plain("Before."),
        ["a.htm", "b.rtf", "c.docx", "d.txt", "a.htm"].map(chunk).concat()
    );
    let parsed = docx(&inside, &parts);
    let lines = outline(&parsed);
    assert_eq!(lines[..2], ["p Before.", "h2 ## Fees"]);
    assert_eq!(rows(&parsed), ["Ann|7"]);
    assert_eq!(lines[3..], ["p From RTF.", "p From Word.", "p Plain words."]);
    assert!(
        parsed.warnings[0].contains("`word/x.docx` inside is not read"),
        "{:?}",
        parsed.warnings
    );
}

#[test]
fn a_row_that_begins_further_right_keeps_its_columns() {
    let row = |before: &str, cells: &[&str]| {
        let cells: String = cells.iter().map(|words| cell(&plain(words))).collect();
        format!("<w:tr><w:trPr>{before}</w:trPr>{cells}</w:tr>")
    };
    let head = row("", &["Plant", "Height", "Age"]);
    for (before, cells, expected) in [
        ("<w:gridBefore w:val='1'/>", &["25", "90"][..], "|25|90"),
        ("<w:gridBefore w:val='2'/><w:wBefore w:w='9'/>", &["90"], "||90"),
        ("<w:gridAfter w:val='1'/>", &["Oak", "25"], "Oak|25|"),
        ("<w:gridBefore w:val='1'/><w:gridAfter w:val='1'/>", &["25"], "|25|"),
    ] {
        let rowed =
            format!("<w:tbl>{head}{}{}</w:tbl>", row("", &["Elm", "3", "4"]), row(before, cells));
        assert_eq!(rows(&docx(&rowed, &[])), ["Elm|3|4", expected]);
    }
}

#[test]
fn rows_are_read_through_what_is_wrapped_around_them() {
    let row = |name: &str, about: &str| {
        format!("<w:tr><w:trPr>{about}</w:trPr>{}{}</w:tr>", cell(&plain(name)), cell(&plain("1")))
    };
    let head = format!("<w:tr>{}{}</w:tr>", cell(&plain("Name")), cell(&plain("Fee")));
    let table = format!(
        "<w:tbl>{head}<w:sdt><w:sdtPr/><w:sdtContent>{}</w:sdtContent></w:sdt><w:ins>{}</w:ins>\
         <w:customXml><w:sdt><w:sdtContent>{}</w:sdtContent></w:sdt></w:customXml>{}{}</w:tbl>",
        row("a", ""),
        row("b", ""),
        row("c", ""),
        row("gone", "<w:del w:id='1'/>"),
        row("new", "<w:ins w:id='2'/>"),
    );
    assert_eq!(rows(&docx(&table, &[])), ["a|1", "b|1", "c|1", "new|1"]);
}

#[test]
fn a_frame_keeps_its_words_around_the_table_inside() {
    let table = |inside: &str| format!("<w:tbl><w:tr>{inside}</w:tr></w:tbl>");
    let inner = format!(
        "<w:tbl><w:tr>{}{}</w:tr><w:tr>{}{}</w:tr></w:tbl>",
        cell(&plain("Item")),
        cell(&plain("Fee")),
        cell(&plain("Oak")),
        cell(&plain("7"))
    );
    let heading = "<w:p><w:pPr><w:outlineLvl w:val='0'/></w:pPr><w:r><w:t>Order</w:t></w:r></w:p>";
    let expected = ["h1 # Order", "table | Item | Fee | | --- | --- | | Oak | 7 |", "p Paid."];
    let frame = table(&cell(&format!("{heading}{inner}{}", plain("Paid."))));
    assert_eq!(outline(&docx(&frame, &[])), expected);
    // Frames in frames, and in content controls.
    let deeper = table(&cell(&format!("<w:sdt><w:sdtContent>{frame}</w:sdtContent></w:sdt>")));
    assert_eq!(outline(&docx(&deeper, &[])), expected);
    // A frame in a cell of a larger table: its words are in the cell, its table is one of its own.
    let larger = table(&format!("{}{}", cell(&plain("A")), cell(&frame)));
    let parsed = docx(&larger, &[]);
    assert!(parsed.text.contains("| A | Order Item Fee Oak 7 Paid. |"), "{}", parsed.text);
    assert_eq!(rows(&parsed)[1..], ["Oak|7"], "{}", parsed.text);
}
