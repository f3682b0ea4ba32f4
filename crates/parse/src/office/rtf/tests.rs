use super::{read, unwrapped};
use crate::check::{check, outline};

fn blocks(text: &str) -> Vec<String> {
    let parsed = read(text.as_bytes());
    check(&parsed);
    assert!(parsed.warnings.is_empty(), "{:?}", parsed.warnings);
    outline(&parsed)
}

/// The words of a document of one paragraph.
fn words(text: &str) -> String {
    let blocks = blocks(text);
    assert_eq!(blocks.len(), 1, "{blocks:?}");
    blocks[0].strip_prefix("p ").unwrap().to_owned()
}

#[test]
fn headings_items_links_and_tables_come_out() {
    let text =
        br#"{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0 Arial;}}{\info{\title A title}{\author Ann}
{\revtim\yr2023\mo1\dy5}}{\header left out}\pard\outlinelevel0 Heading\par\pard See
 {\field{\*\fldinst{HYPERLINK "https://a.example"}}{\fldrslt{the site}}} caf\'e9 \u8364?\par
{\listtext\tab 1.\tab}First\par{\v hidden}\trowd\cellx1\cellx2\pard\intbl Name\cell Year\cell\row
\trowd\pard\intbl Jaws\cell 1975\cell\row\pard End\par}"#;
    let parsed = read(text);
    check(&parsed);
    let lines = outline(&parsed);
    assert_eq!(lines[..3], ["h1 # Heading", "p See the site café €", "item 1. First"]);
    assert_eq!(parsed.links[0].target, "https://a.example");
    assert_eq!(parsed.tables[0].columns, ["Name", "Year"]);
    assert_eq!(lines.last().map(String::as_str), Some("p End"));
    assert_eq!(
        (parsed.author.as_deref(), parsed.date.as_deref()),
        (Some("Ann"), Some("2023-01-05"))
    );
}

#[test]
fn a_word_in_the_font_of_another_script_is_read_in_it() {
    let document = |charset: &str, text: &str| {
        words(&format!(
            "{{\\rtf1\\ansi\\ansicpg1252\\deff0{{\\fonttbl{{\\f0\\fcharset0 Arial;}}\
             {{\\f1\\fnil{charset}{{\\*\\panose 02}} Other;}}}}Caf\\'e9 {{\\f1 {text}}} caf\\'e9\\par}}"
        ))
    };
    for (charset, text, read) in [
        ("\\fcharset161", "\\'c1\\'e8\\'de\\'ed\\'e1", "Αθήνα"),
        ("\\fcharset162", "\\'dd\\'fe\\'f0\\'dd", "İşğİ"),
        ("\\fcharset177", "\\'f9\\'ec\\'e5\\'ed", "שלום"),
        ("\\fcharset238", "\\'a3\\'f3d\\'9f", "Łódź"),
        ("\\fcharset128", "\\'93\\'8c\\'8b\\'9e\\'83\\\\", "東京ソ"),
        ("\\fcharset134", "\\'b1\\'b1\\'be\\'a9", "北京"),
        ("\\fcharset77", "M\\'9fnchen", "München"),
        ("\\fcharset89", "\\'8c\\'ee\\'f1\\'ea\\'e2\\'e0", "Москва"),
        ("\\fcharset86", "\\'dc\\'dd\\'df", "İış"),
        ("\\fcharset255", "M\\'81nchen", "München"),
        ("\\fcharset1\\cpg1251", "\\'cc\\'ee\\'f1\\'ea\\'e2\\'e0", "Москва"),
    ] {
        assert_eq!(document(charset, text), format!("Café {read} café"), "{charset}");
    }
}

#[test]
fn a_document_is_read_in_its_code_page() {
    for (header, text, read) in [
        ("\\mac", "na\\'95ve caf\\'8e", "naïve café"),
        ("\\pc", "\\'9f\\'81\\'e1", "ƒüß"),
        ("\\pca", "\\'9b\\'d0", "øð"),
        ("\\ansi\\ansicpg1251", "\\'cc\\'ee\\'f1\\'ea\\'e2\\'e0", "Москва"),
        ("\\ansi\\ansicpg65001", "Z\u{fc}rich, \\'c5\\'81\\'c3\\'b3d\\'c5\\'ba", "Zürich, Łódź"),
        ("\\ansi\\ansicpg932", "\\'93\\'8c\\'8b\\'9e", "東京"),
        ("\\ansi\\ansicpg10000", "M\\'9fnchen", "München"),
        ("\\ansi", "Br\u{fc}hl", "Brühl"),
    ] {
        assert_eq!(words(&format!("{{\\rtf1{header} {text}\\par}}")), read, "{header}");
    }
    // A font that calls itself Western in a document of another script, as programs write it.
    let fonts = "{\\fonttbl{\\f0\\fcharset0 Arial;}}\\f0";
    let russian = format!("{{\\rtf1\\ansicpg1251{fonts} \\'cc\\'ee\\'f1\\'ea\\'e2\\'e0\\par}}");
    assert_eq!(words(&russian), "Москва");
    assert_eq!(words(&format!("{{\\rtf1\\ansicpg1251{fonts} caf\\'e9\\par}}")), "café");
}

