//! Pages as they come.
use super::*;
use crate::check::{check, outline};

fn html(text: &str) -> Parsed {
    let parsed = read(text.as_bytes()).unwrap();
    check(&parsed);
    parsed
}

#[test]
fn a_page_becomes_its_blocks() {
    let parsed = html(
        "<html lang=en-GB><title> The\nShark </title><meta name=author content=Ann>\
         <meta property='article:published_time' content='1975-06-20T00:00Z'><script>x<y</script>\
         <h1>Jaws</h1>A <b>film</b><br>of 1975.<ul><li>one<ul><li>inner</ul>rest<li>two</ul>\
         <ol start=3><li>c</ol><blockquote><p>said</blockquote><pre>a\n  b</pre>\
         <dl><dt>Term<dd>Meaning</dl><p hidden>no<p style='display: none'>no<nav>no</nav>",
    );
    assert_eq!(parsed.title.as_deref(), Some("The Shark"));
    assert_eq!(parsed.author.as_deref(), Some("Ann"));
    assert_eq!(parsed.date.as_deref(), Some("1975-06-20"));
    assert_eq!(
        outline(&parsed),
        [
            "h1 # Jaws",
            "p A film of 1975.",
            "item - one",
            "item - inner",
            "item - rest",
            "item - two",
            "item 3. c",
            "quote > said",
            "code ``` a b ```",
            "p Term",
            "item - Meaning",
        ]
    );
    assert!(parsed.text.contains("A film\nof 1975."), "{}", parsed.text);
}

#[test]
fn links_keep_their_words_and_their_targets() {
    let parsed = html("<p>See <a href='b.html#x'>the <i>book</i></a>, <a href=#y>below</a>.</p>");
    assert_eq!(parsed.text, "See the book, below.\n");
    let links: Vec<_> = parsed.links.iter().map(|l| (l.text.as_str(), l.target.as_str())).collect();
    assert_eq!(links, [("the book", "b.html#x"), ("below", "#y")]);
    assert_eq!(&parsed.text[parsed.links[0].range.clone()], "the book");
}

#[test]
fn tables_have_headers_spans_and_captions() {
    let parsed = html(
        "<table><caption>Films</caption><thead><tr><th rowspan=2>Name<th colspan=2>Cost\
         <tr><th>low<th>high</thead><tr><td rowspan=2>Jaws<td>7<td>9<tr><td colspan=2>a|b\
         <tr><td>Duel<td>1</table>",
    );
    let table = &parsed.tables[0];
    assert_eq!(table.caption.as_deref(), Some("Films"));
    assert_eq!(table.columns, ["Name", "Cost / low", "Cost / high"]);
    let cells: Vec<String> = table.rows.iter().map(|row| row.cells.join(",")).collect();
    assert_eq!(cells, ["Jaws,7,9", "Jaws,a|b,a|b", "Duel,1,"]);
    let spans: Vec<_> = table.merged.iter().map(|m| (m.row, m.column, m.rows, m.columns)).collect();
    assert_eq!(spans, [(0, 0, 2, 1), (1, 1, 1, 2)]);
    assert_eq!(&parsed.text[table.rows[1].range.clone()], "| Jaws | a\\|b |  |");
    assert!(parsed.text.starts_with("Films\n\n| Name | Cost / low |"), "{}", parsed.text);
}

#[test]
fn a_table_that_arranges_the_page_is_none() {
    let parsed =
        html("<table><tr><td><p>One<td><table><tr><th>a<th>b<tr><td>1<td>2</table></table>");
    assert_eq!(outline(&parsed)[0], "p One");
    assert_eq!(parsed.tables.len(), 1);
    assert_eq!(parsed.tables[0].columns, ["a", "b"]);
}

#[test]
fn pictures_follow_their_paragraph_and_ornaments_are_left_out() {
    let parsed = html(
        "<p>A <img src=a.png alt='a shark'>fish<img src=dot.gif width=1 alt=x>.</p>\
         <figure><img src=b.png><figcaption>The boat</figcaption></figure><img src=c.png>",
    );
    assert_eq!(
        outline(&parsed),
        ["p A fish.", "figure ![a shark](a.png)", "figure ![The boat](b.png)",]
    );
    assert_eq!(parsed.figures[1].caption.as_deref(), Some("The boat"));
}

#[test]
fn a_hundred_thousand_levels_are_flattened() {
    for (open, close) in
        [("<div>", "</div>"), ("<b>", ""), ("<ul><li>", ""), ("<table><tr><td>", "")]
    {
        let page =
            format!("<p>before{}deep{}<p>after", open.repeat(100_000), close.repeat(100_000));
        let parsed = read(page.as_bytes()).unwrap();
        assert!(parsed.text.contains("deep") && parsed.text.contains("after"), "{open}");
        assert_eq!(parsed.warnings.len(), 1, "{open}");
        check(&parsed);
    }
}

#[test]
fn sloppy_pages_are_not_deep() {
    let page = format!("<ul>{}</ul>{}", "<li>item".repeat(5_000), "<p>word<br>".repeat(5_000));
    let parsed = html(&page);
    assert_eq!(parsed.blocks.len(), 10_000);
    assert!(parsed.warnings.is_empty());
}

#[test]
fn the_page_says_its_encoding() {
    let mut page = b"<meta charset=iso-8859-2><p>".to_vec();
    page.extend(b"\xb1");
    assert_eq!(read(&page).unwrap().text, "ą\n");
    assert_eq!(charset(b"<?xml version='1.0' encoding='UTF-8'?>").as_deref(), Some("utf-8"));
}

#[test]
fn in_xhtml_an_empty_title_ends_at_once() {
    let parsed =
        html("<?xml version='1.0'?><html><head><title/></head><body><p>Text</p></body></html>");
    assert_eq!(parsed.text, "Text\n");
}

