//! Searching at size: for each number of passages a base with a vector of 384 dimensions for every
//! passage and sentence, searched by a fresh process in every mode. Prints times, memory, disk and
//! how long it takes until a document that is added is found; at the end all of it as a table, with
//! the ratio to the code before format 7 (`scale_before.txt`).
//!
//! `HALMA_SCALE=1000,10000` chooses the numbers of passages; `make soak` adds a million.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a bench prints and may stop")]
mod common;

use std::hint::black_box;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use common::table::{Figure, table};
use common::{Quick, Random, WordVectors, named_passages};
use halma_core::{Embedder, Knowledge, Layer, Mode, Models, Prompts, Query, Setup};
use halma_kb::{Atoms, Base, BaseOptions, BuildContext, IndexOptions, KbSettings, PROMPTS};
use halma_testkit::Toy;
use tokio::runtime::Runtime;

/// What is searched, and how. Sentences are five times as many as passages.
const SEARCHES: [(&str, Layer, Mode); 5] = [
    ("bm25", Layer::Chunk, Mode::Bm25),
    ("dense", Layer::Chunk, Mode::Dense),
    ("hybrid", Layer::Chunk, Mode::Hybrid),
    ("graph", Layer::Chunk, Mode::Graph),
    ("dense-atoms", Layer::Atom, Mode::Dense),
];

fn query(text: &str, layer: Layer, mode: Mode) -> Query {
    Query::new(vec![text.to_owned()], layer, mode, 10)
}

fn open(dir: &Path) -> Arc<Base> {
    let embedder: Arc<dyn Embedder> = Arc::new(WordVectors);
    let options = BaseOptions { embedder: Some(embedder), ..BaseOptions::default() };
    Base::create_or_open(dir, options).unwrap()
}

/// Indexes a file or folder; returns how many passages were new.
fn index(runtime: &Runtime, base: &Arc<Base>, file: PathBuf) -> usize {
    let settings = KbSettings { atoms: Atoms::Sentences, ..KbSettings::default() };
    let setup = Arc::new(Setup::new(
        Models::new(Arc::new(Quick)),
        Toy::empty(),
        Arc::new(Prompts::shipped(&[PROMPTS]).unwrap()),
    ));
    let context = BuildContext::new(base, &settings, &setup);
    let indexed = runtime.block_on(halma_kb::index(context, &[file], &IndexOptions::default()));
    let report = indexed.unwrap();
    assert!(report.refused.is_empty(), "{:?}", report.refused);
    report.documents_new
}

/// Prints a figure, from which `main` makes the table.
fn report(passages: usize, name: &str, value: f64) {
    println!("{}", Figure { passages, name: name.to_owned(), value }.line());
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

/// Milliseconds of processor that this process has used, with those of threads that have ended; to
/// hundredths of a second.
fn all_cpu_ms() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields =
        stat.rsplit_once(") ").map_or("", |(_, fields)| fields).split(' ').skip(11).take(2);
    fields.filter_map(|field| field.parse::<f64>().ok()).sum::<f64>() * 10.0
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
        let metadata = entry.metadata().unwrap();
        if metadata.is_dir() { disk(&entry.path()) } else { (metadata.blocks() * 512) as f64 }
    };
    entries.map(bytes).sum()
}

