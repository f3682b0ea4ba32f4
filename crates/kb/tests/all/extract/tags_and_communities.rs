//! Tags, summaries and communities: made, kept, renewed, removed.
use halma_core::{Edge, Layer, NodeId};
use halma_kb::{Base, BasePart, Entities};

use crate::extractor::{Works, chunk, entity, others};

fn tagging() -> Works {
    let mut works = Works::new();
    works.bench.settings.entities = Entities::None;
    works.bench.settings.tags = true;
    works
}

async fn tags_of(base: &Base, word: &str) -> Vec<String> {
    let chunk = chunk(base, word).await;
    let tags = others(base, &chunk.id, Edge::Tagged, Layer::Tag);
    tags.into_iter().map(|(class, name)| format!("{class}: {name}")).collect()
}

#[tokio::test]
async fn chunks_are_tagged_in_classes_of_their_own_corpus() {
    let works = tagging();
    works.bench.write("a.txt", "The printers of Varn hired a Printer and a binder.");
    works.bench.write("b.txt", "A farmer sold milk.");
    let reply = r#"{"tags": [{"class": "Trade", "tag": "printers"}, {"class": "trade", "tag": "Printer"},
        {"class": "trade", "tag": "printers"}, {"class": "colour", "tag": "red"}]}"#;
    works.rules.script("tag", "Varn", reply);
    works.rules.script("tag", "no class", reply);
    let base = works.open();
    let report = works.index(&base).await.extracted;
    assert_eq!(
        (report.tags, works.rules.calls("tag_classes"), works.rules.calls("tag")),
        (2, 1, 3)
    );
    // Two spellings of one tag are one; a class that there is not is asked for again, then gone.
    assert_eq!(tags_of(&base, "Varn").await, ["trade: Printer"]);
    assert_eq!(tags_of(&base, "milk").await, ["trade: farmer"]);
    let calls = works.rules.all_calls();
    works.index(&base).await;
    assert_eq!(works.rules.all_calls(), calls);
    // A new chunk is tagged in the classes that there are, until there are many more.
    works.bench.write("c.txt", "A weaver came.");
    works.index(&base).await;
    assert_eq!((works.rules.calls("tag_classes"), works.rules.calls("tag")), (1, 4));
    works.bench.write("b.txt", "Nothing to sell.");
    let report = works.index(&base).await.extracted;
    assert_eq!(report.tags, 2, "the farmer is gone");
}

/// A document with two sections of several chunks and one of a single one.
fn report(last: &str) -> String {
    let long = |word: &str| {
        let line = |i| format!("The {word} number {i} was counted again.");
        (0..60).map(line).collect::<Vec<String>>().join(" ")
    };
    format!("# First\n\n{}\n\n# Second\n\n{}\n\n# Third\n\n{last}\n", long("bird"), long("fish"))
}

async fn section(base: &Base, word: &str) -> NodeId {
    chunk(base, word).await.parent.unwrap()
}

#[tokio::test]
async fn long_sections_and_documents_are_summed_up_once() {
    let mut works = Works::new();
    works.bench.settings.entities = Entities::None;
    works.bench.settings.summaries = true;
    works.bench.write("long.md", report("Nothing else was seen."));
    works.bench.write("short.md", "# Short\n\nOne line.\n");
    let base = works.open();
    let made = works.index(&base).await.extracted;
    assert_eq!((made.summaries, works.rules.calls("summarise")), (3, 3));
    let first = section(&base, "bird").await;
    let summary = others(&base, &first, Edge::DerivedFrom, Layer::Summary);
    assert!(summary[0].1.starts_with("A section of 2 texts"), "{summary:?}");
    // The document is summed up by its sections' summaries.
    let request = works.rules.requests.lock().last().unwrap().1.clone();
    assert!(
        request.contains("A section of 2 texts") && request.contains("Nothing else"),
        "{request}"
    );
    works.index(&base).await;
    assert_eq!(works.rules.calls("summarise"), 3);
    works.bench.write("long.md", "Short now.");
    let made = works.index(&base).await.extracted;
    assert_eq!((made.summaries, works.rules.calls("summarise")), (0, 3));
}

