//! Entities and facts by a model: taken, resolved, kept, undone, removed.
use std::sync::Arc;

use halma_core::{Budget, Edge, Layer, Limit};
use halma_kb::{Base, BaseOptions, MergeRule, Stats};

use crate::common::Words;
use crate::extractor::{Works, chunk, entities, entity, others};

#[tokio::test]
async fn a_chunk_becomes_entities_and_facts() {
    let works = Works::new();
    works.bench.write(
        "a.txt",
        "Mara Quill founded Low Tide Press. Mara Quill is a printer from Varn. Its first book sold \
         well.",
    );
    works.bench.write("b.txt", "Jon Reed founded Low Tide Press. Jon Reed is a binder.");
    let base = works.open();
    let report = works.index(&base).await.extracted;
    assert_eq!((report.entities, report.facts, report.merges), (3, 2, 0), "{report:?}");
    assert_eq!(entities(&base, "printer").await, ["Low Tide Press", "Mara Quill"]);
    let mara = entity(&base, "printer", "Mara Quill").await;
    assert_eq!(mara.text, "Mara Quill is a printer from Varn");
    let related = others(&base, &mara.id, Edge::Relates, Layer::Entity);
    assert_eq!(related[0].0, "Low Tide Press");
    let a = chunk(&base, "printer").await;
    let facts = others(&base, &a.id, Edge::DerivedFrom, Layer::Fact);
    assert_eq!(facts[0].1, "Mara Quill founded Low Tide Press.");
    // Nothing is asked a second time.
    let before = works.rules.all_calls();
    let again = works.index(&base).await.extracted;
    assert_eq!((works.rules.all_calls(), again.units, again.entities), (before, 0, 3));
}

#[tokio::test]
async fn unknown_ends_are_asked_for_again_and_left_out_in_the_end() {
    let works = Works::new();
    works.bench.write("a.txt", "Mara Quill founded Low Tide Press in Varn.");
    let reply = r#"{"entities": [{"name": "Mara Quill", "type": "person", "description": ""},
         {"name": "Queen Victoria", "type": "person", "description": ""}],
        "facts": [{"head": "Mara Quill", "relation": "lives in", "tail": "Varn", "sentence": ""},
                  {"head": "Mara Quill", "relation": "knows", "tail": "Tom Ash", "sentence": ""}]}"#;
    works.rules.script("facts", "Low Tide", reply);
    works.rules.script("facts", "ends that are not in", reply);
    let base = works.open();
    let report = works.index(&base).await.extracted;
    assert_eq!(works.rules.calls("facts"), 2, "asked again once");
    let said = works.rules.requests.lock()[1].1.clone();
    assert!(said.contains("`Tom Ash`") && said.contains("`Queen Victoria`"), "{said}");
    // `Varn` stands in the text: it is an entity nevertheless.
    assert_eq!(entities(&base, "Varn").await, ["Mara Quill", "Varn"]);
    assert_eq!((report.facts, report.left_out.unknown_ends, report.left_out.invented), (1, 1, 1));
    let a = chunk(&base, "Varn").await;
    let facts = others(&base, &a.id, Edge::DerivedFrom, Layer::Fact);
    assert_eq!(facts[0].1, "Mara Quill lives in Varn.");
}

