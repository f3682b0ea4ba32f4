//! What people keep in spreadsheets: dates, formulas, headers, and the files of old programs.
use std::fmt::Write as _;
use std::io::{Cursor, Write as _};

use halma_parse::Parsed;

use crate::amplified::zipped;
use crate::{cells, parse};

const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

/// A workbook of one sheet; `properties` stand before the list of sheets, `styles` are formats of
/// the styles 1, 2, ….
fn workbook(properties: &str, styles: &[&str], rows: &str) -> Vec<u8> {
    let book = format!(
        "<workbook xmlns=\"{MAIN}\" xmlns:r=\"{OFFICE}\">{properties}<sheets><sheet name=\"Data\" \
         sheetId=\"1\" r:id=\"a\"/><sheet name=\"Curve\" sheetId=\"2\" r:id=\"b\"/></sheets></workbook>"
    );
    let relation = |id: &str, kind: &str, target: &str| {
        format!("<Relationship Id=\"{id}\" Type=\"{OFFICE}/{kind}\" Target=\"{target}\"/>")
    };
    let relations = |all: &[String]| {
        let name = "http://schemas.openxmlformats.org/package/2006/relationships";
        format!("<Relationships xmlns=\"{name}\">{}</Relationships>", all.concat())
    };
    let (mut formats, mut cells) = (String::new(), String::new());
    for (id, format) in (164..).zip(styles) {
        write!(formats, "<numFmt numFmtId=\"{id}\" formatCode=\"{format}\"/>").unwrap();
        write!(cells, "<xf numFmtId=\"{id}\" applyNumberFormat=\"1\"/>").unwrap();
    }
    zipped(&[
        ("[Content_Types].xml", "<Types/>"),
        ("_rels/.rels", &relations(&[relation("r", "officeDocument", "xl/workbook.xml")])),
        ("xl/workbook.xml", &book),
        (
            "xl/_rels/workbook.xml.rels",
            &relations(&[
                relation("a", "worksheet", "worksheets/first.xml"),
                relation("b", "chartsheet", "chartsheets/sheet1.xml"),
                relation("c", "styles", "styles.xml"),
            ]),
        ),
        (
            "xl/styles.xml",
            &format!(
                "<styleSheet xmlns=\"{MAIN}\"><numFmts>{formats}</numFmts><cellXfs><xf \
                 numFmtId=\"0\"/>{cells}</cellXfs></styleSheet>"
            ),
        ),
        ("xl/chartsheets/sheet1.xml", &format!("<chartsheet xmlns=\"{MAIN}\"/>")),
        (
            "xl/worksheets/first.xml",
            &format!("<worksheet xmlns=\"{MAIN}\"><sheetData>{rows}</sheetData></worksheet>"),
        ),
    ])
}

/// Rows of texts and numbers, as they look.
fn plain(rows: &[&[&str]]) -> Vec<u8> {
    let cell = |text: &&str| match text.parse::<f64>() {
        Ok(number) => format!("<c><v>{number}</v></c>"),
        Err(_) => format!("<c t=\"str\"><v>{text}</v></c>"),
    };
    let row = |row: &&[&str]| format!("<row>{}</row>", row.iter().map(cell).collect::<String>());
    workbook("", &[], &rows.iter().map(row).collect::<String>())
}

fn column(values: &str) -> String {
    let row = |cell: &str| format!("<row><c t=\"str\"><v>x</v></c><c {cell}</c></row>");
    format!("{}{}", row("t=\"str\"><v>Value</v>"), values.split('|').map(row).collect::<String>())
}

/// The values of the second column.
fn values(parsed: &Parsed) -> Vec<&str> {
    parsed.tables[0].rows.iter().map(|row| row.cells[1].as_str()).collect()
}

fn spreadsheet(cells: &str) -> Vec<u8> {
    let row = |cell: &str| {
        format!(
            "<table:table-row><table:table-cell><text:p>x</text:p></table:table-cell>\
             <table:table-cell {cell}</table:table-cell></table:table-row>"
        )
    };
    let rows: String = cells.split('|').map(row).collect();
    let head = row("><text:p>Value</text:p>");
    zipped(&[
        ("mimetype", "application/vnd.oasis.opendocument.spreadsheet"),
        (
            "content.xml",
            &format!(
                "<office:document-content xmlns:office=\"o\" xmlns:table=\"t\" xmlns:text=\"x\">\
                 <table:table table:name=\"S\">{head}{rows}</table:table></office:document-content>"
            ),
        ),
    ])
}

