//! Runs that end early: nothing is lost, nothing is there twice.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use std::sync::Arc;
use std::sync::atomic::Ordering;

use halma_core::{Budget, Embedder, Layer, Limit, Meter, Mode};
use halma_kb::{Base, BaseOptions, BasePart, BuildContext, Stats};

use crate::common::{Bench, Words, ids, search};

fn thirty(bench: &Bench) {
    for i in 0..30 {
        let text = format!("Animal number{i} lives in zoo{}. It eats food{i}.", i % 7);
        bench.write(&format!("a{i:02}.txt"), text);
    }
}

/// What must be equal however a base came about.
fn figures(stats: &Stats) -> (u64, u64, u64, u64, u64, String) {
    let vectors = stats.vectors.iter().map(|v| v.chunks + v.atoms).sum();
    let fingerprint = stats.fingerprint.clone();
    (stats.documents, stats.sections, stats.chunks, stats.atoms, vectors, fingerprint)
}

async fn clean_run() -> (Stats, Vec<halma_core::NodeId>) {
    let bench = Bench::asking();
    thirty(&bench);
    let base = bench.open(Some(Words::new()));
    let report = bench.index(&base).await;
    assert_eq!((report.chunks, report.atoms, report.embedded), (30, 60, 90));
    assert_eq!(report.usage.llm_calls, 30);
    (base.inspector().stats().unwrap(), ids(&base, "animal", Layer::Atom).await)
}

#[tokio::test]
async fn a_spent_budget_leaves_the_rest_for_the_next_run() {
    let (clean, atoms) = clean_run().await;
    let bench = Bench::asking();
    thirty(&bench);
    let base = bench.open(Some(Words::new()));
    let budget = Budget { calls: Some(11), ..Budget::default() };
    let report = bench.try_index(&base, budget).await.unwrap();
    assert_eq!(report.spent, Some(Limit::Calls));
    assert_eq!((report.atoms, report.pending_units, report.failed_units), (20, 20, 0));
    assert_eq!(search(&base, "number29", Layer::Chunk, Mode::Hybrid).await[0].title, "a29");
    drop(base);

    let base = bench.open(Some(Words::new()));
    let report = bench.index(&base).await;
    assert_eq!((report.documents_unchanged, report.atoms, report.spent), (30, 40, None));
    assert_eq!(report.usage.llm_calls, 20, "finished chunks are not asked for again");
    assert_eq!(figures(&base.inspector().stats().unwrap()), figures(&clean));
    assert_eq!(ids(&base, "animal", Layer::Atom).await, atoms);
}

#[tokio::test]
async fn a_failed_chunk_is_a_failed_unit_and_tried_again() {
    let (clean, _) = clean_run().await;
    let bench = Bench::asking();
    thirty(&bench);
    *bench.model.fails_on.lock() = Some("number17");
    let base = bench.open(Some(Words::new()));
    let report = bench.index(&base).await;
    assert_eq!((report.failed_units, report.pending_units, report.atoms), (1, 0, 58));
    assert!(report.failure.unwrap().contains("the model is down"));
    assert_eq!(base.inspector().stats().unwrap().failed_units, 1);
    *bench.model.fails_on.lock() = None;
    let report = bench.index(&base).await;
    assert_eq!((report.failed_units, report.atoms, report.usage.llm_calls), (0, 2, 1));
    assert_eq!(figures(&base.inspector().stats().unwrap()), figures(&clean));
}

#[tokio::test]
async fn a_model_that_is_down_is_not_asked_for_every_chunk() {
    let bench = Bench::asking();
    thirty(&bench);
    *bench.model.fails_on.lock() = Some("Animal");
    let mut settings = bench.settings.clone();
    settings.concurrency = 2;
    let bench = Bench { settings, ..bench };
    let base = bench.open(None);
    let report = bench.index(&base).await;
    assert!(report.failed_units >= 16 && report.failed_units < 20, "{report:?}");
    assert_eq!(report.failed_units + report.pending_units, 30);
}

