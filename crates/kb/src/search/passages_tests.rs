//! Regular expressions find what reading every passage would find, and nothing that a view hides.
use std::fmt::Write as _;
use std::sync::Arc;

use halma_core::{Filter, Knowledge, Llm, Models, PassageQuery, Passages, Prompts, Setup, Which};
use halma_testkit::Toy;
use regex::Regex;
use serde_json::json;
use tempfile::TempDir;

use crate::{
    Atoms, Base, BaseOptions, BuildContext, IndexOptions, KbError, KbSettings, PROMPTS, index,
};

/// A base of records `(name, text)`, each cut into passages of this many characters.
async fn base_of(records: &[(&str, &str)], chunk_chars: usize) -> (Arc<Base>, TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("texts.jsonl");
    let mut lines = String::new();
    for (name, text) in records {
        let _ = writeln!(lines, "{}", json!({ "id": name, "title": name, "text": text }));
    }
    std::fs::write(&file, lines).unwrap();
    let base = Base::create_or_open(&dir.path().join("base"), BaseOptions::default()).unwrap();
    let settings = KbSettings { atoms: Atoms::None, chunk_chars, ..KbSettings::default() };
    let llm: Arc<dyn Llm> = Arc::new(crate::search::graph::WhoAsker);
    let prompts = Arc::new(Prompts::shipped(&[PROMPTS]).unwrap());
    let setup = Arc::new(Setup::new(Models::new(llm), Toy::empty(), prompts));
    index(BuildContext::new(&base, &settings, &setup), &[file], &IndexOptions::default())
        .await
        .unwrap();
    (base, dir)
}

fn grep(base: &Base, expression: &str) -> Result<Passages, KbError> {
    let which = Which::Matching(expression.to_owned());
    base.find_passages(&PassageQuery { which, limit: 100, filter: Filter::default() })
}

fn from(of: &str, from: i64, limit: usize) -> PassageQuery {
    PassageQuery { which: Which::From(of.to_owned(), from), limit, filter: Filter::default() }
}

fn documents(result: &Passages) -> Vec<&str> {
    result.hits.iter().map(|(hit, _)| hit.document.as_str()).collect()
}