/// Records of an old workbook.
fn record(kind: u16, data: &[u8]) -> Vec<u8> {
    let length = u16::try_from(data.len()).unwrap();
    [&kind.to_le_bytes(), &length.to_le_bytes(), data].concat()
}

fn begin(kind: u16) -> Vec<u8> {
    let mut data = vec![0, 6];
    data.extend(kind.to_le_bytes());
    data.resize(16, 0);
    record(0x0809, &data)
}

fn number(row: u16, column: u16, number: f64) -> Vec<u8> {
    let mut data: Vec<u8> = [row, column, 0].into_iter().flat_map(u16::to_le_bytes).collect();
    data.extend(number.to_le_bytes());
    record(0x0203, &data)
}

fn label(row: u16, column: u16, text: &str) -> Vec<u8> {
    let length = u16::try_from(text.len()).unwrap();
    let mut data: Vec<u8> =
        [row, column, 0, length].into_iter().flat_map(u16::to_le_bytes).collect();
    data.push(0);
    data.extend(text.as_bytes());
    record(0x0204, &data)
}

/// A formula with the result that programs store that compute nothing.
fn formula(row: u16, column: u16) -> Vec<u8> {
    let mut data: Vec<u8> = [row, column, 0].into_iter().flat_map(u16::to_le_bytes).collect();
    data.extend([3, 0, 0, 0, 0, 0, 0xff, 0xff]);
    data.extend([0; 6]);
    // Two whole numbers, added.
    let tokens = [0x1e, 2, 0, 0x1e, 3, 0, 0x03];
    data.extend(u16::try_from(tokens.len()).unwrap().to_le_bytes());
    data.extend(tokens);
    record(0x0006, &data)
}

/// An old workbook of one sheet, in a stream of this name.
fn old(name: &str, globals: &[u8], sheet: &[u8]) -> Vec<u8> {
    let first = [&begin(0x0005), globals].concat();
    let end = record(0x000a, &[]);
    let bound = |start: u32| {
        let data = [&start.to_le_bytes()[..], &[0, 0, 4, 0], b"Data"].concat();
        record(0x0085, &data)
    };
    let start = first.len() + bound(0).len() + end.len();
    let bound = bound(u32::try_from(start).unwrap());
    let stream = [&first[..], &bound, &end, &begin(0x0010), sheet, &end].concat();
    compound(&[(name, &stream)])
}

fn compound(streams: &[(&str, &[u8])]) -> Vec<u8> {
    let mut file = cfb::CompoundFile::create(Cursor::new(vec![])).unwrap();
    for (name, bytes) in streams {
        if let Some((storage, _)) = name.rsplit_once('/').filter(|(storage, _)| !storage.is_empty())
        {
            file.create_storage_all(storage).unwrap();
        }
        file.create_stream(name).unwrap().write_all(bytes).unwrap();
    }
    file.into_inner().into_inner()
}

fn table() -> Vec<u8> {
    [label(0, 0, "Farm"), label(0, 1, "Tonnes"), label(1, 0, "Ahn"), number(1, 1, 125.5)].concat()
}

#[test]
fn dates_of_a_mac_workbook_are_counted_from_1904() {
    let dates = column("s=\"1\"><v>42808</v>|s=\"1\"><v>0.75</v>|s=\"2\"><v>1.5</v>");
    let styles = ["d/m/yyyy", "[h]:mm"];
    for properties in ["<workbookPr date1904=\"1\"/>", "<workbookPr date1904=\"true\"/>"] {
        let parsed = parse("a.xlsx", &workbook(properties, &styles, &dates)).unwrap();
        assert_eq!(values(&parsed), ["2021-03-15", "18:00", "36:00:00"]);
    }
    let parsed = parse("a.xlsx", &workbook("<workbookPr/>", &styles, &dates)).unwrap();
    assert_eq!(values(&parsed), ["2017-03-14", "18:00", "36:00:00"]);
    // Of the old format: the mode, and a style that is a date.
    let style = [0, 0, 14, 0].into_iter().chain([0; 16]).collect::<Vec<u8>>();
    let globals = [record(0x0022, &[1, 0]), record(0x00e0, &style)].concat();
    let parsed =
        parse("a.xls", &old("/Workbook", &globals, &[table(), number(2, 1, 42_808.0)].concat()));
    assert_eq!(values(&parsed.unwrap())[1], "2021-03-15");
}

