//! Searching and building at size: BM25 over 10,000 and 100,000 passages, exact dense search over
//! 100,000 × 384 with its recall, and passages indexed per second.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a bench prints and may stop")]
mod common;

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use common::{Random, build, build_of, named_passages, passages, vector};
use criterion::{Criterion, criterion_group, criterion_main};
use halma_core::{Knowledge, Layer, Mode, Query, Vector};
use halma_kb::Atoms;
use tokio::runtime::Runtime;

fn query(text: &str, mode: Mode) -> Query {
    Query::new(vec![text.to_owned()], Layer::Chunk, mode, 10)
}

fn bm25(c: &mut Criterion) {
    let runtime = Runtime::new().unwrap();
    for count in [10_000, 100_000] {
        let built = build(&runtime, count, false, Atoms::None);
        let mut random = Random(7);
        let queries: Vec<Query> = (0..200).map(|_| query(&random.passage(6), Mode::Bm25)).collect();
        let mut at = 0;
        c.bench_function(&format!("bm25 top 10 of {count}"), |b| {
            b.iter(|| {
                at = (at + 1) % queries.len();
                black_box(runtime.block_on(built.base.search(&queries[at])).unwrap())
            });
        });
    }
}

fn dense(c: &mut Criterion) {
    let runtime = Runtime::new().unwrap();
    let built = build(&runtime, 100_000, true, Atoms::None);
    let mut random = Random(9);
    let texts: Vec<String> = (0..50).map(|_| random.passage(6)).collect();
    let began = Instant::now();
    runtime.block_on(built.base.search(&query(&texts[0], Mode::Dense))).unwrap();
    println!("loading 100,000 vectors: {:?}", began.elapsed());

    let mut all = query("", Mode::Bm25);
    all.texts = vec![];
    let nodes = every_vector();
    let mut matching = 0;
    for text in &texts {
        let hits = runtime.block_on(built.base.search(&query(text, Mode::Dense))).unwrap();
        let query_vector = vector(text);
        let mut exact: Vec<f32> = nodes
            .iter()
            .map(|node| node.iter().zip(&query_vector).map(|(a, b)| a * b).sum())
            .collect();
        exact.sort_unstable_by(|a, b| b.total_cmp(a));
        matching += hits[0].iter().filter(|hit| hit.score >= exact[9] - 1e-6).count();
    }
    println!("recall@10 against exact f32: {matching} of {}", texts.len() * 10);

    for mode in [Mode::Dense, Mode::Hybrid] {
        let queries: Vec<Query> = texts.iter().map(|text| query(text, mode)).collect();
        let mut at = 0;
        c.bench_function(&format!("{mode:?} top 10 of 100000 x 384, query embedded"), |b| {
            b.iter(|| {
                at = (at + 1) % queries.len();
                black_box(runtime.block_on(built.base.search(&queries[at])).unwrap())
            });
        });
    }
}

/// The vectors of the passages that [`passages`] writes.
fn every_vector() -> Vec<Vector> {
    let mut random = Random(42);
    (0..100_000).map(|i| vector(&format!("t{i}\n{}", random.passage(100).trim()))).collect()
}

/// Writes this many passages into a file.
type Write = fn(&Path, usize);

fn index(_: &mut Criterion) {
    let runtime = Runtime::new().unwrap();
    for (what, count, write, embedder, atoms) in [
        ("words only", 10_000, passages as Write, false, Atoms::None),
        ("words only, ten names each", 10_000, named_passages as Write, false, Atoms::None),
        ("vectors at once", 10_000, passages as Write, true, Atoms::None),
        ("sentences, no vectors", 10_000, passages as Write, false, Atoms::Sentences),
        ("a model at 0 ms, vectors at once", 1_000, passages as Write, true, Atoms::Questions),
    ] {
        let mut best = Duration::MAX;
        for _ in 0..3 {
            let built = build_of(&runtime, (count, write), embedder, atoms);
            best = best.min(Duration::from_secs_f64(built.report.elapsed_ms / 1e3));
        }
        #[expect(clippy::cast_precision_loss, reason = "thousands")]
        let rate = count as f64 / best.as_secs_f64();
        println!("index, {what}: {count} passages in {best:.2?}, {rate:.0} a second");
    }
}

fn graph(c: &mut Criterion) {
    let runtime = Runtime::new().unwrap();
    let built = build_of(&runtime, (10_000, named_passages), true, Atoms::Sentences);
    let mut random = Random(11);
    let question = |random: &mut Random| format!("{} {}", random.passage(6).trim(), random.name());
    let queries: Vec<Query> =
        (0..300).map(|_| query(&question(&mut random), Mode::Graph)).collect();
    let began = Instant::now();
    runtime.block_on(built.base.search(&queries[0])).unwrap();
    println!("first graph search of 10,000 passages: {:?}", began.elapsed());
    let times: Vec<Duration> = queries
        .iter()
        .cycle()
        .take(900)
        .map(|query| {
            let began = Instant::now();
            black_box(runtime.block_on(built.base.search(query)).unwrap());
            began.elapsed()
        })
        .collect();
    for (what, times) in
        [("cold", &mut times[..300].to_vec()), ("warm", &mut times[600..].to_vec())]
    {
        times.sort_unstable();
        println!("graph top 10 of 10,000, {what}: p50 {:?}, p95 {:?}", times[150], times[285]);
    }
    let mut at = 0;
    c.bench_function("Graph top 10 of 10000 x 384, query embedded", |b| {
        b.iter(|| {
            at = (at + 1) % queries.len();
            black_box(runtime.block_on(built.base.search(&queries[at])).unwrap())
        });
    });
}

criterion_group!(benches, index, bm25, dense, graph);
criterion_main!(benches);