#[test]
fn a_script_that_is_not_read_is_said() {
    let parsed =
        read(b"{\\rtf1\\ansi{\\fonttbl{\\f1\\fcharset85 Times;}}Price {\\f1 5 \\'c1}\\par}");
    assert!(parsed.warnings.is_empty(), "{:?}", parsed.warnings);
    let parsed =
        read(b"{\\rtf1\\ansi{\\fonttbl{\\f1\\fcharset84 Geeza;}}Price {\\f1 5 \\'c1}\\par}");
    assert_eq!(parsed.text, "Price 5 \u{fffd}\n");
    assert!(parsed.warnings[0].contains("encoding"), "{:?}", parsed.warnings);
}

#[test]
fn a_fee_that_was_struck_out_is_not_read() {
    let body = |text: &str| words(&format!("{{\\rtf1\\ansi\\pard {text}\\par}}"));
    assert_eq!(body("The fee is {\\deleted 400}{\\revised 550} euros."), "The fee is 550 euros.");
    assert_eq!(body("Fee \\deleted 400\\deleted0 550 euros"), "Fee 550 euros");
    assert_eq!(body("Fee \\deleted {\\b 4}00\\plain 550"), "Fee 550");
    assert_eq!(body("Fee {\\mvf 400}\\revised 550\\revised0"), "Fee 550");
    assert_eq!(body("One {\\deleted and two.\\par}line."), "One line.");
    let parsed =
        read(b"{\\rtf1 Old {\\deleted{\\pict\\pngblip 89504e47}{\\footnote gone}}new\\par}");
    assert_eq!((parsed.text.as_str(), parsed.figures.len()), ("Old new\n", 0));
}

#[test]
fn powers_and_formulas_keep_their_height() {
    let body = |text: &str| words(&format!("{{\\rtf1\\ansi {text}\\par}}"));
    assert_eq!(body("2.5 x 10{\\super 6} cells"), "2.5 x 10⁶ cells");
    assert_eq!(body("12 m\\super 2\\nosupersub , CO\\sub 2\\nosupersub ."), "12 m², CO₂.");
    assert_eq!(body("10\\up6\\fs16 -3\\up0\\fs24  g, H\\dn4 2\\dn0 O"), "10⁻³ g, H₂O");
    assert_eq!(body("10{\\super 2}{\\super\\b .}{\\super 5}; 2\\super 3\\plain 4"), "10^2.5; 2³4");
    assert_eq!(body("In {\\up1 2024} the 1{\\super st}"), "In 2024 the 1st");
}

#[test]
fn a_text_box_stands_below_its_paragraph_and_is_read_once() {
    let shape = "{\\shp{\\*\\shpinst\\shpleft0{\\sp{\\sn shapeType}{\\sv 202}}\
                 {\\shptxt \\pard\\outlinelevel0 Cap\\par of 30\\par}}\
                 {\\shprslt{\\*\\do\\dobxpage{\\dptxbxtext\\pard Cap\\par of 30\\par}}}}";
    assert_eq!(
        blocks(&format!("{{\\rtf1 The fee{shape} is 5.\\par End\\par}}")),
        ["p The fee is 5.", "p Cap of 30", "p End"]
    );
    let old = "{\\*\\do\\dobxpage\\dptxbx{\\dptxbxtext\\pard Boxed\\par}\\dpx0}";
    assert_eq!(blocks(&format!("{{\\rtf1 {old}Text\\par}}")), ["p Text", "p Boxed"]);
    let group = "{\\shpgrp{\\*\\shpinst{\\shp{\\*\\shpinst{\\shptxt One\\par}}}\
                 {\\shp{\\*\\shpinst{\\shptxt Two\\par}}}}}";
    assert_eq!(blocks(&format!("{{\\rtf1 {group}\\par}}")), ["p One", "p Two"]);
    // In a cell, and without an end.
    let cell = "{\\rtf1\\trowd\\pard\\intbl A{\\shp{\\*\\shpinst{\\shptxt\\pard Box\\par}}}\\cell B\\cell\\row";
    let parsed = read(format!("{cell}\\pard End {{\\*\\shpinst{{\\shptxt Last").as_bytes());
    assert_eq!(outline(&parsed)[1..], ["p End", "p Box", "p Last"]);
    assert_eq!(parsed.tables[0].rows[0].cells, ["A", "B"]);
}

#[test]
fn notes_stand_below_their_paragraph() {
    let note = "{\\super\\chftn}{\\footnote\\pard\\plain{\\super\\chftn} By law.\\par Or so.}";
    assert_eq!(
        blocks(&format!("{{\\rtf1\\pard It is due{note} in May.\\par End\\par}}")),
        ["p It is due in May.", "p By law. Or so.", "p End"]
    );
    let starred = "{\\*\\footnote\\ftnalt\\pard An end note.\\par}";
    let text = format!("{{\\rtf1\\pard\\outlinelevel0 Title{starred}\\par\\pard Text\\par}}");
    assert_eq!(blocks(&text), ["h1 # Title", "p An end note.", "p Text"]);
    let cell = "{\\rtf1\\trowd\\pard\\intbl Fee{\\footnote\\pard Net.\\par}\\cell 5\\cell\\row\\pard End\\par}";
    assert_eq!(blocks(cell)[1..], ["p End", "p Net."]);
}

