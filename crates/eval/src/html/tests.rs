//! The page as a parser sees it: whole, with its plots, and with nothing in it that somebody
//! else's text could have made.
use std::cell::RefCell;
use std::collections::BTreeMap;

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{
    BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
    states::RawKind,
};
use proptest::prelude::*;

use super::*;
use crate::html::made::{made, with_words};

/// What a browser's tokenizer finds.
#[derive(Default, Debug, PartialEq)]
struct Seen {
    /// Name and classes of each tag, and how many there are.
    tags: BTreeMap<String, usize>,
    /// Open elements that were never closed, or closed without being open.
    unbalanced: Vec<String>,
    errors: usize,
}

#[derive(Default)]
struct Reader(RefCell<(Seen, Vec<String>)>);

const VOID: [&str; 2] = ["meta", "br"];

impl TokenSink for Reader {
    type Handle = ();

    fn process_token(&self, token: Token, _: u64) -> TokenSinkResult<()> {
        let (seen, open) = &mut *self.0.borrow_mut();
        match token {
            Token::TagToken(tag) => return tagged(&tag, seen, open),
            Token::ParseError(_) => seen.errors += 1,
            _ => {}
        }
        TokenSinkResult::Continue
    }
}

fn tagged(tag: &Tag, seen: &mut Seen, open: &mut Vec<String>) -> TokenSinkResult<()> {
    let name = tag.name.to_string();
    match tag.kind {
        TagKind::StartTag => {
            let attributes: Vec<String> =
                tag.attrs.iter().map(|attribute| attribute.name.local.to_string()).collect();
            *seen.tags.entry(format!("{name} {}", attributes.join(" "))).or_default() += 1;
            if !tag.self_closing && !VOID.contains(&name.as_str()) {
                open.push(name.clone());
            }
            match name.as_str() {
                "script" => return TokenSinkResult::RawData(RawKind::ScriptData),
                "style" => return TokenSinkResult::RawData(RawKind::Rawtext),
                "title" if !open.contains(&"svg".to_owned()) => {
                    return TokenSinkResult::RawData(RawKind::Rcdata);
                }
                _ => {}
            }
        }
        TagKind::EndTag => {
            if open.last() == Some(&name) {
                open.pop();
            } else {
                seen.unbalanced.push(name);
            }
        }
    }
    TokenSinkResult::Continue
}

fn read(page: &str) -> Seen {
    let input = BufferQueue::default();
    input.push_back(StrTendril::from(page));
    let tokenizer = Tokenizer::new(
        Reader::default(),
        TokenizerOpts { exact_errors: false, ..TokenizerOpts::default() },
    );
    let _ = tokenizer.feed(&input);
    tokenizer.end();
    let (mut seen, open) = tokenizer.sink.0.into_inner();
    seen.unbalanced.extend(open);
    seen
}

#[test]
fn the_page_parses_and_holds_its_plots() {
    let (report, details) = made();
    let page = report.html(&details);
    let seen = read(&page);
    assert_eq!((seen.unbalanced.as_slice(), seen.errors), (&[] as &[String], 0));
    for plot in ["frontier", "lost", "kinds", "hops", "latency"] {
        assert!(page.contains(&format!("id=\"plot-{plot}\"")), "{plot}");
    }
    let count = |name: &str| -> usize {
        seen.tags
            .iter()
            .filter(|(tag, _)| tag.split(' ').next() == Some(name))
            .map(|(_, n)| n)
            .sum()
    };
    // One dot a run on the frontier and two a run for times; a hill a run and one frontier.
    assert!(count("circle") >= 9 && count("path") >= 4 && count("rect") > 30, "{:?}", seen.tags);
    assert!(page.contains("Made with") && page.contains("tokens a question"));
}

#[test]
fn the_page_asks_the_network_for_nothing() {
    let (report, details) = made();
    let page = report.html(&details);
    let seen = read(&page);
    for tag in seen.tags.keys() {
        let mut parts = tag.split(' ');
        let name = parts.next().unwrap();
        assert!(!["link", "img", "iframe", "object", "embed", "base"].contains(&name), "{tag}");
        assert!(!parts.any(|attribute| ["src", "href", "style"].contains(&attribute)), "{tag}");
        assert!(!tag.contains(" on"), "{tag}");
    }
    for word in ["innerHTML", "outerHTML", "insertAdjacent", "fetch(", "eval(", "document.write"] {
        assert!(!SCRIPT.contains(word), "{word}");
    }
    assert!(!STYLE.contains("url(") && !STYLE.contains("@import"));
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn a_grid_is_drawn_against_its_setting() {
    let (mut report, details) = made();
    for (i, run) in report.runs.iter_mut().enumerate() {
        run.strategy = "kar3".into();
        run.label = format!("kar3@n={}", i + 1);
        run.point.insert("n".into(), (i + 1).to_string());
    }
    let page = report.html(&details);
    assert!(page.contains("id=\"plot-against\"") && page.contains("n →"), "no plot against n");
}

#[test]
fn a_report_without_runs_or_answers_is_a_page_too() {
    let (mut report, _) = made();
    let page = report.html(&Details::default());
    assert_eq!(read(&page).unbalanced, Vec::<String>::new());
    for run in &mut report.runs {
        run.results.iter_mut().for_each(|result| *result = crate::QuestionResult::default());
        run.metrics = crate::Metrics::default();
        run.losses.clear();
        run.by_kind.clear();
        run.by_hops.clear();
    }
    assert_eq!(read(&report.html(&Details::default())).unbalanced, Vec::<String>::new());
    report.runs.clear();
    assert_eq!(read(&report.html(&Details::default())).errors, 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn nobodys_words_become_markup(
        words in prop::collection::vec(
            "\\PC{0,8}(<script>|</script>|<!--|-->|<img src=x onerror=y>|\" onload=\"|'|&lt;|&#60;|]]>|</style>|</title>|\\u{2028}|\\x00|<svg/onload=z>|\\n)\\PC{0,8}",
            4..9,
        ),
    ) {
        let (report, details) = with_words(&words);
        let plain: Vec<String> = words.iter().map(|_| "plain".to_owned()).collect();
        let (other, others) = with_words(&plain);
        let (seen, wanted) = (read(&report.html(&details)), read(&other.html(&others)));
        // The same tags with the same attributes, whatever the words are.
        prop_assert_eq!(seen.tags, wanted.tags);
        prop_assert_eq!(seen.unbalanced, Vec::<String>::new());
    }
}

#[test]
fn the_data_comes_back_as_it_went_in() {
    let words = ["</script><b>", "line\nline", "ümlaut \u{2028} 漢"].map(str::to_owned);
    let (report, details) = with_words(&words);
    let page = report.html(&details);
    let start = page.find("id=\"data\">").unwrap() + "id=\"data\">".len();
    let end = start + page[start..].find("</script>").unwrap();
    let data: serde_json::Value = serde_json::from_str(&page[start..end]).unwrap();
    assert_eq!(data["questions"][0]["text"], words[0].as_str());
    assert_eq!(data["questions"][0]["runs"][0]["answer"], words[1].as_str());
    let trace = data["questions"][0]["runs"][0]["trace"].as_array().unwrap();
    let ask = trace.iter().find(|event| event["k"] == "ask").unwrap();
    let lines: Vec<&str> = ask["y"]
        .as_array()
        .unwrap()
        .iter()
        .map(|place| {
            data["lines"][usize::try_from(place.as_u64().unwrap()).unwrap()].as_str().unwrap()
        })
        .collect();
    assert!(lines.join("\n").contains("line\nline"));
}