#[tokio::test]
async fn a_reply_that_is_none_is_a_failed_unit_and_thousands_of_entities_are_cut() {
    let works = Works::new();
    works.bench.write("a.txt", "Mara Quill founded Low Tide Press.");
    let many: Vec<String> = (0..4_000).map(|i| format!("N{i}")).collect();
    works.bench.write("b.txt", many[..100].join(" "));
    for _ in 0..3 {
        works.rules.script("facts", "Low Tide", "I would rather not.");
    }
    let named: Vec<String> = many
        .iter()
        .map(|name| format!(r#"{{"name": "{name}", "type": "other", "description": ""}}"#))
        .collect();
    let reply = format!(r#"{{"entities": [{}], "facts": []}}"#, named.join(","));
    works.rules.script("facts", "N99", &reply);
    works.rules.script("facts", "do not occur", &reply);
    let base = works.open();
    let report = works.index(&base).await;
    assert_eq!((report.failed_units, report.extracted.entities), (1, 60));
    assert!(report.failure.unwrap().contains("kb/facts"));
    let left_out = report.extracted.left_out;
    assert_eq!((left_out.beyond_limit, left_out.invented), (40, 3900));
    let report = works.index(&base).await;
    assert_eq!((report.failed_units, report.extracted.entities), (0, 62));
}

#[tokio::test]
async fn without_a_model_the_work_is_left_and_that_is_said_once() {
    let works = Works::new();
    for i in 0..50 {
        works.bench.write(&format!("{i}.txt"), format!("Mara Quill founded Press{i}."));
    }
    *works.rules.offline.lock() = true;
    let base = works.open();
    let report = works.index(&base).await;
    assert_eq!((report.failed_units, report.pending_units), (0, 50));
    assert_eq!(works.rules.all_calls(), 3);
    assert!(report.failure.unwrap().contains("cannot do `facts`"));
    *works.rules.offline.lock() = false;
    let report = works.index(&base).await;
    assert_eq!((report.pending_units, report.extracted.entities), (0, 51));
    // One that the model never takes does not hold up the others.
    works.bench.write("x.txt", "Forbidden founded Rest.");
    works.bench.write("y.txt", "Tom Ash founded Varn Works.");
    *works.rules.fails_on.lock() = Some("Forbidden");
    let report = works.index(&base).await;
    assert_eq!((report.failed_units, report.extracted.entities), (1, 53));
}

#[tokio::test]
async fn namesakes_stay_apart_unless_the_model_says_that_they_are_one() {
    let works = Works::new();
    works.bench.write("a.txt", "John Smith is an English footballer who played for Leeds.");
    works.bench.write("b.txt", "John Smith is a Scottish politician of the Labour Party.");
    let base = works.open();
    let report = works.index(&base).await.extracted;
    assert_eq!((report.entities, works.rules.calls("same_entity")), (2, 1));
    let one = entity(&base, "footballer", "John Smith").await;
    let two = entity(&base, "politician", "John Smith").await;
    assert_ne!(one.id, two.id);
    assert!(one.text.contains("footballer") && !one.text.contains("politician"));
    works.index(&base).await;
    assert_eq!(works.rules.calls("same_entity"), 1, "a verdict is kept");

    let works = Works::new();
    works.bench.write("a.txt", "John Smith is an English footballer who played for Leeds.");
    works.bench.write("b.txt", "John Smith is a Scottish politician of the Labour Party.");
    let verdict = r#"{"reason": "He changed his trade.", "same": true}"#;
    works.rules.script("same_entity", "John Smith", verdict);
    let base = works.open();
    let report = works.index(&base).await.extracted;
    assert_eq!((report.entities, report.merges), (1, 1));
    let merge = base.merges().unwrap().remove(0);
    assert_eq!((merge.rule, merge.reason.as_str()), (MergeRule::Verdict, "He changed his trade."));
    let mut documents = [merge.one.documents, merge.two.documents].concat();
    documents.sort();
    assert_eq!(documents, ["a.txt", "b.txt"]);
}

#[tokio::test]
async fn a_merge_is_listed_with_its_evidence_and_undone_for_good() {
    let works = Works::new();
    let first = "John F. Kennedy is a president of the United States.";
    works.bench.write("a.txt", first);
    let base = works.open();
    works.index(&base).await;
    let alone = entity(&base, "president", "John F. Kennedy").await;
    works.bench.write("b.txt", "John Kennedy is the president of the United States until 1963.");
    works.bench.write("c.txt", "John Fitzgerald Kennedy founded Peace Corps.");
    let report = works.index(&base).await.extracted;
    assert_eq!((report.entities, report.merges), (2, 2));
    let merges = base.merges().unwrap();
    let merge = merges.iter().find(|m| m.score > 0.5).unwrap();
    assert_eq!(
        (merge.rule, merge.name.as_str()),
        (MergeRule::MiddleName, "John Fitzgerald Kennedy")
    );
    assert_eq!(
        base.undo_merge("0").unwrap_err().to_string().split(';').next().unwrap(),
        "there is no merge `0`"
    );
    for merge in &merges {
        base.undo_merge(&merge.id).unwrap();
    }
    assert!(base.merges().unwrap().is_empty());
    // The entity is what it was before the others came.
    let again = entity(&base, "states", "John F. Kennedy").await;
    assert_eq!((&again.id, &again.text), (&alone.id, &alone.text));
    assert_eq!(entities(&base, "1963").await, ["John Kennedy"]);
    let report = works.index(&base).await.extracted;
    assert_eq!((report.entities, report.merges), (4, 0), "it is not made again");
}

#[tokio::test]
async fn a_document_takes_its_knowledge_with_it() {
    let works = Works::new();
    works.bench.write("a.txt", "Mara Quill founded Low Tide Press. Mara Quill is a zebrafinch.");
    works.bench.write("b.txt", "Mara Quill founded High Tide. Mara Quill is a printer.");
    let base = works.open();
    let report = works.index(&base).await.extracted;
    assert_eq!((report.entities, report.facts), (4, 2));
    // Replaced by something else: what it said is gone.
    works.bench.write("a.txt", "Nobody is known here.");
    works.rules.script("facts", "Nobody", r#"{"entities": [], "facts": []}"#);
    let report = works.index(&base).await.extracted;
    assert_eq!((report.entities, report.facts), (2, 1));
    let mara = entity(&base, "printer", "Mara Quill").await;
    assert_eq!(mara.text, "Mara Quill is a printer");
    let related = others(&base, &mara.id, Edge::Relates, Layer::Entity);
    assert_eq!(related.len(), 1, "{related:?}");
}

/// What must be equal however a base came about.
fn figures(stats: &Stats, merges: usize) -> (u64, u64, String, usize) {
    (stats.documents, stats.chunks, stats.fingerprint.clone(), merges)
}

fn many(works: &Works) {
    for i in 0..30 {
        let text = format!("Person A{i} founded Works {}. Person A{i} is a miller.", i % 7);
        works.bench.write(&format!("a{i:02}.txt"), text);
    }
}

#[tokio::test]
async fn a_spent_budget_leaves_the_rest_for_the_next_run() {
    let works = Works::new();
    many(&works);
    let base = works.open();
    let budget = Budget { calls: Some(11), ..Budget::default() };
    let report = works.index_with(&base, budget).await;
    assert_eq!((report.spent, report.pending_units), (Some(Limit::Calls), 20));
    assert_eq!((report.extracted.units, report.extracted.facts), (10, 10));
    let report = works.index(&base).await;
    assert_eq!((report.usage.llm_calls, report.pending_units), (20, 0));
    assert_eq!((report.extracted.entities, report.extracted.facts), (37, 30));
}

#[tokio::test]
async fn a_run_that_is_cut_off_is_continued_without_paying_twice() {
    let works = Works::new();
    many(&works);
    let clean = {
        let base = works.open();
        works.index(&base).await;
        let mut entities = vec![];
        for i in 0..30 {
            entities.push(entities_of(&base, i).await);
        }
        (figures(&base.inspector().stats().unwrap(), base.merges().unwrap().len()), entities)
    };
    let works = Works::new();
    many(&works);
    for polls in [40, 80, 160, 320] {
        let base = works.open();
        let mut run = Box::pin(works.index(&base));
        for _ in 0..polls {
            if futures::poll!(&mut run).is_ready() {
                break;
            }
            tokio::task::yield_now().await;
        }
        drop(run);
        drop(base);
        // Blocking work goes on until it is done and then lets go of the base.
        while Base::open(&works.bench.base_dir(), BaseOptions::default()).is_err() {
            tokio::task::yield_now().await;
        }
    }
    let base = works.open();
    works.index(&base).await;
    let mut entities = vec![];
    for i in 0..30 {
        entities.push(entities_of(&base, i).await);
    }
    assert_eq!(
        (figures(&base.inspector().stats().unwrap(), base.merges().unwrap().len()), entities),
        clean
    );
    let paid = works.rules.calls("facts");
    let in_flight = 4 * works.bench.settings.concurrency;
    assert!(paid <= 30 + in_flight, "{paid} calls for 30 chunks");
}

async fn entities_of(base: &Base, number: usize) -> Vec<String> {
    entities(base, &format!("A{number}")).await
}

#[tokio::test]
async fn an_embedder_settles_what_words_leave_open() {
    let works = Works::new();
    // One shared word is chance for the rules; the toy embedder sees the words of the name, too.
    works.bench.write("a.txt", "Mara Quill is a printer.");
    works.bench.write("b.txt", "Mara Quill is one printer of books.");
    let base = works.open_with(Words::new() as Arc<dyn halma_core::Embedder>);
    let report = works.index(&base).await.extracted;
    assert_eq!((report.entities, works.rules.calls("same_entity")), (1, 0));
}

#[tokio::test]
async fn the_same_base_comes_of_any_order_of_documents() {
    let texts = [
        "John Smith is an English footballer who played for Leeds United.",
        "John Smith is a Scottish politician of the Labour Party.",
        "Mr. John Smith is the footballer who played for Leeds.",
        "World Health Organization founded Health House. World Health Organization (WHO) is old.",
        "WHO founded Varn Clinic.",
    ];
    let mut graphs = vec![];
    for shift in [0, 2, 3] {
        let works = Works::new();
        let base = works.open();
        for at in 0..texts.len() {
            let at = (at + shift) % texts.len();
            works.bench.write(&format!("{at}.txt"), texts[at]);
            works.index(&base).await;
        }
        let mut ids: Vec<String> = vec![];
        for word in ["English", "Scottish", "Mr", "old", "Varn"] {
            let chunk = chunk(&base, word).await;
            let seen = base.inspector().edges_of(&chunk.id, Some(Edge::Mentions)).unwrap();
            ids.extend(seen.into_iter().map(|seen| seen.node.id.0));
        }
        ids.sort();
        graphs.push((ids, base.merges().unwrap()));
    }
    assert_eq!(graphs[0], graphs[1]);
    assert_eq!(graphs[0], graphs[2]);
    let ids: std::collections::BTreeSet<&String> = graphs[0].0.iter().collect();
    assert_eq!(ids.len(), 5, "two namesakes, one organisation, two houses: {ids:?}");
}