#[test]
fn what_no_date_can_be_is_shown_as_a_number_or_a_duration() {
    let styles = ["d/m/yyyy", "[hh]:mm:ss"];
    let cells = "s=\"1\"><v>4930123456</v>|s=\"1\"><v>-0.25</v>|s=\"2\"><v>4.25</v>|\
                 t=\"d\"><v>2021-03-15T00:00:00</v>|t=\"d\"><v>2021-03-15T12:30:00</v>";
    let parsed = parse("a.xlsx", &workbook("", &styles, &column(cells))).unwrap();
    let expected = ["4930123456", "-6:00:00", "102:00:00", "2021-03-15", "2021-03-15 12:30:00"];
    assert_eq!(values(&parsed), expected);
}

#[test]
fn formulas_that_nothing_has_computed_are_read_as_formulas() {
    let cells = "><f>B2*C2</f><v></v>|><f t=\"shared\" si=\"0\" ref=\"B3:B4\">C3+1</f>|\
                 ><f t=\"shared\" si=\"0\"/>|t=\"str\"><f>A1</f><v></v>|><f>1+1</f><v>2</v>";
    let parsed = parse("a.xlsx", &workbook("", &[], &column(cells))).unwrap();
    assert_eq!(values(&parsed), ["=B2*C2", "=C3+1", "=…", "", "2"]);
    assert!(parsed.warnings[0].contains("sheet `Curve` is a chart"), "{:?}", parsed.warnings);
    assert!(parsed.warnings[1].contains("`Data`: 3 formulas have no result"));
    // Zeros alone are what a program writes that computes nothing.
    let zeros = column("><f>B2*C2</f><v>0</v>|><f>B3*C3</f><v>0</v>");
    let parsed = parse("a.xlsx", &workbook("", &[], &zeros)).unwrap();
    assert!(parsed.warnings[1].contains("2 formulas have no result"), "{:?}", parsed.warnings);
    let parsed =
        parse("a.xls", &old("/Workbook", &[], &[table(), formula(2, 1)].concat())).unwrap();
    assert_eq!(values(&parsed), ["125.5"]);
    assert!(parsed.warnings[0].contains("1 formulas have no result"), "{:?}", parsed.warnings);
    let parsed = parse("a.ods", &spreadsheet("table:formula=\"of:=SUM([.B2:.B3])\">")).unwrap();
    assert_eq!(values(&parsed), ["=SUM(B2:B3)"]);
    assert_eq!(parsed.warnings.len(), 1);
}

#[test]
fn codes_keep_the_zeros_that_their_format_shows() {
    let styles = ["00000", "0.00", "\\1\\.0#"];
    let cells = "r=\"B2\" s=\"1\"><v>123</v>|r=\"B3\" s=\"2\"><v>123</v>|r=\"B4\" s=\"3\"><v>9</v>|\
                 r=\"B5\" s=\"1\"><v>12.5</v>|r=\"B6\"><v>0.25</v>";
    let parsed = parse("a.xlsx", &workbook("", &styles, &column(cells))).unwrap();
    assert_eq!(values(&parsed), ["00123", "123", "1.09", "12.5", "0.25"]);
}

#[test]
fn a_workbook_with_entities_of_its_own_is_refused_for_them() {
    let book = workbook("", &[], &column("t=\"str\"><v>&lol;</v>"));
    let refusal = parse("a.xlsx", &book).unwrap_err();
    assert!(refusal.reason.contains("document type (DTD)"), "{refusal:?}");
}

#[test]
fn errors_truths_and_escaped_line_ends_are_read_as_shown() {
    let cells = "t=\"e\"><f>1/0</f><v>#DIV/0!</v>|t=\"b\"><v>1</v>|t=\"b\"><f>A1</f><v>0</v>|\
                 t=\"str\"><f>A1</f><v>one_x000D_\ntwo</v>|t=\"inlineStr\"><is><t>a_x000D_b</t></is>";
    let parsed = parse("a.xlsx", &workbook("", &[], &column(cells))).unwrap();
    assert_eq!(values(&parsed), ["#DIV/0!", "TRUE", "FALSE", "one\ntwo", "a\rb"]);
}

#[test]
fn the_numbers_that_a_chart_keeps_are_no_cells() {
    let end = record(0x000a, &[]);
    let chart = [&begin(0x0020)[..], &number(0, 0, 1.0), &number(1, 1, 7.0), &end].concat();
    let merged = record(0x00e5, &[1, 0, 1, 0, 2, 0, 0, 0, 0, 0]);
    for sheet in [
        [&table()[..], &chart, &number(2, 1, 9.0)].concat(),
        [&chart[..], &chart, &table(), &number(2, 1, 9.0)].concat(),
        [&table()[..], &number(2, 1, 9.0), &[begin(0x0020), chart, end].concat(), &merged].concat(),
    ] {
        let parsed = parse("a.xls", &old("/Workbook", &[], &sheet)).unwrap();
        assert_eq!(parsed.tables[0].columns, ["Farm", "Tonnes"]);
        assert_eq!(values(&parsed), ["125.5", "9"]);
    }
}

