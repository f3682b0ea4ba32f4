//! The numbers of `docs/how-fast.md` that need a whole engine, printed as a table next to a
//! peer's figure on the same work. Run by `make bench`; arguments choose rows by a part of their
//! name (`cargo bench -p halma-cli --profile dev --bench numbers -- memory`).
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a bench prints and may stop")]
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::StreamExt as _;
use halma_core::{AnswerStyle, Event};
use halma_engine::{AskRequest, Engine, IndexOptions, load};
use halma_testkit::double::{Behaviour, Double, atomizer};
use serde_json::Value;

mod passages;
use passages::{two_hops, write_passages};

struct Row {
    what: &'static str,
    wanted: &'static str,
    peer: &'static str,
    run: fn(&tokio::runtime::Runtime) -> String,
}

const ROWS: &[Row] = &[
    Row {
        what: "index, atomizing at 0 ms, 1,000 passages",
        wanted: "≥ 1,000/s",
        peer: "PIKE-RAG 69, nano-graphrag 16, LightRAG 2",
        run: |rt| index(rt, "questions", Duration::ZERO, 1_000),
    },
    Row {
        what: "index, atomizing at 50 ms, 64 in flight, 1,000 passages",
        wanted: "≥ 800/s",
        peer: "PIKE-RAG 4, nano-graphrag 9, LightRAG 8",
        run: |rt| index(rt, "questions", Duration::from_millis(50), 1_000),
    },
    Row {
        what: "index without a model, 10,000 passages",
        wanted: "≥ 5,000/s",
        peer: "LangChain + FAISS 3,267, Haystack 1,225",
        run: |rt| index(rt, "none", Duration::ZERO, 10_000),
    },
    Row {
        what: "naive question at 0 ms, 1,000 passages, p50",
        wanted: "≤ 1.5 ms",
        peer: "LangChain 5.4, PIKE-RAG 6.6, LightRAG 156",
        run: |rt| question(rt, "naive", "graph"),
    },
    Row {
        what: "naive question, mode = dense",
        wanted: "≤ 1.5 ms",
        peer: "",
        run: |rt| question(rt, "naive", "dense"),
    },
    Row {
        what: "kar3 question with 6 calls at 0 ms, p50",
        wanted: "≤ 6 ms",
        peer: "PIKE-RAG 43",
        run: |rt| question(rt, "kar3", "graph"),
    },
    Row {
        what: "kar3 question, mode = dense",
        wanted: "≤ 6 ms",
        peer: "",
        run: |rt| question(rt, "kar3", "dense"),
    },
    Row {
        what: "kar3 questions with 6 calls at 0 ms, 64 at once, 1,000 passages",
        wanted: "≥ 300/s",
        peer: "PIKE-RAG 22",
        run: |rt| at_once(rt, "graph"),
    },
    Row {
        what: "kar3 questions, 64 at once, mode = dense",
        wanted: "≥ 300/s",
        peer: "",
        run: |rt| at_once(rt, "dense"),
    },
    Row {
        what: "dec question with 7 calls at 0 ms, 1,000 passages, p50",
        wanted: "≤ 10 ms",
        peer: "",
        run: |rt| question(rt, "dec", "graph"),
    },
    Row {
        what: "unirag question with 3 calls and 9 searches at 0 ms, 1,000 passages, p50",
        wanted: "≤ 10 ms",
        peer: "",
        run: |rt| question(rt, "unirag", "graph"),
    },
    Row {
        what: "unirag question, mode = dense",
        wanted: "≤ 10 ms",
        peer: "",
        run: |rt| question(rt, "unirag", "dense"),
    },
    Row {
        what: "auto: what telling the kind of question adds, offline, p50",
        wanted: "≤ 1 ms",
        peer: "",
        run: classifying,
    },
    Row {
        what: "halma ask, offline, demo base, whole process, p50",
        wanted: "≤ 0.5 s",
        peer: "2.3–18 s to a first answer",
        run: |_| whole_process(),
    },
    Row {
        what: "memory: peak of 10,000 passages indexed, local embedder",
        wanted: "≤ 400 MB",
        peer: "216–612 MB for 1,000",
        run: |_| memory(),
    },
];

