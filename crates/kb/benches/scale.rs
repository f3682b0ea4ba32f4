//! Searching at size: for each number of passages a base with a vector of 384 dimensions for every
//! passage and sentence, searched by a fresh process in every mode. Prints times, memory, disk and
//! how long it takes until a document that is added is found, each with the ratio to the code
//! before format 7.
//!
//! `HALMA_SCALE=1000,10000` chooses the numbers of passages; `make soak` adds a million.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a bench prints and may stop")]
mod common;

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use common::{Centres, Quick, Random, named_passages};
use halma_core::{
    Embedder, Filter, Knowledge, Layer, MinScore, Mode, Models, Prompts, Query, Setup,
};
use halma_kb::{Atoms, Base, BaseOptions, BuildContext, IndexOptions, KbSettings, PROMPTS};
use halma_testkit::Toy;
use tokio::runtime::Runtime;

const MODES: [(&str, Mode); 4] = [
    ("bm25", Mode::Bm25),
    ("dense", Mode::Dense),
    ("hybrid", Mode::Hybrid),
    ("graph", Mode::Graph),
];

/// Measured with this bench before format 7, on the machine of docs/performance.md.
const BEFORE: &str = include_str!("scale_before.txt");

fn query(text: &str, mode: Mode) -> Query {
    Query {
        texts: vec![text.to_owned()],
        layer: Layer::Chunk,
        mode,
        limit: 10,
        min_score: MinScore::Any,
        exclude: vec![],
        filter: Filter::default(),
    }
}

fn open(dir: &Path) -> Arc<Base> {
    let embedder: Arc<dyn Embedder> = Arc::new(Centres);
    let options = BaseOptions { embedder: Some(embedder), ..BaseOptions::default() };
    Base::create_or_open(dir, options).unwrap()
}

fn index(runtime: &Runtime, base: &Arc<Base>, file: PathBuf) {
    let settings = KbSettings { atoms: Atoms::Sentences, ..KbSettings::default() };
    let setup = Arc::new(Setup::new(
        Models::new(Arc::new(Quick)),
        Toy::empty(),
        Arc::new(Prompts::shipped(&[PROMPTS]).unwrap()),
    ));
    let context = BuildContext::new(base, &settings, &setup);
    let indexed = runtime.block_on(halma_kb::index(context, &[file], &IndexOptions::default()));
    indexed.unwrap();
}

/// Prints a figure with its ratio to the one before.
fn report(passages: usize, name: &str, value: f64, unit: &str) {
    let line = format!("{passages} {name} ");
    let before = BEFORE.lines().find_map(|known| known.strip_prefix(&line));
    let before: Option<f64> = before.and_then(|rest| rest.split(' ').next()?.parse().ok());
    let compared = before.map_or(String::new(), |before| {
        format!("   before {before:.3}, ratio {:.2}", value / before)
    });
    println!("{line}{value:.3} {unit}{compared}");
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Milliseconds that the processors worked for this process.
fn cpu_ms() -> f64 {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let spent = tasks.filter_map(|task| {
        let spent = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
        spent.split(' ').next()?.parse::<f64>().ok()
    });
    spent.sum::<f64>() / 1e6
}

/// Megabytes that this process has resident: its own, and pages of files.
fn resident() -> (f64, f64) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|rest| rest.trim().split(' ').next()?.parse::<f64>().ok()).unwrap_or(0.0)
    };
    (field("RssAnon:") / 1e3, field("RssFile:") / 1e3)
}

#[expect(clippy::cast_precision_loss, reason = "bytes, for a table")]
fn disk(dir: &Path) -> f64 {
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap());
    let bytes = |entry: std::fs::DirEntry| {
        use std::os::unix::fs::MetadataExt;
        let held = entry.metadata().unwrap();
        if held.is_dir() { disk(&entry.path()) } else { (held.blocks() * 512) as f64 }
    };
    entries.map(bytes).sum()
}