#[test]
fn old_workbooks_are_known_by_their_root() {
    for name in ["/WORKBOOK", "/BOOK", "/workbook", "/Book"] {
        assert_eq!(parse("a.xls", &old(name, &[], &table())).unwrap().format, "xls", "{name}");
    }
    let wide = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let words = [label(2, 0, "x"), record(0x1234, &wide("WordDocument EncryptedPackage"))].concat();
    let parsed = parse("a.xls", &old("/Workbook", &[], &[table(), words].concat())).unwrap();
    assert_eq!(parsed.format, "xls");
    for (streams, words) in [
        (&["/WordDocument", "/ObjectPool/_1/Workbook"][..], "Word document"),
        (&["/PowerPoint Document", "/Workbook2"], "PowerPoint"),
        (&["/MBD/WordDocument", "/Other"], "unknown kind"),
        (&["/EncryptedPackage", "/EncryptionInfo"], "encrypted"),
    ] {
        let streams: Vec<_> = streams.iter().map(|name| (*name, &b"Workbook"[..])).collect();
        let refusal = parse("a.doc", &compound(&streams)).unwrap_err();
        assert!(refusal.reason.contains(words), "{refusal:?}");
    }
}

#[test]
fn cells_of_ods_that_show_no_text_have_their_values() {
    let cells = "office:value-type=\"float\" office:value=\"123.5\">|\
                 office:value-type=\"percentage\" office:value=\"0.125\">|\
                 office:value-type=\"currency\" office:currency=\"EUR\" office:value=\"7\">|\
                 office:value-type=\"time\" office:time-value=\"PT36H30M00S\">|\
                 office:value-type=\"boolean\" office:boolean-value=\"true\">|\
                 office:value-type=\"date\" office:date-value=\"2021-03-15\">|\
                 office:value-type=\"string\" office:string-value=\"words\">";
    let parsed = parse("a.ods", &spreadsheet(cells)).unwrap();
    let expected = ["123.5", "12.5%", "7 EUR", "36:30:00", "TRUE", "2021-03-15", "words"];
    assert_eq!(values(&parsed), expected);
}

#[test]
fn dates_of_ods_are_days_however_they_are_shown() {
    let cells = "office:value-type=\"date\" office:date-value=\"2021-04-03\"><text:p>03/04/21</text:p>|\
                 office:value-type=\"date\" office:date-value=\"2021-03-15T12:30:00\">\
                 <text:p>15. M\u{e4}rz</text:p>|\
                 office:value-type=\"float\" office:value=\"1.25\"><text:p>1,3 kg</text:p>";
    let parsed = parse("a.ods", &spreadsheet(cells)).unwrap();
    assert_eq!(values(&parsed), ["2021-04-03", "2021-03-15 12:30:00", "1,3 kg"]);
}

#[test]
fn headers_may_be_equal_or_dates_or_long_questions() {
    let question = "How often do you borrow books, films or games from the library of your town, \
                    and would you do so in the evening, too?";
    let header =
        |rows: &[&[&str]]| parse("a.xlsx", &plain(rows)).unwrap().tables[0].columns.clone();
    for rows in [
        &[&["Item", "Amount", "Amount"][..], &["Rent", "10", "20"], &["Heat", "11", "x"]][..],
        &[&["Name", question], &["Ann", "often"], &["Bob", "never"]],
        &[&["Name", &question[..110]], &["Ann", "7"], &["Bob", "9"]],
        &[&["Toys", "2021", "2022"], &["Cars", "1950", "5"], &["Dolls", "8", "7"]],
        &[&["Toys", "2021-01-01", "2021-02-01"], &["Cars", "5", "6"], &["Dolls", "8", "7"]],
        &[&["Toys", "Jan", "Feb"], &["Cars", "5", "6"], &["Dolls", "8", "7"]],
    ] {
        assert_eq!(header(rows), rows[0]);
    }
    let units = [&["Name", "Weight", "Height"][..], &["", "kg", "cm"], &["Ann", "60", "170"]];
    assert_eq!(header(&units), ["Name", "Weight / kg", "Height / cm"]);
    for rows in [
        &[&["Ann", "kind", "kind"][..], &["Bob", "sad", "sad"]][..],
        &[&["Ann", "–", "–"], &["Bob", "5", "6"]],
        &[&["Ann", question.trim_end_matches('?')], &["Bob", "words"]],
        &[&["Ann", "2021", "1"], &["Bob", "2022", "2"]],
    ] {
        assert!(header(rows).iter().all(String::is_empty), "{rows:?}");
    }
}