const TEXTS: [(&str, &str); 9] = [
    (
        "a",
        "The lighthouses of Varn were built in 1911 by Ilse Thorn. Generalizations are organized.",
    ),
    ("b", "Hawthorns grow there; O'Brien's operational organizations were relating 25.4 m²."),
    ("c", "Łódź and München are cities. The skies were dying: 10⁶ stars."),
    ("d", "北京港在1911年开放。GB/T 1234-2020 and ISO 9001:2015 apply."),
    ("e", "THORN is upper case, thorn is lower case; ſtrange and \u{212a}elvin."),
    (
        "f",
        "Das Quer\u{ad}balkenwerk trägt die Verträge des Hauses, und der Vertrag gilt für alle hier.",
    ),
    ("g", "under_score and hyphen-ated, e-mail: ada.brandt@example.org, kolmar"),
    ("h", "Naïve cafe\u{301}s relationally operationalised generations, happily."),
    ("i", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA and so on."),
];

#[tokio::test]
async fn expressions_find_what_reading_every_passage_finds() {
    let (base, _dir) = base_of(&TEXTS, 1_000).await;
    for expression in [
        "Thorn",
        "thorn",
        "(?i)thorn",
        r"\bThorn\b",
        r"Ilse\s+Thorn",
        "lighthouse",
        "lighthous",
        "house",
        "organi[sz]ation",
        "organi[sz]ed?",
        "operational",
        "operationali[sz]e",
        "relat(ing|ion)",
        "izations?",
        "ing",
        "ness|ally",
        "(house|ization)s",
        "general",
        "happi",
        r"\bBrien",
        "O'Brien",
        "M(ü|u)nchen",
        "Łódź",
        "1911",
        r"in \d{4} by",
        r"\d{4}",
        r"GB/T \d+-\d{4}",
        "ISO 9001",
        "北京",
        "Vertr(a|ä)ge?",
        "under_score",
        "hyphen-ated",
        r"[a-z.]+@[a-z.]+\.org",
        "(?i)KELVIN",
        "(?i)strange",
        "skies|stars",
        "die|sky|dying",
        "A{20,}",
        "(?m)^The",
        "",
        ".",
        "m²",
        "10⁶",
    ] {
        let regex = Regex::new(expression).unwrap();
        let expected = TEXTS.iter().filter(|(_, text)| regex.is_match(text));
        let expected: Vec<&str> = expected.map(|(name, _)| *name).collect();
        let result = grep(&base, expression).unwrap();
        assert_eq!(documents(&result), expected, "{expression}");
        assert_eq!((result.total, result.limitation), (expected.len(), None), "{expression}");
        for (hit, at) in result.hits {
            assert_eq!(regex.find(&hit.text).unwrap().start(), at, "{expression}");
        }
    }
}

#[tokio::test]
async fn expressions_that_cannot_be_used_are_refused_with_the_reason() {
    let (base, _dir) = base_of(&TEXTS[..1], 1_000).await;
    for (expression, reason) in [
        ("(a{1000}){1000}", "exceeds size limit"),
        (r"(\w{100}){100}", "exceeds size limit"),
        ("(((((a{10}){10}){10}){10}){10}){10}", "exceeds size limit"),
        ("(unclosed", "unclosed group"),
        ("[z-a]", "invalid character class range"),
        ("a**(?<x", "unclosed"),
        (r"(\w)\1", "backreferences"),
        (&"x".repeat(1_001), "longer than 1000 bytes"),
        (&"(".repeat(900), ""),
    ] {
        let error = grep(&base, expression).unwrap_err();
        assert!(matches!(error, KbError::BadExpression(_)), "{error}");
        assert!(error.to_string().contains(reason), "{expression}: {error}");
    }
    // What would take another engine forever takes this one no time.
    assert_eq!(grep(&base, "(x+x+)+y|(a|aa)+$").unwrap().total, 0);
}

#[tokio::test]
async fn what_is_not_read_is_said() {
    let text = "Common words, number 7. ".repeat(40_000);
    let (base, _dir) = base_of(&[("long", &text)], 60).await;
    let result = grep(&base, "Common").unwrap();
    assert_eq!((result.total, result.hits.len()), (10_000, 100));
    assert!(result.limitation.unwrap().contains("only the first 10,000 of "));
    let limitation = grep(&base, "[0-9][0-9]").unwrap().limitation.unwrap();
    assert!(limitation.contains("only the first 10,000 of "), "{limitation}");
}

#[tokio::test]
async fn a_view_neither_finds_nor_reads_what_is_hidden() {
    let (base, _dir) = base_of(&TEXTS, 1_000).await;
    let only = |name: &str| Filter { documents: vec![name.to_owned()], ..Filter::default() };
    let hidden = grep(&base, "lighthouses").unwrap().hits.remove(0).0;
    let view = base.restricted(vec![only("c")]);
    for expression in ["lighthouses", "Thorn", "1911", "(?i)thorn", r"\bVarn\b"] {
        let result = grep(&view, expression).unwrap();
        assert_eq!((result.total, result.limitation), (0, None), "{expression}");
    }
    for expression in [".", "[a-z]", "", "are"] {
        let result = grep(&view, expression).unwrap();
        assert_eq!((documents(&result), result.total), (vec!["c"], 1), "{expression}");
        assert_eq!(result.limitation, None, "{expression}");
    }
    let of_section = hidden.parent.clone().unwrap().0;
    for of in ["a".to_owned(), hidden.id.0.clone(), of_section] {
        let query = from(&of, 0, 5);
        assert!(Knowledge::passages(&*base, &query).await.is_ok(), "{of}");
        let error = Knowledge::passages(&*view, &query).await.unwrap_err().to_string();
        assert!(!error.contains("lighthouse"), "{error}");
    }
    // A filter of the query does the same.
    let which = Which::Matching("1911".into());
    let query = PassageQuery { which, limit: 9, filter: only("d") };
    assert_eq!(documents(&base.find_passages(&query).unwrap()), ["d"]);
}

#[tokio::test]
async fn passages_are_read_from_any_place_without_the_whole_document() {
    let mut text = String::new();
    for number in 0..5_000 {
        let _ = write!(text, "Sentence number {number} stands in its place here. ");
    }
    let (base, _dir) = base_of(&[("long", &text), ("short", "Only this.")], 200).await;
    let read = |of: &str, at: i64, limit: usize| {
        let passages = base.find_passages(&from(of, at, limit)).unwrap();
        let hits: Vec<_> = passages.hits.into_iter().map(|(hit, _)| hit).collect();
        (passages.first, passages.total, hits)
    };
    let (_, total, whole) = read("long", 0, usize::MAX);
    assert!(total > 500 && whole.len() == total, "{total}");
    let ids = |from: usize, to: usize| -> Vec<_> {
        whole[from..to].iter().map(|hit| hit.id.clone()).collect()
    };
    let shown = |of: &str, at: i64, limit: usize| {
        let (first, _, hits) = read(of, at, limit);
        (first, hits.into_iter().map(|hit| hit.id).collect::<Vec<_>>())
    };
    assert_eq!(shown("long", 7, 3), (7, ids(7, 10)));
    assert_eq!(shown("long", i64::MIN, 3), (0, ids(0, 3)));
    assert_eq!(shown("long", i64::MAX, 3), (total, vec![]));
    assert_eq!(shown(&whole[10].id.0, -2, 5), (8, ids(8, 13)));
    assert_eq!(shown(&whole[1].id.0, -2, 5), (0, ids(0, 5)));
    assert_eq!(shown(&whole[total - 1].id.0, -1, 3).1.len(), 2);
    let section = whole[10].parent.clone().unwrap();
    assert_eq!(read(&section.0, 0, 2).2.len(), 2);
    let error = base.find_passages(&from("lon", 0, 1)).unwrap_err().to_string();
    assert!(error.contains("`long`"), "{error}");
}
