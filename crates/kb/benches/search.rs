//! Searching and building at size: BM25 over 10,000 and 100,000 passages, exact dense search over
//! 100,000 × 384 with its recall, and passages indexed per second.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a bench prints and may stop")]
use std::fmt::Write as _;
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use criterion::{Criterion, criterion_group, criterion_main};
use halma_core::{
    ChatReply, ChatRequest, EmbedRole, Embedder, Filter, Knowledge, Layer, Llm, LlmError, Meter,
    MinScore, Mode, Models, Prompts, Query, Setup, Vector,
};
use halma_kb::{Atoms, Base, BaseOptions, IndexReport, InputFormat, KbSettings, PROMPTS};
use halma_testkit::Toy;
use tokio::runtime::Runtime;

const DIMENSIONS: usize = 384;

/// A small generator, so that every run has the same text and vectors.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        self.0 >> 33
    }

    /// About normally distributed.
    fn normal(&mut self) -> f32 {
        let sum: u64 = (0..8).map(|_| self.next() & 0xffff).sum();
        #[expect(clippy::cast_precision_loss, reason = "below 2^19")]
        let sum = sum as f32;
        sum / 65536.0 - 4.0
    }

    /// A word by Zipf's law, as texts have them.
    fn word(&mut self) -> String {
        #[expect(clippy::cast_precision_loss, reason = "31 bits of chance")]
        let uniform = self.next() as f64 / f64::from(1_u32 << 31);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rank")]
        let rank = (60_000_f64.powf(uniform)) as u64;
        let letters = b"etaoinshrdlucmfwygpb";
        let (mut word, mut rest) = (String::new(), rank * 7919 + 13);
        while rest > 0 {
            word.push(char::from(letters[usize::try_from(rest % 20).unwrap()]));
            rest /= 20;
        }
        word
    }

    fn passage(&mut self, words: usize) -> String {
        let mut text = String::new();
        for i in 0..words {
            text.push_str(&self.word());
            text.push_str(if i % 20 == 19 { ". " } else { " " });
        }
        text
    }
}

/// Vectors around 2,000 centres, told apart by the text.
struct Centres;

fn vector(text: &str) -> Vector {
    let seed = text.bytes().fold(7_u64, |sum, b| sum.wrapping_mul(31).wrapping_add(u64::from(b)));
    let (mut centre, mut own) = (Random(seed % 2000 * 977 + 5), Random(seed));
    let raw: Vec<f32> = (0..DIMENSIONS).map(|_| centre.normal() + 0.8 * own.normal()).collect();
    let length = raw.iter().map(|x| x * x).sum::<f32>().sqrt();
    raw.into_iter().map(|x| x / length).collect()
}

#[async_trait]
impl Embedder for Centres {
    fn model(&self) -> &'static str {
        "centres"
    }

    async fn embed(&self, texts: &[&str], _: EmbedRole) -> Result<Vec<Vector>, LlmError> {
        Ok(texts.iter().map(|text| vector(text)).collect())
    }
}

/// Answers at once with four questions.
struct Quick;

#[async_trait]
impl Llm for Quick {
    fn model(&self) -> &'static str {
        "quick"
    }

    async fn chat(&self, _: &ChatRequest) -> Result<ChatReply, LlmError> {
        let text = "Who is it?\nWhat is it?\nWhere is it?\nWhen was it?\n".to_owned();
        Ok(ChatReply { text, ..ChatReply::default() })
    }
}

fn passages(file: &Path, count: usize) {
    let mut random = Random(42);
    let mut lines = String::new();
    for i in 0..count {
        let text = random.passage(100);
        let _ = writeln!(lines, "{{\"id\":\"p{i}\",\"title\":\"t{i}\",\"text\":\"{text}\"}}");
    }
    std::fs::write(file, lines).unwrap();
}

impl Random {
    /// Two words with capitals, one of some 20,000 names by Zipf's law.
    fn name(&mut self) -> String {
        #[expect(clippy::cast_precision_loss, reason = "31 bits of chance")]
        let uniform = self.next() as f64 / f64::from(1_u32 << 31);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rank")]
        let rank = (20_000_f64.powf(uniform)) as u64;
        named(rank)
    }
}