#[tokio::test]
async fn chunks_that_cannot_be_embedded_are_found_by_their_words_and_tried_again() {
    let (clean, _) = clean_run().await;
    let bench = Bench::asking();
    thirty(&bench);
    let words = Words::new();
    words.down.store(true, Ordering::Relaxed);
    let base = bench.open(Some(Arc::clone(&words) as Arc<dyn Embedder>));
    let report = bench.index(&base).await;
    assert_eq!((report.embedded, report.failed_units), (0, 90));
    assert!(report.failure.unwrap().contains("the embedder is down"));
    let hits = search(&base, "number5", Layer::Chunk, Mode::Bm25).await;
    assert_eq!((hits[0].title.as_str(), hits[0].cosine), ("a05", None));
    words.down.store(false, Ordering::Relaxed);
    let report = bench.index(&base).await;
    assert_eq!((report.embedded, report.failed_units), (90, 0));
    assert_eq!(figures(&base.inspector().stats().unwrap()), figures(&clean));
}

#[tokio::test]
async fn a_text_that_cannot_be_embedded_leaves_the_others_their_vectors() {
    let bench = Bench::asking();
    thirty(&bench);
    let words = Words::new();
    *words.refused.lock() = vec!["number17 "];
    let base = bench.open(Some(Arc::clone(&words) as Arc<dyn Embedder>));
    let report = bench.index(&base).await;
    // The chunk and the question about its first sentence.
    assert_eq!((report.embedded, report.failed_units, report.pending_units), (88, 2, 0));
    assert!(report.failure.unwrap().contains("`number17 ` cannot be embedded"));
    assert!(words.calls.load(Ordering::Relaxed) < 50, "{:?}", words.calls);
    let hits = search(&base, "number16", Layer::Chunk, Mode::Dense).await;
    assert_eq!((hits[0].title.as_str(), hits.len()), ("a16", 10));
    assert_eq!(search(&base, "number17", Layer::Chunk, Mode::Bm25).await[0].title, "a17");
    // The next run tries these two and no other.
    words.calls.store(0, Ordering::Relaxed);
    let report = bench.index(&base).await;
    assert_eq!((report.embedded, report.failed_units), (0, 2));
    assert!(words.calls.load(Ordering::Relaxed) <= 4, "{:?}", words.calls);
    words.refused.lock().clear();
    let report = bench.index(&base).await;
    assert_eq!((report.embedded, report.failed_units, report.failure), (2, 0, None));
    assert_eq!(figures(&base.inspector().stats().unwrap()), figures(&clean_run().await.0));
}

#[tokio::test]
async fn texts_of_which_several_are_refused_or_have_no_numbers_are_embedded_but_for_these() {
    let bench = Bench::new();
    thirty(&bench);
    let words = Words::new();
    *words.refused.lock() = vec!["number0 ", "number1 ", "food29"];
    *words.unsound.lock() = Some("number12 ");
    let base = bench.open(Some(Arc::clone(&words) as Arc<dyn Embedder>));
    let report = bench.index(&base).await;
    // A chunk and a sentence each.
    assert_eq!((report.embedded, report.failed_units), (82, 8));
    assert_eq!(search(&base, "number28", Layer::Chunk, Mode::Dense).await[0].title, "a28");
}

#[tokio::test]
async fn an_embedder_that_is_down_is_not_asked_for_every_text() {
    for refuses_all in [false, true] {
        let bench = Bench::new();
        thirty(&bench);
        let words = Words::new();
        words.down.store(!refuses_all, Ordering::Relaxed);
        // All but the text by which it is seen that it is up.
        words.refused.lock().extend(refuses_all.then_some("a"));
        let base = bench.open(Some(Arc::clone(&words) as Arc<dyn Embedder>));
        let report = bench.index(&base).await;
        assert_eq!((report.embedded, report.failed_units), (0, 90));
        let calls = words.calls.load(Ordering::Relaxed);
        assert!(calls <= if refuses_all { 60 } else { 8 }, "{calls}");
    }
}

#[tokio::test]
async fn a_run_that_is_cut_off_is_continued() {
    let (clean, atoms) = clean_run().await;
    let bench = Bench::asking();
    thirty(&bench);
    for polls in [3, 10, 30, 60, 100] {
        let base = bench.open(Some(Words::new()));
        // Dropped at some await, as a killed process leaves it.
        let mut run = Box::pin(bench.try_index(&base, Budget::default()));
        for _ in 0..polls {
            if futures::poll!(&mut run).is_ready() {
                break;
            }
            tokio::task::yield_now().await;
        }
        drop(run);
        drop(base);
        // Blocking work goes on until it is done and then lets go of the base.
        while Base::open(&bench.base_dir(), BaseOptions::default()).is_err() {
            tokio::task::yield_now().await;
        }
    }
    let base = bench.open(Some(Words::new()));
    bench.index(&base).await;
    assert_eq!(figures(&base.inspector().stats().unwrap()), figures(&clean));
    assert_eq!(ids(&base, "animal", Layer::Atom).await, atoms);
    let stats = base.inspector().stats().unwrap();
    assert_eq!((stats.failed_units, stats.pending_units), (0, 0));
}

