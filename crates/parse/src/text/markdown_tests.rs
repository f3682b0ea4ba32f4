//! Markdown with everything inside everything.
use super::*;
use crate::check::{check, outline};

#[test]
fn blocks_follow_one_another() {
    let text = "---\ntitle: \"The Shark\"\ndate: 1975-06-20\n---\n# Jaws\n\nA *film*\nof 1975.\n\n\
                - one\n  - inner\n  - more\n\n  rest\n- two\n\n> said\n> twice\n\n```\ncode\n```\n\n\
                | a | b |\n|---|---|\n| 1 | 2 |\n\n![A shark](jaws.png)\n\n[ref]: http://a.example\n";
    let parsed = read(text.to_owned());
    check(&parsed);
    assert_eq!(parsed.title.as_deref(), Some("The Shark"));
    assert_eq!(parsed.date.as_deref(), Some("1975-06-20"));
    assert!(parsed.text[parsed.body..].starts_with("# Jaws"));
    assert_eq!(
        outline(&parsed),
        [
            "h1 # Jaws",
            "p A *film* of 1975.",
            "item - one",
            "item - inner",
            "item - more",
            "item rest",
            "item - two",
            "quote > said > twice",
            "code ``` code ```",
            "table | a | b | |---|---| | 1 | 2 |",
            "figure ![A shark](jaws.png)",
            "p [ref]: http://a.example",
        ]
    );
}

#[test]
fn tables_have_columns_rows_and_places() {
    let text = "| Name | Year |\n| :-- | --: |\n| *Jaws* | 1975 |\n| Duel \\| TV | 1971 |\n";
    let parsed = read(text.to_owned());
    let table = &parsed.tables[0];
    assert_eq!(table.columns, ["Name", "Year"]);
    assert_eq!(table.rows[0].cells, ["Jaws", "1975"]);
    assert_eq!(table.rows[1].cells, ["Duel | TV", "1971"]);
    assert_eq!(parsed.text[table.rows[0].range.clone()].trim_end(), "| *Jaws* | 1975 |");
    check(&parsed);
}

#[test]
fn a_table_in_a_list_leaves_the_rest_of_the_item() {
    let parsed =
        read("- before\n\n  | a | b |\n  |---|---|\n  | 1 | 2 |\n\n  after\n- last\n".to_owned());
    check(&parsed);
    let kinds: Vec<String> =
        outline(&parsed).iter().map(|line| line.split(' ').next().unwrap().to_owned()).collect();
    assert_eq!(kinds, ["item", "table", "item", "item"]);
}

#[test]
fn tables_written_in_html_are_tables() {
    let text = "Before.\n\n<table><tr><th>Name</th><th>Year</th></tr>\n<tr><td>Jaws</td><td>1975</td>\
                </tr></table>\n\n| a | b |\n|---|---|\n| 1 | 2 |\n";
    let parsed = read(text.to_owned());
    check(&parsed);
    assert_eq!(parsed.tables[0].columns, ["Name", "Year"]);
    assert_eq!(parsed.tables[0].rows[0].cells, ["Jaws", "1975"]);
    let row = &parsed.text[parsed.tables[0].rows[0].range.clone()];
    assert_eq!(row, "<tr><td>Jaws</td><td>1975</td></tr>");
    assert_eq!(parsed.tables[1].columns, ["a", "b"]);
    assert_eq!(outline(&parsed)[2], "table | a | b | |---|---| | 1 | 2 |");
}

#[test]
fn links_and_pictures_are_found_wherever_they_are() {
    let parsed =
        read("See [the *book*](b.md#x) and <http://a.example>.\n\n- ![x](y.png) text\n".to_owned());
    let links: Vec<_> = parsed.links.iter().map(|l| (l.text.as_str(), l.target.as_str())).collect();
    assert_eq!(links, [("the book", "b.md#x"), ("http://a.example", "http://a.example")]);
    assert_eq!(&parsed.text[parsed.links[0].range.clone()], "[the *book*](b.md#x)");
    assert_eq!(parsed.figures[0].caption.as_deref(), Some("x"));
    check(&parsed);
}

#[test]
fn the_first_heading_of_level_one_is_the_title() {
    assert_eq!(read("## Sub\n# The *Big* `One`\n".into()).title.as_deref(), Some("The Big One"));
    assert_eq!(read("Title\n=====\n\ntext".into()).title.as_deref(), Some("Title"));
    assert_eq!(read("> # quoted\n\ntext\n".into()).title, None);
    let open = read("---\nnot closed\n".into());
    assert_eq!(open.body, 0);
    check(&open);
}