fn named(number: u64) -> String {
    let syllables = ["bar", "del", "fin", "gor", "hal", "kin", "lom", "mer", "nov", "sal"];
    let digit = |place: u32| syllables[usize::try_from(number / 10_u64.pow(place) % 10).unwrap()];
    let capital = |word: String| word[..1].to_uppercase() + &word[1..];
    let given = capital(format!("{}{}", digit(0), digit(1)));
    given + " " + &capital(format!("{}{}{}", digit(2), digit(3), digit(4)))
}

/// Passages as an encyclopaedia has them: a name as the title, some eight names in five sentences.
fn named_passages(file: &Path, count: usize) {
    let mut random = Random(42);
    let mut lines = String::new();
    for i in 0..count {
        let title = named(u64::try_from(i).unwrap());
        let mut text = String::new();
        for _ in 0..5 {
            let (words, names) = (random.passage(12), [random.name(), random.name()]);
            let _ = write!(text, "{} of {} by {title} {}. ", names[0], names[1], words.trim());
        }
        let _ = writeln!(lines, "{{\"id\":\"p{i}\",\"title\":\"{title}\",\"text\":\"{text}\"}}");
    }
    std::fs::write(file, lines).unwrap();
}

fn graph(c: &mut Criterion) {
    let runtime = Runtime::new().unwrap();
    let built = build_of(&runtime, (10_000, named_passages), true, Atoms::Sentences);
    let mut random = Random(11);
    let asked = |random: &mut Random| format!("{} {}", random.passage(6).trim(), random.name());
    let queries: Vec<Query> = (0..300).map(|_| query(&asked(&mut random), Mode::Graph)).collect();
    let began = Instant::now();
    runtime.block_on(built.base.search(&queries[0])).unwrap();
    println!("first graph search of 10,000 passages: {:?}", began.elapsed());
    let mut times: Vec<Duration> = queries
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

struct Built {
    base: Arc<Base>,
    report: IndexReport,
    _dir: tempfile::TempDir,
}

fn build(runtime: &Runtime, count: usize, embedder: bool, atoms: Atoms) -> Built {
    build_of(runtime, (count, passages), embedder, atoms)
}

fn build_of(
    runtime: &Runtime,
    (count, passages): (usize, fn(&Path, usize)),
    embedder: bool,
    atoms: Atoms,
) -> Built {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("passages.jsonl");
    passages(&file, count);
    let embedder: Option<Arc<dyn Embedder>> = if embedder { Some(Arc::new(Centres)) } else { None };
    let options = BaseOptions { embedder, ..BaseOptions::default() };
    let base = Base::create_or_open(&dir.path().join("base"), options).unwrap();
    let settings = KbSettings { atoms, ..KbSettings::default() };
    let setup = Arc::new(Setup {
        models: Models::new(Arc::new(Quick)),
        knowledge: Toy::empty(),
        prompts: Arc::new(Prompts::shipped(&[PROMPTS]).unwrap()),
    });
    let meter = Arc::new(Meter::unlimited());
    let report = runtime
        .block_on(halma_kb::index(
            &base,
            &[file],
            InputFormat::Auto,
            &settings,
            &setup,
            &meter,
            Arc::new(|_| ()),
        ))
        .unwrap();
    Built { base, report, _dir: dir }
}

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
    let mut found = 0;
    for text in &texts {
        let hits = runtime.block_on(built.base.search(&query(text, Mode::Dense))).unwrap();
        let asked = vector(text);
        let mut exact: Vec<f32> =
            nodes.iter().map(|node| node.iter().zip(&asked).map(|(a, b)| a * b).sum()).collect();
        exact.sort_unstable_by(|a, b| b.total_cmp(a));
        found += hits[0].iter().filter(|hit| hit.score >= exact[9] - 1e-6).count();
    }
    println!("recall@10 against exact f32: {found} of {}", texts.len() * 10);

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

fn index(_: &mut Criterion) {
    let runtime = Runtime::new().unwrap();
    type Write = fn(&Path, usize);
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

criterion_group!(benches, index, bm25, dense, graph);
criterion_main!(benches);