#[tokio::test]
async fn a_lost_or_damaged_word_index_is_built_again() {
    let bench = Bench::asking();
    thirty(&bench);
    let base = bench.open(None);
    bench.index(&base).await;
    drop(base);
    let words = bench.base_dir().join("bm25");
    std::fs::remove_dir_all(words.join("chunk")).unwrap();
    std::fs::write(words.join("atom/meta.json"), "{not json").unwrap();
    let base = Base::open(&bench.base_dir(), BaseOptions::default()).unwrap();
    assert_eq!(search(&base, "number5", Layer::Chunk, Mode::Bm25).await.len(), 1);
    assert_eq!(search(&base, "food5", Layer::Atom, Mode::Bm25).await.len(), 1);
}

#[tokio::test]
async fn two_runs_at_once_take_turns() {
    let bench = Bench::asking();
    thirty(&bench);
    let base = bench.open(Some(Words::new()));
    let (one, two) = tokio::join!(bench.index(&base), bench.index(&base));
    assert_eq!(one.documents_new + two.documents_new, 30);
    assert_eq!(one.documents_unchanged + two.documents_unchanged, 30);
    assert_eq!(one.usage.llm_calls + two.usage.llm_calls, 30);
    let (clean, _) = clean_run().await;
    assert_eq!(figures(&base.inspector().stats().unwrap()), figures(&clean));
}

#[tokio::test]
async fn another_embedder_embeds_again_and_then_takes_over() {
    let bench = Bench::asking().rebuilding(&[BasePart::Embedder]);
    thirty(&bench);
    let base = bench.open(Some(Words::new()));
    bench.index(&base).await;
    drop(base);
    let other = Words::named("other-words");
    other.down.store(true, Ordering::Relaxed);
    let base = bench.open(Some(Arc::clone(&other) as Arc<dyn Embedder>));
    bench.index(&base).await;
    let stats = base.inspector().stats().unwrap();
    assert_eq!((stats.vectors.len(), stats.vectors[0].embedder.as_str()), (1, "toy-words"));
    other.down.store(false, Ordering::Relaxed);
    bench.index(&base).await;
    let stats = base.inspector().stats().unwrap();
    assert_eq!((stats.vectors.len(), stats.vectors[0].embedder.as_str()), (1, "other-words"));
    assert_eq!((stats.vectors[0].chunks, stats.vectors[0].atoms), (30, 60));
}

#[tokio::test]
async fn every_cap_stops_cleanly_and_the_next_run_goes_on() {
    let (clean, atoms) = clean_run().await;
    // The toy model bills 110 tokens a call; the prompt and its longest reply are reserved first, so
    // that even calls in sequence reach this cap of tokens.
    for (budget, limit) in [
        (Budget { calls: Some(7), ..Budget::default() }, Limit::Calls),
        (Budget { tokens: Some(3_000), ..Budget::default() }, Limit::Tokens),
        (Budget { seconds: Some(0.0), ..Budget::default() }, Limit::Seconds),
    ] {
        let bench = Bench::asking();
        thirty(&bench);
        // A document of several chunks, so that a cap is met in the middle of it.
        let base = bench.open(Some(Words::new()));
        let mut report = bench.try_index(&base, budget).await.unwrap();
        assert_eq!((report.spent, report.failed_units), (Some(limit), 0), "{report:?}");
        let mut calls = report.usage.llm_calls;
        // When the time is over, the chunks wait for their vectors as well.
        let unembedded = if limit == Limit::Seconds { 30 } else { 0 };
        let pending = report.pending_units as u64;
        assert_eq!(pending, 30 - calls + unembedded, "what was paid for is kept");
        let units = base.inspector().stats().unwrap().figures.units;
        let waiting = units.get("embed").and_then(|states| states.get("pending"));
        assert_eq!(waiting.copied().unwrap_or(0), unembedded);
        assert_eq!(base.inspector().stats().unwrap().pending_units, report.pending_units as u64);
        for _ in 0..30 {
            let goes_on = if limit == Limit::Seconds { Budget::default() } else { budget };
            report = bench.try_index(&base, goes_on).await.unwrap();
            calls += report.usage.llm_calls;
            if report.spent.is_none() {
                break;
            }
        }
        assert_eq!((calls, report.pending_units), (30, 0), "nothing is paid for twice");
        assert_eq!(figures(&base.inspector().stats().unwrap()), figures(&clean));
        assert_eq!(ids(&base, "animal", Layer::Atom).await, atoms);
    }
}

