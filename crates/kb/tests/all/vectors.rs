//! Vectors in files: damage is found and repaired, another process's changes are seen, and searches
//! run while a build publishes.
#![expect(clippy::unwrap_used, reason = "these are tests")]
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use halma_core::{Budget, Embedder, Hit, Layer, Mode};
use halma_kb::{Base, BaseOptions, BasePart, InputFormat};

use crate::common::{Bench, Short, Words, again, search};

fn options() -> BaseOptions {
    let embedder: Arc<dyn Embedder> = Words::new();
    BaseOptions { embedder: Some(embedder), ..BaseOptions::default() }
}

fn animals(bench: &Bench, from: usize, to: usize) {
    for i in from..to {
        let text = format!("Animal number{i} eats food{i}. It lives in zoo{}.", i % 7);
        bench.write(&format!("a{i:03}.txt"), text);
    }
}

fn open(bench: &Bench) -> Arc<Base> {
    Base::create_or_open(&bench.base_dir(), options()).unwrap()
}

/// What a search found, to be compared.
fn lines(hits: &[Hit]) -> Vec<String> {
    hits.iter().map(|hit| format!("{} {} {:?}", hit.id.0, hit.score, hit.cosine)).collect()
}

/// The file of the vectors of chunks.
fn file(bench: &Bench) -> PathBuf {
    bench.base_dir().join("store/vectors/0-64-chunk")
}

/// Bytes of the head and of one vector of 64 dimensions with its scale and its checksum.
const HEAD: u64 = 64;
const SLOT: u64 = 72;

#[tokio::test]
async fn a_damaged_file_is_reported_and_its_texts_are_embedded_again() {
    let damages: [(&str, u64); 4] = [("flipped", 1), ("cut", 13), ("no head", 20), ("gone", 20)];
    for (damage, lost) in damages {
        let bench = Bench::new();
        animals(&bench, 0, 20);
        let base = open(&bench);
        bench.index(&base).await;
        let intact = search(&base, "number7 food7", Layer::Chunk, Mode::Dense).await;
        drop(base);
        let path = file(&bench);
        let opened = std::fs::File::options().write(true).open(&path).unwrap();
        match damage {
            "flipped" => opened.write_all_at(&[0x55], HEAD + 7 * SLOT + 30).unwrap(),
            "cut" => opened.set_len(HEAD + 7 * SLOT + 30).unwrap(),
            "no head" => opened.set_len(20).unwrap(),
            _ => std::fs::remove_file(&path).unwrap(),
        }
        let base = open(&bench);
        // What is damaged is not found by its vector, and does no harm.
        let hits = search(&base, "number7 food7", Layer::Chunk, Mode::Hybrid).await;
        assert!(hits.iter().any(|hit| hit.id == intact[0].id), "{damage}");
        let problems = base.inspector().verify().unwrap().problems;
        assert_eq!(problems.len() as u64, lost, "{damage}: {problems:?}");
        let (what, hint) = (&problems[0].what, &problems[0].hint);
        assert!(what.contains("is missing or damaged in its file"), "{what}");
        assert!(hint.contains("halma index"), "{hint}");
        let report = bench.index(&base).await;
        assert_eq!((report.embedded as u64, report.documents_unchanged), (lost, 20), "{damage}");
        assert!(base.inspector().verify().unwrap().is_sound(), "{damage}");
        let again = search(&base, "number7 food7", Layer::Chunk, Mode::Dense).await;
        assert_eq!(lines(&again), lines(&intact), "{damage}");
        assert_eq!(bench.index(&base).await.embedded, 0);
    }
}

