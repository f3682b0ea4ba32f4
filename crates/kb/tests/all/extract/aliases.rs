//! Graph search reaches entities by their other names, and says by what it reached each.
use std::sync::Arc;

use halma_core::{Layer, Mode};
use halma_kb::{Base, BaseOptions, GraphSettings};

use crate::common::search;
use crate::extractor::Works;

/// Two persons of one name, and an organisation that is written in full and short.
fn works() -> Works {
    let works = Works::new();
    for (name, text) in [
        ("a.txt", "John Smith is an English footballer who played for Leeds."),
        ("b.txt", "John Smith is a Scottish politician of the Labour Party."),
        (
            "c.txt",
            "World Health Organization founded Health House. World Health Organization (WHO) is \
             old.",
        ),
        ("d.txt", "WHO founded Varn Clinic."),
    ] {
        works.bench.write(name, text);
    }
    works
}

fn open(works: &Works, graph: GraphSettings) -> Arc<Base> {
    let options = BaseOptions { graph, ..BaseOptions::default() };
    Base::create_or_open(&works.bench.base_dir(), options).unwrap()
}

/// The documents that a question leads to, each with the names that led there.
async fn led_through(base: &Base, question: &str) -> Vec<(String, String)> {
    let mut led = vec![];
    for hit in search(base, question, Layer::Chunk, Mode::Graph).await {
        let by_name = |name: &str| ["entities", "titles"].contains(&name);
        for part in hit.parts.iter().filter(|part| by_name(&part.name)) {
            let names = part.through.split("; ");
            led.extend(names.map(|name| (hit.document.clone(), name.to_owned())));
        }
    }
    led
}

fn count(led: &[(String, String)], document: &str, name: &str) -> usize {
    led.iter().filter(|(of, by)| of == document && by == name).count()
}

#[tokio::test]
async fn a_document_titled_like_a_name_does_not_hide_the_others_of_that_name() {
    let works = works();
    let base = works.open();
    works.index(&base).await;
    for titled in [false, true] {
        if titled {
            works.bench.write("John Smith.md", "The harbour was closed at noon.");
            works.bench.write("WHO.md", "The weather was fine all day.");
            works.index(&base).await;
        }
        let led = led_through(&base, "What is known of John Smith?").await;
        for document in ["a.txt", "b.txt"] {
            assert_eq!(count(&led, document, "John Smith [alias]"), 1, "{titled} {led:?}");
        }
        assert_eq!(count(&led, "John Smith.md", "John Smith"), usize::from(titled), "{led:?}");
        let led = led_through(&base, "What did the WHO found?").await;
        let is_whole = |name: &str| {
            name.starts_with("World Health Organization") && name.ends_with(" [alias]")
        };
        assert!(led.iter().any(|(of, by)| of == "d.txt" && is_whole(by)), "{titled} {led:?}");
        assert_eq!(count(&led, "WHO.md", "WHO"), usize::from(titled), "{led:?}");
    }
    drop(base);
    let base = open(&works, GraphSettings { aliases: 0.0, ..GraphSettings::default() });
    let led = led_through(&base, "What is known of John Smith?").await;
    assert_eq!(count(&led, "John Smith.md", "John Smith"), 1, "{led:?}");
    assert!(led.iter().all(|(_, by)| !by.ends_with("[alias]")), "aliases are off: {led:?}");
}

#[tokio::test]
async fn names_that_the_question_has_not_are_marked_by_what_led_to_them() {
    let works = Works::new();
    works.bench.write("a.txt", "Mara Quill founded Low Tide Press.");
    works.bench.write("b.txt", "Jon Reed founded Low Tide Press.");
    works.index(&works.open()).await;
    for (sentences, expected) in [(2, "Low Tide Press [sentence]"), (0, "Low Tide Press [fact]")] {
        let base = open(&works, GraphSettings { sentences, ..GraphSettings::default() });
        let led = led_through(&base, "What did Mara Quill found?").await;
        assert_eq!(count(&led, "a.txt", "Mara Quill"), 1, "{led:?}");
        for document in ["a.txt", "b.txt"] {
            assert_eq!(count(&led, document, expected), 1, "{led:?}");
        }
    }
}