#[tokio::test]
async fn a_text_beyond_the_window_is_summed_up_in_parts() {
    let mut works = Works::new();
    works.bench.settings.entities = Entities::None;
    works.bench.settings.summaries = true;
    let lines: Vec<String> = (0..2000).map(|i| format!("Line {i} says something new.")).collect();
    works.bench.write("long.txt", lines.join(" "));
    *works.rules.fails_on.lock() = Some("Line 1900");
    let base = works.open();
    let made = works.index(&base).await;
    assert_eq!((made.extracted.summaries, made.failed_units), (0, 1));
    *works.rules.fails_on.lock() = None;
    let before = works.rules.calls("summarise");
    let made = works.index(&base).await;
    assert_eq!((made.extracted.summaries, made.failed_units), (1, 0));
    // The part that failed, and the whole: the other parts are kept.
    assert_eq!(works.rules.calls("summarise") - before, 2);
    let said = works.rules.requests.lock().last().unwrap().1.clone();
    assert!(said.contains("A part of"), "{said}");
}

fn two_circles(works: &Works) {
    for circle in ["Red", "Blue"] {
        for i in 0..4 {
            let text = format!(
                "{circle} Ann{i} founded {circle} House. {circle} Ann{i} founded {circle} Mill."
            );
            works.bench.write(&format!("{circle}{i}.txt"), text);
        }
    }
}

async fn community(base: &Base, word: &str, name: &str) -> Vec<(String, String)> {
    let member = entity(base, word, name).await;
    others(base, &member.id, Edge::MemberOf, Layer::Community)
}

#[tokio::test]
async fn communities_are_found_described_and_kept() {
    let mut works = Works::new();
    works.bench.settings.communities = true;
    two_circles(&works);
    let base = works.open();
    let made = works.index(&base).await.extracted;
    assert_eq!((made.entities, made.communities), (12, works.rules.calls("community")));
    assert!(made.communities >= 2);
    let red = community(&base, "Ann1 Red", "Red House").await;
    assert!(red[0].0.starts_with("Around Red"), "{red:?}");
    assert!(!base.inspector().stats().unwrap().communities_stale);
    let said = |of: &str| {
        let requests = works.rules.requests.lock();
        requests.iter().filter(|(task, text)| task == "community" && text.contains(of)).count()
    };
    let (reds, blues) = (said("- Red "), said("- Blue "));
    assert_eq!(reds + blues, made.communities, "circles do not mix");
    works.index(&base).await;
    assert_eq!(works.rules.calls("community"), made.communities);
    // A new circle leaves the others as they are.
    works.bench.write("green.txt", "Green Tom founded Green House.");
    let more = works.index(&base).await.extracted;
    assert_eq!(
        (more.communities, works.rules.calls("community")),
        (reds + blues + 1, reds + blues + 1)
    );
    // What is gone takes its communities with it, and only those are described again.
    works.bench.write("Red0.txt", "Nothing is left.");
    works.rules.script("facts", "Nothing", r#"{"entities": [], "facts": []}"#);
    works.index(&base).await;
    assert!(said("- Red ") > reds);
    assert_eq!((said("- Blue "), said("Green House")), (blues, 1));
    assert_eq!(said("- Red Ann0"), said("- Red Ann0").min(reds), "the new ones do not know her");
}

#[tokio::test]
async fn without_a_model_a_community_is_put_together_and_labelled() {
    let mut works = Works::new();
    two_circles(&works);
    let base = works.open();
    works.index(&base).await;
    works.bench.settings.communities = true;
    works.bench.options.rebuild = vec![BasePart::Communities];
    *works.rules.offline.lock() = true;
    let report = works.index(&base).await;
    assert_eq!(report.extracted.communities, report.pending_units);
    let red = community(&base, "Ann1 Red", "Red House").await;
    assert!(red[0].0.contains("Red "), "{red:?}");
    assert!(red[0].1.starts_with("(Extracted, not written by a model.) Red"), "{red:?}");
    assert!(works.rules.calls("community") <= 6, "an offline model is not asked for each");
    *works.rules.offline.lock() = false;
    works.index(&base).await;
    assert_eq!(community(&base, "Ann1 Red", "Red House").await[0].1, "They belong together.");
}