fn main() {
    let chosen: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    println!("| what | wanted | measured | a peer |\n|---|---|---|---|");
    for row in ROWS {
        // The memory row takes minutes and runs only when it is asked for.
        let is_chosen = chosen.iter().any(|part| row.what.contains(part.as_str()));
        if is_chosen || (chosen.is_empty() && !row.what.starts_with("memory")) {
            println!("| {} | {} | {} | {} |", row.what, row.wanted, (row.run)(&runtime), row.peer);
        }
    }
}

fn engine(dir: &Path, url: &str, atoms: &str) -> Engine {
    let file = dir.join("halma.toml");
    let text = format!(
        "[kb]\natoms = \"{atoms}\"\nconcurrency = 64\n\
         [embedder]\nkind = \"endpoint\"\nurl = \"{url}\"\nmodel = \"double\"\n\
         chunk_threshold = -1.0\natom_threshold = -1.0\n\
         [models.double]\nurl = \"{url}\"\nmodel = \"double\"\nconcurrency = 64\n"
    );
    std::fs::write(&file, text).unwrap();
    Engine::create_or_open(load(Some(&file), vec![]).unwrap().config, &dir.join("base")).unwrap()
}

/// Passages a second, the best of three runs on a fresh base each.
fn index(rt: &tokio::runtime::Runtime, atoms: &str, latency: Duration, passages: usize) -> String {
    let run = || {
        let dir = tempfile::tempdir().unwrap();
        let input = write_passages(dir.path(), passages);
        let double = Double::start(Behaviour::with(atomizer()).latency(latency).unrecorded());
        let engine = engine(dir.path(), &double.url(), atoms);
        let began = Instant::now();
        let report = rt
            .block_on(engine.index(&[input], &IndexOptions::default(), Arc::new(|_| {})))
            .unwrap();
        assert_eq!(report.documents_new, passages);
        assert_eq!(report.failed_units, 0);
        began.elapsed().as_secs_f64()
    };
    let best = (0..3).map(|_| run()).fold(f64::INFINITY, f64::min);
    #[expect(clippy::cast_precision_loss, reason = "a count of passages")]
    let rate = passages as f64 / best;
    format!("{rate:.0}/s")
}

/// An engine over 1,000 passages, with a model that answers at once.
fn asked_of(rt: &tokio::runtime::Runtime, dir: &Path) -> (Engine, Double) {
    let input = write_passages(dir, 1_000);
    let indexing = Double::start(Behaviour::with(atomizer()).unrecorded());
    let base = engine(dir, &indexing.url(), "questions");
    rt.block_on(base.index(&[input], &IndexOptions::default(), Arc::new(|_| {}))).unwrap();
    drop(base);
    let double = Double::start(Behaviour::replying(two_hops()).unrecorded());
    (engine(dir, &double.url(), "questions"), double)
}

fn request(question: String, strategy: &str, settings: BTreeMap<String, Value>) -> AskRequest {
    // The papers' methods end with the answer; a sentence with its sources would be one more call.
    let answer_style = Some(AnswerStyle::Short);
    let strategy = Some(strategy.into());
    AskRequest { strategy, settings, answer_style, ..AskRequest::new(question) }
}

fn in_mode(mode: &str) -> BTreeMap<String, Value> {
    BTreeMap::from([("mode".to_owned(), mode.into())])
}

/// Questions a second, 64 at once, the best of three runs.
fn at_once(rt: &tokio::runtime::Runtime, mode: &str) -> String {
    const QUESTIONS: usize = 1_000;
    let dir = tempfile::tempdir().unwrap();
    let (engine, _double) = asked_of(rt, dir.path());
    let run = |round: usize| {
        let results = (0..QUESTIONS).map(|i| {
            let text = format!("Where was the maker of thing number {i} of lot {round} born?");
            let engine = &engine;
            async move {
                let result = engine.ask(request(text, "kar3", in_mode(mode))).await.unwrap();
                assert_eq!(result.outcome.trace.usage().llm_calls, 6);
                result.outcome.answer.unwrap();
            }
        });
        let began = Instant::now();
        rt.block_on(futures::stream::iter(results).buffer_unordered(64).collect::<Vec<()>>());
        began.elapsed().as_secs_f64()
    };
    let best = (0..3).map(run).fold(f64::INFINITY, f64::min);
    #[expect(clippy::cast_precision_loss, reason = "a count of questions")]
    let rate = QUESTIONS as f64 / best;
    format!("{rate:.0}/s")
}