fn measure(dir: &Path, passages: usize) {
    let runtime = Runtime::new().unwrap();
    let began = Instant::now();
    let base = open(&dir.join("base"));
    report(passages, "open", ms(began.elapsed()), "ms");
    let mut random = Random(11);
    let texts: Vec<String> =
        (0..300).map(|_| format!("{} {}", random.passage(6).trim(), random.name())).collect();
    // The vectors of queries are cached: they are the embedder's time, not the search's.
    for text in &texts {
        runtime.block_on(base.search(&query(text, Mode::Dense))).unwrap();
    }
    let began = Instant::now();
    runtime.block_on(base.search(&query(&texts[0], Mode::Graph))).unwrap();
    report(passages, "first-graph", ms(began.elapsed()), "ms");
    for (name, mode) in MODES {
        let time = |text: &String| {
            let began = Instant::now();
            black_box(runtime.block_on(base.search(&query(text, mode))).unwrap());
            began.elapsed()
        };
        let mut cold: Vec<Duration> = texts.iter().map(time).collect();
        let busy = cpu_ms();
        let mut warm: Vec<Duration> = texts.iter().map(time).collect();
        report(passages, &format!("{name}-cpu"), (cpu_ms() - busy) / 300.0, "ms");
        cold.sort_unstable();
        warm.sort_unstable();
        report(passages, &format!("{name}-cold-p50"), ms(cold[150]), "ms");
        report(passages, &format!("{name}-p50"), ms(warm[150]), "ms");
        report(passages, &format!("{name}-p95"), ms(warm[285]), "ms");
    }
    let mut batch = query("", Mode::Graph);
    batch.texts = texts[..9].to_vec();
    let began = Instant::now();
    for _ in 0..10 {
        black_box(runtime.block_on(base.search(&batch)).unwrap());
    }
    report(passages, "graph-9-texts", ms(began.elapsed()) / 10.0, "ms");
    let (own, files) = resident();
    report(passages, "resident-own", own, "MB");
    report(passages, "resident-files", files, "MB");
    for (name, mode) in MODES {
        std::fs::write(
            dir.join("one.jsonl"),
            format!("{{\"id\":\"one {name}\",\"title\":\"Zanzibar Quokka {name}\",\"text\":\"The Zanzibar Quokka {name} was drawn by Barbar Delbarbar in the year of the {name}.\"}}\n"),
        )
        .unwrap();
        index(&runtime, &base, dir.join("one.jsonl"));
        let began = Instant::now();
        let asked = format!("Who drew the Zanzibar Quokka {name}?");
        let hits = runtime.block_on(base.search(&query(&asked, mode))).unwrap().remove(0);
        report(passages, &format!("{name}-after-publish"), ms(began.elapsed()), "ms");
        let found = hits.iter().any(|hit| hit.document == format!("one {name}"));
        // The vectors stand around centres by chance, so that only words and names find it.
        assert!(found || mode == Mode::Dense, "{name}: {hits:?}");
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    if arguments.next().as_deref() == Some("measure") {
        let dir = PathBuf::from(arguments.next().unwrap());
        return measure(&dir, arguments.next().unwrap().parse().unwrap());
    }
    let sizes = std::env::var("HALMA_SCALE").unwrap_or_else(|_| "1000,10000,100000".to_owned());
    for passages in sizes.split(',').map(|size| size.trim().parse::<usize>().unwrap()) {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("passages.jsonl");
        named_passages(&file, passages);
        let runtime = Runtime::new().unwrap();
        let base = open(&dir.path().join("base"));
        let began = Instant::now();
        index(&runtime, &base, file);
        #[expect(clippy::cast_precision_loss, reason = "passages, for a rate")]
        let count = passages as f64;
        report(passages, "index", count / began.elapsed().as_secs_f64(), "passages/s");
        drop(base);
        report(passages, "disk", disk(&dir.path().join("base")) / count / 1e3, "kB/passage");
        let measured = std::process::Command::new(std::env::current_exe().unwrap())
            .arg("measure")
            .arg(dir.path())
            .arg(passages.to_string())
            .status()
            .unwrap();
        assert!(measured.success());
    }
}
