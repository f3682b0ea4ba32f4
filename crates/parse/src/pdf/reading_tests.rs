//! Pages made of lines of text at their places, and what is read of them.
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use super::tests::object;
use super::{Ocr, Parsed, read};

/// Text at a place, in points from the lower left corner of an A4 page.
fn at(x: u32, y: u32, text: &str) -> String {
    sized(12, x, y, text)
}

fn sized(size: u32, x: u32, y: u32, text: &str) -> String {
    format!("BT /F {size} Tf 1 0 0 1 {x} {y} Tm ({text}) Tj ET\n")
}

/// Reads a document whose font maps some codes to other characters than Helvetica does.
fn parsed(pages: &[String], to_unicode: &[(char, &str)]) -> Parsed {
    let numbers = || 100..100 + pages.len();
    let kids: Vec<String> = numbers().map(|number| format!("{number} 0 R")).collect();
    let mut file = format!("%PDF-1.4\n{}", object(1, "/Type/Catalog/Pages 2 0 R", None));
    file +=
        &object(2, &format!("/Type/Pages/Count {}/Kids[{}]", pages.len(), kids.join(" ")), None);
    let mut cmap = String::from("begincmap\n1 begincodespacerange\n<00> <ff>\nendcodespacerange\n");
    for (code, text) in to_unicode {
        let units: Vec<String> = text.encode_utf16().map(|unit| format!("{unit:04x}")).collect();
        let (code, units) = (u32::from(*code), units.concat());
        writeln!(cmap, "1 beginbfchar\n<{code:02x}> <{units}>\nendbfchar").unwrap();
    }
    file += &object(4, "", Some(&(cmap + "endcmap")));
    let map = if to_unicode.is_empty() { "" } else { "/ToUnicode 4 0 R" };
    let font = "/Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding";
    file += &object(3, &format!("{font}{map}"), None);
    for (number, page) in numbers().zip(pages) {
        let contents = number + 100_000;
        let dict = format!(
            "/Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents {contents} 0 R\
             /Resources<</Font<</F 3 0 R>>>>"
        );
        file += &object(number, &dict, None);
        file += &object(contents, "", Some(page));
    }
    file += "trailer\n<</Root 1 0 R>>\n";
    let until = Instant::now() + Duration::from_mins(1);
    let ocr = Ocr { enabled: false, languages: String::new(), until };
    read(file.into_bytes(), &ocr, until).unwrap()
}

fn text(pages: &[String]) -> String {
    parsed(pages, &[]).text
}

/// A body of ten lines in the middle of page number `page`.
fn body(page: u32) -> String {
    let line = |line: u32| {
        at(72, 640 - 15 * line, &format!("Words of line {line} on the sheet {page} go on and on"))
    };
    (0..10).map(line).collect()
}

#[test]
fn numbers_of_accounts_in_the_head_stay() {
    let page = |page: u32| at(72, 800, &format!("Account no. {}", 10_020 + page)) + &body(page);
    let text = text(&(1..5).map(page).collect::<Vec<_>>());
    (1..5).for_each(|page| assert!(text.contains(&format!("Account no. {}", 10_020 + page))));
}

#[test]
fn lists_of_numbered_rows_stay() {
    let page = |page: u32| -> String {
        let row =
            |row: u32| at(72, 800 - 20 * row, &format!("Bolt {} in box {page}", page * 5 + row));
        (0..5).map(row).collect()
    };
    let text = text(&(0..4).map(page).collect::<Vec<_>>());
    (0..20).for_each(|row| assert!(text.contains(&format!("Bolt {row} in")), "{row}: {text}"));
}

#[test]
fn short_pages_keep_lines_that_are_alike() {
    let page = |page: u32| {
        at(72, 790, "Delivery note") + &at(72, 720, &format!("Crane {page}")) + &at(72, 700, "Paid")
    };
    let text = text(&(1..5).map(page).collect::<Vec<_>>());
    assert_eq!(text.matches("Delivery note").count(), 4, "{text}");
    assert_eq!(text.matches("Paid").count(), 4, "{text}");
}

#[test]
fn a_head_is_read_once_and_page_numbers_are_not() {
    let page = |page: u32| {
        at(72, 800, "Harbour report 2024, Contract 77-B")
            + &body(page)
            + &at(290, 40, &format!("Page {page} of 5"))
    };
    let read = text(&(1..6).map(page).collect::<Vec<_>>());
    assert_eq!(read.matches("Contract 77-B").count(), 1, "{read}");
    assert!(!read.contains("of 5"), "{read}");
    let lone = |page: u32| body(page) + &at(290, 40, &format!("- {page} -"));
    let read = text(&(1..6).map(lone).collect::<Vec<_>>());
    assert!(!read.contains("- 3"), "{read}");
}