fn csv(text: &str) -> Parsed {
    parse("a.csv", text.as_bytes()).unwrap()
}

#[test]
fn the_delimiter_is_the_one_that_all_rows_share() {
    for (text, columns) in [
        ("Name, Vorname;Betrag\nMuster, Max;1,50\n", &["Name, Vorname", "Betrag"][..]),
        ("City, State\tPeople\nElm, OH\t7\nOak, PA\t8\n", &["City, State", "People"]),
        (
            "id,\"Name; title\",town\n1,\"Ann; Dr.\",Elm\n2,\"Bo; Mr.\",Oak\n",
            &["id", "Name; title", "town"],
        ),
        ("a|b, c\n1|2, 3\n", &["a", "b, c"]),
        ("Remark\nfine\nwell, yes\nno\nbad\n", &["Remark"]),
    ] {
        assert_eq!(csv(text).tables[0].columns, columns, "{text}");
    }
}

#[test]
fn a_first_line_may_name_the_delimiter() {
    for first in ["sep=;\n", "\u{feff}sep=;\r\n", "\"sep=;\"\n", "SEP=;,\n"] {
        let parsed = csv(&format!("{first}Town;Name, first\nUlm;Ann, B\n"));
        assert_eq!(parsed.tables[0].columns, ["Town", "Name, first"], "{first}");
        assert_eq!(cells(&parsed.tables[0]), ["Ulm|Ann, B"]);
    }
    assert_eq!(csv("sep=^\nTown^Name\nUlm^Ann\n").tables[0].columns, ["Town", "Name"]);
    assert_eq!(csv("sepal,petal\n1,2\n").tables[0].columns, ["sepal", "petal"]);
}

#[test]
fn quotes_may_follow_spaces_and_hold_lines() {
    let parsed = csv("id, name, town\n1, \"Doe, John\", Bonn\n2,   \"Roe \"\"J\"\"\" , Kiel\n");
    assert_eq!(cells(&parsed.tables[0]), ["1|Doe, John|Bonn", "2|Roe \"J\"|Kiel"]);
    let text = "id,note\n1,\"Hello, Bob\nI came, I saw\nthanks, bye\"\n2,\"\"\n3,\"a\r\n\r\nb\"\n";
    let parsed = csv(text);
    assert_eq!(
        cells(&parsed.tables[0]),
        ["1|Hello, Bob\nI came, I saw\nthanks, bye", "2|", "3|a\r\n\r\nb"]
    );
    assert_eq!(parsed.warnings, Vec::<String>::new());
}

#[test]
fn a_quote_that_does_not_end_swallows_no_rows() {
    let rows = |from: usize| -> String {
        (from..from + 50).map(|i| format!("{i},word {i},{i}0\n")).collect::<Vec<_>>().concat()
    };
    for (text, line, count) in [
        (format!("id,note,n\n1,\"5 inch,10\n{}", rows(2)), 2, 51),
        (format!("id,note,n\n{}60,\"5\"\" pipe,1\n{}61,\"6 inch,2\n", rows(1), rows(70)), 52, 102),
        (format!("id,note,n\n1,\"5 inch,10\n{}99,wide\",3\n", rows(2)), 2, 52),
        (format!("id,note,n\n1,\"5 inch,10\n{}99,\"fine, too\",3\n", rows(2)), 2, 52),
    ] {
        let parsed = csv(&text);
        assert_eq!(parsed.tables[0].rows.len(), count, "{text}");
        assert!(parsed.tables[0].rows.iter().all(|row| row.cells.len() == 3));
        assert!(
            parsed.warnings[0].starts_with(&format!("line {line}: a quote")),
            "{:?}",
            parsed.warnings
        );
    }
}

#[test]
fn a_line_of_a_million_delimiters_is_refused_at_once() {
    let lines = "a\n".repeat(100_000);
    for first in [",".repeat(1_000_000), format!("x{}x", ";".repeat(1_000_000))] {
        let refusal = parse("a.csv", format!("{first}\n{lines}").as_bytes()).unwrap_err();
        assert_eq!(refusal.reason, "it has 1000001 columns; at most 100000 are read");
    }
    let long = "n".repeat(1_000_000);
    let parsed = csv(&format!("{long},b\n{}", "1,2\n".repeat(1_000)));
    assert_eq!(parsed.tables[0].columns[0].len(), 500);
    assert!(parsed.text.starts_with(&long));
}