#[test]
fn cells_of_a_table_inside_a_cell_stay_apart() {
    let inner = "\\pard\\intbl\\itap2 Height\\nestcell 25\\nestcell\
                 {{\\*\\nesttableprops\\trowd\\cellx1\\cellx2\\nestrow}{\\nonesttables\\par}}\
                 \\pard\\intbl\\itap2 Age\\nestcell 90\\nestcell\
                 {{\\*\\nesttableprops\\trowd\\nestrow}{\\nonesttables\\par}}";
    let row = "\\trowd\\pard\\intbl\\itap1 Oak\\par ";
    let text =
        format!("{{\\rtf1{row}{inner}\\pard\\intbl In Brill\\cell x\\cell\\row\\pard End\\par}}");
    let parsed = read(text.as_bytes());
    check(&parsed);
    assert_eq!(parsed.tables[0].rows[0].cells, ["Oak Height 25 Age 90 In Brill", "x"]);
    assert_eq!(outline(&parsed)[1..], ["p End"]);
}

#[test]
fn characters_with_a_substitute_are_read_once() {
    let body = |text: &str| words(&format!("{{\\rtf1\\ansi {text}\\par}}"));
    assert_eq!(body("\\u8364?5, \\u8364\\'80 6, {\\uc0\\u8364}7"), "€5, € 6, €7");
    assert_eq!(body("{\\uc2\\u26481\\'93\\'8c\\u20140 ab}c"), "東京c");
    assert_eq!(body("A \\u8211\\endash  B\\u8226 \\bullet , {\\u8364}?"), "A – B•, €?");
    assert_eq!(body("\\u-10179?\\u-8704?"), "😀");
    assert_eq!(body("a{\\bin4 }{\\\\}b{\\*\\unknown{\\par x}}"), "ab");
    // As the text editor of the Mac ends paragraphs.
    assert_eq!(blocks("{\\rtf1\\cocoartf1 One\\\nTwo\\\r\nThree}"), ["p One", "p Two", "p Three"]);
}

#[test]
fn the_page_that_a_mail_program_wrapped_comes_out() {
    let text = br#"{\rtf1\ansi\ansicpg1251\fromhtml1{\fonttbl{\f0\fcharset0 Arial;}{\f1\fcharset204 A;}}
{\*\htmltag19 <html>}{\*\htmltag241 <style>a \{x\}\par </style>}\htmlrtf {\v0 lost\htmlrtf0 
{\*\htmltag64 <p title="\'e9">}\htmlrtf \par\plain\htmlrtf0 Caf\'e9 {\f1 \'cc\'ee}{\*\mhtmltag no}
{\*\htmltag84 &nbsp;}\htmlrtf \'a0\htmlrtf0 {\*\htmltag72 </p>}\par\tab\lquote x\rquote\htmlrtf }\htmlrtf0}"#;
    assert_eq!(
        unwrapped(text).unwrap(),
        "<html><style>a {x}\r\n</style><p title=\"é\">Café Мо&nbsp;</p>\r\n ‘x’"
    );
    let parsed = read(text);
    assert_eq!(parsed.text, "lost\n\nCafé Мо\n\n‘x’\n");
}

#[test]
fn a_dose_in_a_symbol_font_keeps_its_unit() {
    let body = |text: &str| {
        let fonts = "{\\f0\\fcharset0 Arial;}{\\f3\\fcharset2{\\*\\panose 05}Symbol;}\
                     {\\f4\\fnil\\fcharset2 Wingdings;}";
        blocks(&format!("{{\\rtf1\\ansi\\ansicpg1251\\deff0{{\\fonttbl{fonts}}}\\f0 {text}\\par}}"))
    };
    assert_eq!(body("250 {\\f3 m}g {\\f3\\'b1} 5"), ["p 250 µg ± 5"]);
    assert_eq!(body("\\f3\\u-3917?\\plain  3 and \\f3\\'b3\\f0  4"), ["p ≥ 3 and ≥ 4"]);
    let field = "{\\field{\\*\\fldinst SYMBOL 109 \\\\f \"Symbol\" \\\\s 12}{\\fldrslt\\f3\\fs24}}";
    assert_eq!(body(&format!("5 {field}g")), ["p 5 µg"]);
    assert_eq!(body("{\\listtext\\pard\\f4\\'d8\\tab}Item"), ["item - Item"]);
    let lost = read(b"{\\rtf1{\\fonttbl{\\f3\\fcharset2 Wingdings 3;}}a {\\f3 b}\\par}");
    assert_eq!((lost.text.as_str(), lost.warnings.len()), ("a \u{fffd}\n", 1));
}