/// The median time of a question over 1,000 passages with a model that answers at once.
fn question(rt: &tokio::runtime::Runtime, strategy: &str, mode: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    let (engine, _double) = asked_of(rt, dir.path());
    let expected = match strategy {
        "kar3" => 6,
        // A plan of two, keywords and an answer for each, one rewriting, one closing answer.
        "dec" => 7,
        // Sub-queries, an answer, a judgement that accepts it.
        "unirag" => 3,
        _ => 1,
    };
    let mut times = vec![];
    for i in 0..300 {
        // Another text each time, so that no reply comes from the cache.
        let text = format!("Where was the maker of thing number {i} born?");
        let result = rt.block_on(engine.ask(request(text, strategy, in_mode(mode)))).unwrap();
        let calls = result.outcome.trace.usage().llm_calls;
        assert_eq!(calls, expected);
        result.outcome.answer.unwrap();
        times.push(result.elapsed_ms);
    }
    format!("{:.2} ms", median(times))
}

/// The search and the call that come before `auto` goes its way.
fn classifying(rt: &tokio::runtime::Runtime) -> String {
    let dir = tempfile::tempdir().unwrap();
    let (_, double) = asked_of(rt, dir.path());
    let file = dir.path().join("offline.toml");
    let url = double.url();
    let text = format!("[embedder]\nkind = \"endpoint\"\nurl = \"{url}\"\nmodel = \"double\"\n");
    std::fs::write(&file, text).unwrap();
    let config = load(Some(&file), vec![]).unwrap().config;
    let engine = Engine::open(config, &dir.path().join("base")).unwrap();
    let mut times = vec![];
    for i in 0..300 {
        let text = format!("Where was the maker of thing number {i} born?");
        let result = rt.block_on(engine.ask(request(text, "auto", BTreeMap::new()))).unwrap();
        let (mut took, mut told) = (0.0, false);
        for event in &result.outcome.trace.0 {
            match event {
                Event::Searched { elapsed_ms, .. } if !told => took += elapsed_ms,
                Event::ModelCalled { prompt, elapsed_ms, .. } if &**prompt == "auto/classify" => {
                    took += elapsed_ms;
                    told = true;
                }
                _ => {}
            }
        }
        assert!(told, "auto asks what kind of question it is");
        times.push(took);
    }
    format!("{:.2} ms", median(times))
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn halma() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_halma"));
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn whole_process() -> String {
    let dir = tempfile::tempdir().unwrap();
    let demo = dir.path().join("demo");
    let made = halma().args(["demo", "--smoke", "--dir"]).arg(&demo).status().unwrap();
    assert!(made.success(), "the demo runs");
    let mut times = vec![];
    for _ in 0..15 {
        let began = Instant::now();
        let ask = ["ask", "In which city is the company that makes Erelzi based?", "--kb"];
        assert!(halma().args(ask).arg(demo.join("base")).status().unwrap().success());
        times.push(began.elapsed().as_secs_f64() * 1e3);
    }
    format!("{:.0} ms", median(times))
}

/// The kernel's own high-water mark of the child's resident memory, looked at while it runs.
fn memory() -> String {
    let dir = tempfile::tempdir().unwrap();
    let input = write_passages(dir.path(), 10_000);
    let mut child = halma()
        .args(["index", "--atoms", "none", "--kb"])
        .arg(dir.path().join("base"))
        .arg(input)
        .spawn()
        .unwrap();
    let status = format!("/proc/{}/status", child.id());
    let (mut peak_kb, began) = (0, Instant::now());
    while child.try_wait().unwrap().is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let now = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
        peak_kb = peak_kb.max(now.unwrap_or(0));
        std::thread::sleep(Duration::from_millis(50));
    }
    format!("{} MB in {:.0} s", peak_kb / 1024, began.elapsed().as_secs_f64())
}