#[test]
fn heads_of_left_and_right_pages_are_read_once() {
    let page = |page: u32| {
        let (x, head) = if page.is_multiple_of(2) { (72, "The harbour") } else { (430, "Cranes") };
        let number =
            at(if page.is_multiple_of(2) { 500 } else { 72 }, 800, &format!("{}", 40 + page));
        at(x, 800, head) + &number + &body(page)
    };
    let text = text(&(1..9).map(page).collect::<Vec<_>>());
    assert_eq!(text.matches("The harbour").count(), 1, "{text}");
    assert_eq!(text.matches("Cranes").count(), 1, "{text}");
    assert!(!text.contains("45"), "{text}");
}

#[test]
fn values_in_a_form_stay_where_some_are_equal() {
    let page = |page: u32| {
        let town = if page < 4 { "Town: Ambel 3" } else { "Town: Brill 9" };
        at(72, 800, town) + &body(page)
    };
    let read = text(&(1..7).map(page).collect::<Vec<_>>());
    assert_eq!((read.matches("Ambel").count(), read.matches("Brill").count()), (3, 3), "{read}");
    let stamp = |page: u32| at(400, 30, &format!("ACME{:06}", 120 + page)) + &body(page);
    let read = text(&(1..5).map(stamp).collect::<Vec<_>>());
    assert!(read.contains("ACME000121") && read.contains("ACME000124"), "{read}");
    let year = |page: u32| at(72, 800, &format!("{}", 2019 + page)) + &body(page);
    assert!(text(&(1..5).map(year).collect::<Vec<_>>()).contains("2022"));
}

/// Runs of text on one line: each with its size and how far it is raised, in points.
fn runs(y: u32, runs: &[(u32, i32, &str)]) -> String {
    let mut line = format!("BT 1 0 0 1 72 {y} Tm ");
    for (size, rise, text) in runs {
        write!(line, "/F {size} Tf {rise} Ts ({text}) Tj ").unwrap();
    }
    line + "ET\n"
}

#[test]
fn powers_and_formulas_keep_their_place_in_a_paragraph() {
    let page = runs(700, &[(12, 0, "It had 4.1 x 10"), (7, 4, "9"), (12, 0, " atoms in a flask")])
        + &runs(
            686,
            &[(12, 0, "of 3 cm"), (8, 5, "-3"), (12, 0, "/s and CO"), (8, -2, "2"), (12, 0, ",")],
        )
        + &runs(
            672,
            &[(7, 4, "238"), (12, 0, "U was not there on the 1"), (8, 4, "st"), (12, 0, " day.")],
        );
    let expected =
        "It had 4.1 x 10⁹ atoms in a flask of 3 cm⁻³/s and CO₂, ²³⁸U was not there on the 1st day.";
    assert_eq!(text(&[page]).trim(), expected);
}

#[test]
fn marks_of_notes_are_raised_and_their_words_are_not() {
    let page = runs(700, &[(12, 0, "Later work"), (7, 4, " 12"), (12, 0, " gave a lower figure")])
        + &runs(60, &[(5, 3, "12"), (8, 0, " Falk 1996, 8.")]);
    let text = text(&[page]);
    assert!(text.contains("Later work ¹² gave"), "{text}");
    assert!(text.contains("¹² Falk 1996, 8."), "{text}");
    let page = runs(
        700,
        &[
            (12, 0, "Bolts of 3"),
            (7, 5, "1"),
            (12, 0, "/4 inch and "),
            (7, 5, "1"),
            (12, 0, "/2 inch"),
        ],
    );
    assert_eq!(self::text(&[page]).trim(), "Bolts of 3¹/4 inch and 1/2 inch");
}