#[tokio::test]
async fn vectors_of_other_dimensions_are_refused_until_a_rebuild_is_asked_for() {
    let mut bench = Bench::new();
    animals(&bench, 0, 5);
    let base = open(&bench);
    bench.index(&base).await;
    assert_eq!(search(&base, "number3", Layer::Chunk, Mode::Dense).await.len(), 5);
    drop(base);
    let embedder: Arc<dyn Embedder> = Short::new();
    let options = BaseOptions { embedder: Some(embedder), ..BaseOptions::default() };
    let base = Base::open(&bench.base_dir(), options).unwrap();
    animals(&bench, 5, 9);
    let report = bench.index(&base).await;
    let failure = report.failure.unwrap();
    assert!(
        failure.contains("32 dimensions") && failure.contains("--rebuild embedder"),
        "{failure}"
    );
    assert!(report.embedded == 0 && report.failed_units > 0, "{}", report.failed_units);
    assert!(file(&bench).exists(), "the former vectors stay");
    bench.options.rebuild = vec![BasePart::Embedder];
    // The first reply says how many dimensions there are now; the texts of the others wait then.
    let report = bench.index(&base).await;
    assert_eq!((report.failure, report.failed_units, report.pending_units), (None, 0, 0));
    assert!(base.inspector().verify().unwrap().is_sound());
    assert_eq!(search(&base, "number3", Layer::Chunk, Mode::Dense).await.len(), 9);
    assert!(!file(&bench).exists(), "the former vectors");
    assert!(file(&bench).with_file_name("0-32-chunk").exists());
}

/// Adds a document, replaces one and removes one.
#[tokio::test]
async fn change_from_another_process() {
    let Some(dir) = again::folder() else { return };
    let (bench, input) = (Bench::new(), dir.join("in"));
    std::fs::write(input.join("new.txt"), "Animal number100 eats food100.").unwrap();
    std::fs::write(input.join("a001.txt"), "Animal number101 eats food101.").unwrap();
    let base = Base::open(&dir.join("base"), options()).unwrap();
    bench.index_path(&base, &input, InputFormat::Auto, Budget::default()).await.unwrap();
    base.delete(&["a002.txt".into()]).unwrap();
}

#[tokio::test]
async fn changes_of_another_process_are_found_and_what_it_removed_is_not() {
    let bench = Bench::new();
    animals(&bench, 0, 5);
    let base = open(&bench);
    bench.index(&base).await;
    for mode in [Mode::Dense, Mode::Hybrid, Mode::Graph] {
        assert_eq!(search(&base, "number2", Layer::Chunk, mode).await[0].document, "a002.txt");
    }
    let status =
        again::run("vectors::change_from_another_process", bench.dir.path()).status().unwrap();
    assert!(status.success());
    for mode in [Mode::Dense, Mode::Hybrid, Mode::Graph] {
        let new = search(&base, "number100 food100", Layer::Chunk, mode).await;
        assert_eq!(new[0].document, "new.txt", "{mode:?}");
        let replaced = search(&base, "number101 food101", Layer::Chunk, mode).await;
        assert_eq!(replaced[0].document, "a001.txt", "{mode:?}");
        let former = |hit: &Hit| hit.document == "a001.txt" && hit.text.contains("zoo");
        assert!(!replaced.iter().any(|hit| hit.document == "a002.txt" || former(hit)));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn searches_run_while_a_build_publishes() {
    let bench = Bench::new();
    animals(&bench, 0, 10);
    let base = open(&bench);
    bench.index(&base).await;
    let stop = Arc::new(AtomicBool::new(false));
    let searcher = |mode: Mode| {
        let (base, stop) = (Arc::clone(&base), Arc::clone(&stop));
        tokio::spawn(async move {
            let mut count = 0;
            while !stop.load(Ordering::Relaxed) {
                let hits = search(&base, "number3 food3 zoo3", Layer::Chunk, mode).await;
                assert_eq!(hits[0].document, "a003.txt", "{mode:?}");
                count += 1;
            }
            count
        })
    };
    let searchers = [Mode::Dense, Mode::Graph, Mode::Hybrid, Mode::Graph].map(searcher);
    for round in 1..6 {
        animals(&bench, round * 10, round * 10 + 10);
        bench.remove(&format!("a{:03}.txt", round * 10 - 2));
        bench.index(&base).await;
        base.delete(&[format!("a{:03}.txt", round * 10 - 1)]).unwrap();
        bench.remove(&format!("a{:03}.txt", round * 10 - 1));
    }
    stop.store(true, Ordering::Relaxed);
    for searcher in searchers {
        assert!(searcher.await.unwrap() > 0);
    }
    let running = search(&base, "number55 zoo6", Layer::Chunk, Mode::Graph).await;
    drop(base);
    let opened = search(&open(&bench), "number55 zoo6", Layer::Chunk, Mode::Graph).await;
    assert_eq!(lines(&running), lines(&opened));
}