#[test]
fn powers_and_formulas_of_chemistry_keep_their_places() {
    let parsed = html(
        "<h2>10<sup>9</sup> m<sup>3</sup></h2><p>3.2 &times; 10<sup>&minus;6</sup> of \
         CO<sub>2</sub>, the 1<sup>st</sup>, 2<sup><i>x</i></sup>, see \
         <a href=a.html>10<sup><b>6</b></sup> units</a>.<sup><a href='#n1'>[1]</a></sup>\
         <table><tr><th>Area m<sup>2</sup><th>b<tr><td>10<sup>12</sup><td>in 1975<sup> <a><span>[</span>2]</a></sup></table>",
    );
    assert_eq!(
        outline(&parsed)[..2],
        ["h2 ## 10⁹ m³", "p 3.2 × 10⁻⁶ of CO₂, the 1st, 2^x, see 10⁶ units.[1]",]
    );
    let links: Vec<_> = parsed.links.iter().map(|link| link.text.as_str()).collect();
    assert_eq!(links, ["10⁶ units", "[1]"]);
    assert_eq!(parsed.tables[0].columns, ["Area m²", "b"]);
    assert_eq!(parsed.tables[0].rows[0].cells, ["10¹²", "in 1975 [2]"]);
}

#[test]
fn formulas_in_mathml_are_readable() {
    let formula = |inner: &str| html(&format!("<p>Let <math>{inner}</math>.")).text;
    let square = "<msup><mi>x</mi><mn>2</mn></msup>";
    assert_eq!(formula(&format!("{square}<mo>=</mo><mn>9</mn>")), "Let x^2=9.\n");
    assert_eq!(
        formula(
            "<semantics><mfrac> <mrow><mi>a</mi><mo>+</mo><mn>1</mn></mrow> <msqrt><mn>2</mn></msqrt>\
             </mfrac><annotation encoding='application/x-tex'>\\frac{a}{2}</annotation></semantics>"
        ),
        "Let (a+1)/(√2).\n"
    );
    assert_eq!(
        formula("<msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup><mtext>if</mtext><mi>i</mi>"),
        "Let x_i^2 if i.\n"
    );
}

#[test]
fn a_name_with_its_reading_stays_whole() {
    let ruby = "<ruby>東<rp>(</rp><rt>とう</rt><rp>)</rp>京<rt>きょう</rt></ruby>";
    let parsed = html(&format!("<h1>{ruby}</h1><p>Die Stadt {ruby}は<ruby>x</ruby>."));
    assert_eq!(outline(&parsed), ["h1 # 東京(とうきょう)", "p Die Stadt 東京(とうきょう)はx."]);
}

#[test]
fn questions_of_a_faq_that_are_buttons_are_read() {
    let parsed = html(
        "<header><button aria-expanded=false>Menu</button></header>\
         <h2><button>Who pays?</button></h2><p>The shop. <button>Copy</button>\
         <h3>Install <button>Copy link</button></h3>\
         <div role=heading aria-level=3><button>Why?</button></div>\
         <details><summary><button><span>How long?</span></button></summary>40 days</details>\
         <div><button aria-expanded=true>Where?</button><div>In Dorn</div></div>\
         <form><h2><button>Send</button></h2><button aria-expanded=true>More</button></form>",
    );
    assert_eq!(
        outline(&parsed),
        [
            "h2 ## Who pays?",
            "p The shop.",
            "h3 ### Install",
            "p Why?",
            "p How long?",
            "p 40 days",
            "p Where?",
            "p In Dorn"
        ]
    );
}

#[test]
fn answers_that_a_question_opens_are_read_though_hidden() {
    let parsed = html(
        "<h3><button aria-controls=a1>Who?</button></h3><div id=a1 hidden><p>Edda</div>\
         <button aria-expanded=false aria-controls=a2>Where?</button><p id=a2 style='Display : none'>Dorn \
         <a role=tab aria-controls=a3>Price</a><div id=a3 hidden=''>40</div>\
         <div hidden=until-found>later</div><p style='visibility: hidden'>no<p hidden id=x>no",
    );
    assert_eq!(
        outline(&parsed),
        ["h3 ### Who?", "p Edda", "p Where?", "p Dorn Price", "p 40", "p later"]
    );
}

#[test]
fn words_that_may_be_broken_are_whole() {
    let parsed = html(
        "<title>Quer&shy;balken</title><h2>Zahn&#8203;rad</h2><p><a href=a>lie&shy;<b>fert</b></a> \
         &#x202b;x&#x202c;<pre>a&#8203;b</pre><table><tr><th>ge&shy;nau<th>b<tr><td>Vor&#8288;mann<td>1</table>",
    );
    assert_eq!(parsed.title.as_deref(), Some("Querbalken"));
    assert_eq!(outline(&parsed)[..3], ["h2 ## Zahnrad", "p liefert x", "code ``` ab ```"]);
    assert_eq!(parsed.links[0].text, "liefert");
    assert_eq!(parsed.tables[0].rows[0].cells, ["Vormann", "1"]);
}

#[test]
fn a_page_in_utf_8_with_a_bad_byte_is_read_and_warned_of() {
    for head in ["<meta charset=utf-8>", "<?xml version='1.0' encoding='UTF-8'?><html>", ""] {
        let page = [head.as_bytes(), "<p>Größe\n<p>von Jördis ".as_bytes(), b"\x96 E"].concat();
        let parsed = read(&page).unwrap();
        assert_eq!(parsed.text, "Größe\n\nvon Jördis \u{fffd} E\n");
        assert!(parsed.warnings[0].starts_with("line 2 "), "{:?}", parsed.warnings);
    }
}
