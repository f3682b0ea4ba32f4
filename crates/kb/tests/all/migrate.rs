//! Another embedder: the vectors of the new one are made while searches use those of the old one,
//! and never both.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use std::sync::Arc;
use std::sync::atomic::Ordering;

use halma_core::{Embedder, Knowledge, Layer, MinScore, Mode};
use halma_kb::{Base, BaseOptions, BasePart, EmbeddedBy, Former, Migration, ThresholdSources};

use crate::common::{Bench, Words, hashed, query};

fn thirty(bench: &Bench) {
    for i in 0..30 {
        let text = format!("Animal number{i} lives in zoo{}. It eats food{i}.", i % 7);
        bench.write(&format!("a{i:02}.txt"), text);
    }
}

/// Its vectors are stored as they are, so that a cosine says exactly which space it is of.
fn rebuilding() -> Bench {
    let mut bench = Bench::new().rebuilding(&[BasePart::Embedder]);
    bench.settings.keep_f32 = true;
    bench
}

fn open(bench: &Bench, words: &Arc<Words>, former: Option<&Arc<Words>>) -> Arc<Base> {
    let former = former.map(|words| Former {
        embedder: Arc::clone(words) as Arc<dyn Embedder>,
        thresholds: ThresholdSources::default(),
    });
    let options = BaseOptions {
        embedder: Some(Arc::clone(words) as Arc<dyn Embedder>),
        origin: format!("open {}", words.name),
        former,
        ..BaseOptions::default()
    };
    Base::create_or_open(&bench.base_dir(), options).unwrap()
}

/// Refuses all but ten texts at a time, and after some calls everything.
fn failing(name: &'static str, answers: usize) -> Arc<Words> {
    let mut words = Arc::into_inner(Words::named(name)).unwrap();
    words.max_texts = 10;
    words.answers = answers.into();
    Arc::new(words)
}

/// The cosine of the chunk that is nearest to its own words; `None` where no vectors are searched.
async fn cosine(base: &Base) -> Option<f32> {
    let mut request = query("Animal number5 zoo5 food5", Layer::Chunk, Mode::Hybrid);
    request.min_score = MinScore::Usual;
    base.search(&request).await.unwrap().remove(0)[0].cosine
}

/// What [`cosine`] is when text and question are in the same space.
fn same_space_cosine() -> f32 {
    let text = hashed("a05\nAnimal number5 lives in zoo5. It eats food5.");
    text.iter().zip(hashed("Animal number5 zoo5 food5")).map(|(a, b)| a * b).sum()
}

fn is_in_same_space(cosine: Option<f32>) -> bool {
    cosine.is_some_and(|cosine| (cosine - same_space_cosine()).abs() < 1e-5)
}

#[tokio::test]
async fn searches_use_the_old_vectors_until_the_new_ones_are_complete() {
    let bench = rebuilding();
    thirty(&bench);
    let first = Words::new();
    let base = open(&bench, &first, None);
    bench.index(&base).await;
    assert!(is_in_same_space(cosine(&base).await));
    assert_eq!(base.inspector().stats().unwrap().migration, None);
    drop(base);
    let by = EmbeddedBy { model: "toy-words".into(), origin: "open toy-words".into() };
    assert_eq!(Base::embedded_by(&bench.base_dir()).unwrap(), Some(by));

    // The first run gets as far as thirty of ninety texts.
    let second = failing("other", 3);
    let base = open(&bench, &second, Some(&first));
    assert!(is_in_same_space(cosine(&base).await), "before anything is embedded again");
    let report = bench.index(&base).await;
    assert!(report.embedded > 0 && report.embedded < 90, "{report:?}");
    let on_its_way = base.inspector().stats().unwrap().migration.unwrap();
    let (from, to) = ("toy-words".to_owned(), "other".to_owned());
    let done = report.embedded as u64;
    assert_eq!(on_its_way, Migration { from, to, done, total: 90 });
    assert!(is_in_same_space(cosine(&base).await), "in the middle");
    drop(base);

    // Without the old embedder there are no vectors to compare with, and none are compared.
    let base = open(&bench, &second, None);
    assert_eq!(cosine(&base).await, None);
    drop(base);

    second.answers.store(usize::MAX, Ordering::Relaxed);
    let base = open(&bench, &second, Some(&first));
    let rest = bench.index(&base).await;
    assert_eq!(rest.embedded, 90 - report.embedded, "what was embedded is not embedded again");
    assert!(is_in_same_space(cosine(&base).await), "after the switch");
    assert_eq!(base.inspector().stats().unwrap().migration, None);
    let stats = base.inspector().stats().unwrap();
    assert_eq!((stats.vectors.len(), stats.vectors[0].embedder.as_str()), (1, "other"));
    drop(base);
    let by = Base::embedded_by(&bench.base_dir()).unwrap().unwrap();
    assert_eq!((by.model.as_str(), by.origin.as_str()), ("other", "open other"));
    let base = open(&bench, &first, None);
    assert_eq!(cosine(&base).await, None, "the old one is not compared with the new vectors");
}

