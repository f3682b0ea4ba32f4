//! Deleting and adding one document in a base of 100,000 passages, with what the size of segments
//! of the lexical index costs, and loading the vectors of as many.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a bench prints and may stop")]
mod common;

use std::time::{Duration, Instant};

use common::{Built, Random, build};
use halma_core::{Knowledge, Layer, Mode, Query};
use halma_kb::{Atoms, ListQuery};
use tokio::runtime::Runtime;

const PASSAGES: usize = 100_000;

fn main() {
    let runtime = Runtime::new().unwrap();
    let vectors = build(&runtime, PASSAGES, true, Atoms::None);
    print_size("384 dimensions, no atoms", &vectors);
    let began = Instant::now();
    runtime.block_on(vectors.base.search(&query("what", Mode::Dense))).unwrap();
    println!("loading the vectors: {:.2?}", began.elapsed());
    deleting(&vectors);
    drop(vectors);
    let atoms = build(&runtime, PASSAGES, false, Atoms::Sentences);
    print_size("no vectors, sentences as atoms", &atoms);
    looking(&atoms);
    searching(&runtime, &atoms);
    deleting(&atoms);
}

fn print_size(what: &str, built: &Built) {
    let stats = built.base.inspector().stats().unwrap();
    println!(
        "{what}: {} chunks and {} atoms indexed in {:.1} s, {} MB",
        stats.chunks,
        stats.atoms,
        built.report.elapsed_ms / 1e3,
        stats.bytes_on_disk / 1_000_000
    );
}

fn looking(built: &Built) {
    let timed = |what: &str, work: &mut dyn FnMut()| {
        let began = Instant::now();
        work();
        println!("{what}: {:.2?}", began.elapsed());
    };
    timed("stats", &mut || drop(built.base.inspector().stats().unwrap()));
    timed("verify", &mut || {
        let verified = built.base.inspector().verify().unwrap();
        assert!(verified.is_sound(), "{:?}", verified.problems);
    });
    timed("export", &mut || {
        built.base.inspector().export(&mut std::io::sink()).unwrap();
    });
    let page = ListQuery { layer: Layer::Atom, document: None, after: None, limit: 20 };
    timed("a page of a list", &mut || drop(built.base.inspector().list(&page).unwrap()));
}

fn query(text: &str, mode: Mode) -> Query {
    Query::new(vec![text.to_owned()], Layer::Chunk, mode, 10)
}

fn searching(runtime: &Runtime, built: &Built) {
    let mut random = Random(7);
    let queries: Vec<Query> = (0..500).map(|_| query(&random.passage(6), Mode::Bm25)).collect();
    let mut times: Vec<Duration> = vec![];
    for query in &queries {
        let began = Instant::now();
        runtime.block_on(built.base.search(query)).unwrap();
        times.push(began.elapsed());
    }
    println!("BM25 top 10: {}", spread(times));
}

fn deleting(built: &Built) {
    let mut times = vec![];
    for i in 0..20 {
        let name = format!("p{}", (i * 4999 + 17) % PASSAGES);
        let began = Instant::now();
        let deleted = built.base.delete(&[name]).unwrap();
        times.push(began.elapsed());
        assert_eq!(deleted.nodes[&Layer::Document], 1);
    }
    println!("deleting one document: {}", spread(times));
}

fn spread(mut times: Vec<Duration>) -> String {
    times.sort();
    let (least, median, longest) = (times[0], times[times.len() / 2], times[times.len() - 1]);
    format!("{least:.2?} – {median:.2?} – {longest:.2?} (least, median, most)")
}