fn measure(dir: &Path, passages: usize) {
    let runtime = Runtime::new().unwrap();
    let began = Instant::now();
    let base = open(&dir.join("base"));
    report(passages, "open", ms(began.elapsed()));
    let mut random = Random(11);
    let texts: Vec<String> =
        (0..300).map(|_| format!("{} {}", random.passage(6).trim(), random.name())).collect();
    // The vectors of queries are cached: they are the embedder's time, not the search's.
    for text in &texts {
        runtime.block_on(base.search(&query(text, Layer::Chunk, Mode::Dense))).unwrap();
    }
    let began = Instant::now();
    runtime.block_on(base.search(&query(&texts[0], Layer::Chunk, Mode::Graph))).unwrap();
    report(passages, "first-graph", ms(began.elapsed()));
    for (name, layer, mode) in SEARCHES {
        let time = |text: &String| {
            let began = Instant::now();
            black_box(runtime.block_on(base.search(&query(text, layer, mode))).unwrap());
            began.elapsed()
        };
        let mut cold: Vec<Duration> = texts.iter().map(time).collect();
        let busy = cpu_ms();
        let mut warm: Vec<Duration> = texts.iter().map(time).collect();
        report(passages, &format!("{name}-cpu"), (cpu_ms() - busy) / 300.0);
        cold.sort_unstable();
        warm.sort_unstable();
        report(passages, &format!("{name}-cold-p50"), ms(cold[150]));
        report(passages, &format!("{name}-p50"), ms(warm[150]));
        report(passages, &format!("{name}-p95"), ms(warm[285]));
    }
    let mut batch = query("", Layer::Chunk, Mode::Graph);
    batch.texts = texts[..9].to_vec();
    let began = Instant::now();
    for _ in 0..10 {
        black_box(runtime.block_on(base.search(&batch)).unwrap());
    }
    report(passages, "graph-9-texts", ms(began.elapsed()) / 10.0);
    let (private, files) = resident();
    report(passages, "resident-own", private);
    report(passages, "resident-files", files);
    for (name, layer, mode) in SEARCHES {
        std::fs::write(
            dir.join("one.jsonl"),
            format!("{{\"id\":\"one {name}\",\"title\":\"Zanzibar Quokka {name}\",\"text\":\"The Zanzibar Quokka {name} was drawn by Barbar Delbarbar in the year of the {name}.\"}}\n"),
        )
        .unwrap();
        index(&runtime, &base, dir.join("one.jsonl"));
        let began = Instant::now();
        let question = format!("Who drew the Zanzibar Quokka {name}?");
        let hits = runtime.block_on(base.search(&query(&question, layer, mode))).unwrap().remove(0);
        report(passages, &format!("{name}-after-publish"), ms(began.elapsed()));
        let is_found = hits.iter().any(|hit| hit.document == format!("one {name}"));
        // The vectors stand around centres by chance, so that only words and names find it.
        assert!(is_found || mode == Mode::Dense, "{name}: {hits:?}");
    }
}

/// Makes a base of so many passages and measures searches of it in a process of its own.
fn measured(passages: usize) -> Vec<Figure> {
    let dir = tempfile::tempdir().unwrap();
    let (file, base_dir) = (dir.path().join("passages.jsonl"), dir.path().join("base"));
    named_passages(&file, passages);
    let runtime = Runtime::new().unwrap();
    let base = open(&base_dir);
    let (began, busy) = (Instant::now(), all_cpu_ms());
    assert_eq!(index(&runtime, &base, file), passages);
    #[expect(clippy::cast_precision_loss, reason = "passages, for a rate")]
    let count = passages as f64;
    let figure = |name: &str, value: f64| Figure { passages, name: name.to_owned(), value };
    let mut figures = vec![figure("index", count / began.elapsed().as_secs_f64())];
    figures.push(figure("index-cpu", (all_cpu_ms() - busy) * 1e3 / count));
    drop(base);
    figures.push(figure("disk", disk(&base_dir) / count / 1e3));
    for figure in &figures {
        println!("{}", figure.line());
    }
    let mut searching = Command::new(std::env::current_exe().unwrap())
        .arg("measure")
        .arg(dir.path())
        .arg(passages.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    for line in BufReader::new(searching.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        println!("{line}");
        figures.extend(Figure::parse(&line));
    }
    assert!(searching.wait().unwrap().success());
    figures
}

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    if arguments.next().as_deref() == Some("measure") {
        let dir = PathBuf::from(arguments.next().unwrap());
        return measure(&dir, arguments.next().unwrap().parse().unwrap());
    }
    let sizes = std::env::var("HALMA_SCALE").unwrap_or_else(|_| "1000,10000,100000".to_owned());
    let sizes: Vec<usize> = sizes.split(',').map(|size| size.trim().parse().unwrap()).collect();
    let figures: Vec<Figure> = sizes.iter().flat_map(|size| measured(*size)).collect();
    println!("\n{}", table(&figures, &sizes));
}