#[tokio::test]
async fn the_time_limit_ends_embedding_also_where_another_limit_was_met_first() {
    let bench = Bench::asking();
    thirty(&bench);
    let base = bench.open(Some(Words::new()));
    // The calls are refused by the budget of the build, the time is that of the work around it.
    let whole = Meter::new(Budget { seconds: Some(0.0), ..Budget::default() });
    let calls = Budget { calls: Some(0), ..Budget::default() };
    let meter = Arc::new(Meter::within(calls, Arc::new(whole)));
    let context =
        BuildContext { meter, ..BuildContext::new(&base, &bench.settings, &bench.setup()) };
    let report = halma_kb::index(context, &[bench.input()], &bench.options).await.unwrap();
    assert_eq!((report.usage.llm_calls, report.embedded), (0, 0), "{report:?}");
    assert_eq!(report.pending_units, 60);
    let report = bench.index(&base).await;
    assert_eq!((report.embedded, report.pending_units), (90, 0));
}

#[tokio::test]
async fn a_cap_in_the_middle_of_a_document_leaves_all_its_chunks_to_be_found() {
    let mut bench = Bench::asking();
    bench.settings.concurrency = 1;
    let parts: Vec<String> = (0..8)
        .map(|i| format!("## Part {i}\n\nAnimal number{i} sleeps{}.\n", " and sleeps".repeat(20)))
        .collect();
    bench.write("zoo.md", format!("# Zoo\n\n{}", parts.join("\n")));
    let base = bench.open(Some(Words::new()));
    let budget = Budget { calls: Some(4), ..Budget::default() };
    let report = bench.try_index(&base, budget).await.unwrap();
    assert_eq!((report.spent, report.pending_units), (Some(Limit::Calls), 5));
    for i in 0..8 {
        let hits = search(&base, &format!("number{i}"), Layer::Chunk, Mode::Hybrid).await;
        assert!(hits[0].text.contains(&format!("number{i}")));
    }
    assert_eq!(bench.index(&base).await.usage.llm_calls, 5);
}

#[tokio::test]
async fn ten_thousand_atoms_of_one_chunk_are_cut_and_told() {
    let bench = Bench::asking();
    let sentences: Vec<String> = (0..10_000).map(|i| format!("Fact {i}.")).collect();
    let mut settings = bench.settings.clone();
    settings.chunk_chars = 1_000_000;
    let bench = Bench { settings, ..bench };
    bench.write("facts.txt", sentences.join(" "));
    let base = bench.open(None);
    let report = bench.index(&base).await;
    assert_eq!((report.chunks, report.atoms, report.atoms_cut), (1, 24, 9_976));
    assert_eq!(base.inspector().stats().unwrap().atoms, 24);
}

#[tokio::test]
async fn a_chunk_that_fails_every_time_stays_failed_and_is_counted() {
    let bench = Bench::asking();
    thirty(&bench);
    *bench.model.fails_on.lock() = Some("number17");
    let base = bench.open(Some(Words::new()));
    for run in 0..3 {
        let report = bench.index(&base).await;
        assert_eq!((report.failed_units, report.pending_units), (1, 0));
        assert_eq!(report.usage.llm_calls, if run == 0 { 29 } else { 0 });
        let stats = base.inspector().stats().unwrap();
        assert_eq!((stats.failed_units, stats.pending_units), (1, 0));
        let hits = search(&base, "number17", Layer::Chunk, Mode::Hybrid).await;
        assert_eq!(hits[0].title, "a17", "its chunk is found nevertheless");
    }
    assert_eq!(bench.model.calls.load(Ordering::Relaxed), 32);
}