#[tokio::test]
async fn every_search_during_a_migration_is_in_one_space() {
    let bench = rebuilding();
    thirty(&bench);
    let first = Words::new();
    let base = open(&bench, &first, None);
    bench.index(&base).await;
    drop(base);
    let second = failing("other", usize::MAX);
    let base = open(&bench, &second, Some(&first));
    bench.write("more.txt", "One more animal has come meanwhile.");
    let mut run = Box::pin(bench.try_index(&base, halma_core::Budget::default()));
    let mut on_its_way = 0;
    while futures::poll!(&mut run).is_pending() {
        assert!(is_in_same_space(cosine(&base).await));
        on_its_way += usize::from(base.inspector().stats().unwrap().migration.is_some());
        tokio::task::yield_now().await;
    }
    assert!(on_its_way > 0 && is_in_same_space(cosine(&base).await));
    assert_eq!(base.inspector().stats().unwrap().vectors[0].embedder, "other");
}

#[tokio::test]
async fn a_document_that_changes_during_a_migration_keeps_both_its_vectors() {
    let bench = rebuilding();
    let text = |last: &str| {
        // Long enough that the sections do not share a chunk.
        let much = " and more".repeat(25);
        format!("# T\n\n## A\n\nThe first part{much}.\n\n## B\n\nThe {last} part{much}.\n")
    };
    bench.write("a.md", text("second"));
    thirty(&bench);
    let first = Words::new();
    let base = open(&bench, &first, None);
    bench.index(&base).await;
    drop(base);
    let second = failing("other", 4);
    let base = open(&bench, &second, Some(&first));
    let begun = bench.index(&base).await.embedded;
    bench.write("a.md", text("last"));
    second.answers.store(0, Ordering::Relaxed);
    let report = bench.index(&base).await;
    assert_eq!(report.chunks_kept, 1);
    let hits = crate::common::search(&base, "The first part", Layer::Chunk, Mode::Dense).await;
    assert!(hits[0].text.contains("first part"), "its old vector moved with it");
    second.answers.store(usize::MAX, Ordering::Relaxed);
    bench.index(&base).await;
    assert_eq!(base.inspector().stats().unwrap().migration, None);
    let stats = base.inspector().stats().unwrap();
    assert_eq!(stats.vectors[0].chunks + stats.vectors[0].atoms, stats.chunks + stats.atoms);
    assert!(begun > 0);
}

#[tokio::test]
async fn going_back_to_the_old_embedder_ends_the_migration() {
    let bench = rebuilding();
    thirty(&bench);
    let first = Words::new();
    let base = open(&bench, &first, None);
    bench.index(&base).await;
    drop(base);
    let second = failing("other", 3);
    let base = open(&bench, &second, Some(&first));
    bench.index(&base).await;
    drop(base);
    let base = open(&bench, &first, None);
    let report = bench.index(&base).await;
    assert_eq!((report.embedded, base.inspector().stats().unwrap().migration), (0, None));
    assert_eq!(base.inspector().stats().unwrap().vectors.len(), 1);
    assert!(is_in_same_space(cosine(&base).await));
}