#[test]
fn drop_caps_small_capitals_and_small_lines_are_no_scripts() {
    let page = sized(40, 72, 680, "1")
        + &at(98, 700, "984 was a year")
        + &at(98, 686, "of storms.")
        + &runs(640, &[(12, 0, "IN "), (9, 0, "1985"), (12, 0, " it was calm.")])
        + &sized(7, 72, 620, "11")
        + &sized(7, 72, 612, "12");
    let text = text(&[page]);
    for words in ["984 was a year", "IN 1985 it was calm.", "11", "12"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(!text.contains(['¹', '²', '⁹']), "{text}");
}

/// Small letters stand for Arabic and Hebrew ones, drawn from left to right as they are seen.
const LETTERS: [(char, &str); 9] = [
    ('a', "م"),
    ('b', "لا"),
    ('c', "س"),
    ('d', "\u{fefc}"),
    ('e', "\u{feb3}"),
    ('p', "ש"),
    ('q', "ל"),
    ('r', "ו"),
    ('s', "ם"),
];

#[test]
fn an_arabic_ligature_keeps_the_order_of_its_letters() {
    let page = at(72, 700, "abc abc") + &at(72, 600, "ade 12.5 abc");
    let text = parsed(&[page], &LETTERS).text;
    assert_eq!(text.trim(), "سلام سلام\n\nسلام 12.5 سلام");
}

#[test]
fn words_to_the_left_in_a_latin_line_are_read_in_their_order() {
    let page = at(72, 700, "THE OLD WORDS OF THE TOWN \\(abc srqp\\) AND srqp abc, 1984");
    assert_eq!(
        parsed(&[page], &LETTERS).text.trim(),
        "THE OLD WORDS OF THE TOWN (שלום سلام) AND سلام שלום, 1984"
    );
}

#[test]
fn numbers_and_latin_words_in_a_word_to_the_left_are_not_turned() {
    let page = at(72, 700, "srqp USB-srqp 12.5-srqp");
    assert_eq!(parsed(&[page], &LETTERS).text.trim(), "שלום-12.5 שלום-USB שלום");
}

const WORDS: &str = "Der Hafen einer Stadt wurde in Jahren von Leuten aus dem Norden gebaut und jede \
                     Mauer bekam einen Kran der Kisten und Holz aus Schiffen hob bis Boote kamen";

/// Lines of running text, of which some begin with a capital.
fn lines(x: u32, ys: std::ops::Range<u32>, letters: usize) -> String {
    let words = [WORDS; 40].join(" ");
    let mut left = words.split(' ');
    let mut page = String::new();
    for y in ys.rev().step_by(12) {
        let mut line = String::new();
        while line.len() < letters {
            line += left.next().unwrap();
            line.push(' ');
        }
        page += &at(x, y, line.trim());
    }
    page
}

#[test]
fn columns_below_full_lines_are_read_one_after_the_other() {
    let page = lines(50, 400..790, 80) + &lines(50, 200..390, 34) + &lines(320, 200..390, 34);
    let read = parsed(&[page], &[]);
    assert!(read.tables.is_empty(), "{:?}", read.tables);
    assert_eq!(read.text.trim().matches("\n\n").count(), 2, "{}", read.text);
}

#[test]
fn a_table_in_a_column_is_a_table() {
    let row = |y: u32, cells: [&str; 3]| {
        at(50, y, cells[0]) + &at(150, y, cells[1]) + &at(220, y, cells[2])
    };
    let table = row(480, ["Item", "Quantity", "Price"])
        + &row(468, ["Barrels", "12", "3.50"])
        + &row(456, ["Crates", "7", "2.25"])
        + &row(444, ["Timber", "3", "9.00"]);
    let page =
        at(50, 790, "A heading across the page, which is as wide as both of the columns are")
            + &lines(50, 500..760, 34)
            + &table
            + &lines(50, 200..420, 34)
            + &lines(320, 200..760, 34);
    let read = parsed(&[page], &[]);
    assert_eq!(read.tables.len(), 1, "{:?}", read.tables);
    assert_eq!(read.tables[0].columns, ["Item", "Quantity", "Price"]);
    assert_eq!(read.tables[0].rows.len(), 3);
}

#[test]
fn three_columns_below_full_lines_are_no_table() {
    let page = lines(50, 500..790, 84)
        + &lines(40, 100..490, 26)
        + &lines(225, 100..490, 26)
        + &lines(410, 100..490, 26);
    assert!(parsed(&[page], &[]).tables.is_empty());
}

#[test]
fn a_table_of_words_below_full_lines_is_a_table() {
    let rows = [
        "Barrels of oil and wine",
        "Crates",
        "Timber from the north",
        "Stone",
        "Salt and herring",
        "Rope",
    ];
    let row = |(at_row, name): (u32, &&str)| {
        at(50, 300 - 20 * at_row, name)
            + &at(320, 300 - 20 * at_row, &format!("Quay {at_row} by the tower"))
    };
    let page = lines(50, 350..790, 80) + &(0..).zip(&rows).map(row).collect::<String>();
    let read = parsed(&[page], &[]);
    assert_eq!(read.tables.len(), 1, "{}", read.text);
    assert_eq!(read.tables[0].columns.len(), 2);
}
