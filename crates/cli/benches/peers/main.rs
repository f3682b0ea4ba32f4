//! Halma and `LangChain` with FAISS on the same work, side by side in one run. Processes of either: the
//! program, and this one, which is the model server (at 0 ms, vectors of 384 dimensions over HTTP) and
//! for Halma also the client. `make bench-peers` runs it; the peer takes part where `HALMA_PEERS` is
//! a Python with the packages that `langchain.py` imports. Other passages are indexed where
//! `HALMA_PASSAGES` names a JSONL file of records with `id` and `text`.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a bench prints and may stop")]
mod client;
#[path = "../passages/mod.rs"]
mod passages;

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use client::{Client, Method, Served};
use halma_testkit::double::{Behaviour, Double};
use passages::{two_hops, write_passages};

/// Rounds: the peer and Halma take turns, so that what else the machine does hits both.
const ROUNDS: usize = 3;
/// Passages that are indexed, and those that questions are about.
const INDEXED: usize = 10_000;
const SEARCHED: usize = 1_000;
/// Questions one after the other, and at once.
const QUESTIONS: usize = 200;
const TOGETHER: usize = 600;
const AT_ONCE: usize = 16;

/// Strategies, modes of search and styles of answers. The first is what the peer does.
const ASKED_HOW: [(&str, &str, &str); 5] = [
    ("naive", "dense", "short"),
    ("naive", "dense", "full"),
    ("naive", "graph", "full"),
    ("kar3", "dense", "full"),
    ("kar3", "graph", "full"),
];

fn main() {
    let double = Double::start(Behaviour::replying(two_hops()).unrecorded());
    let peer = std::env::var_os("HALMA_PEERS").filter(|named| !named.is_empty());
    let peer = peer.map(std::path::PathBuf::from);
    if peer.is_none() {
        println!("`HALMA_PEERS` names no Python with LangChain: Halma alone\n");
    }
    println!("| round | what | halma | LangChain + FAISS |\n|---|---|---|---|");
    for round in 1..=ROUNDS {
        let dir = tempfile::tempdir().unwrap();
        let large = own_passages(dir.path()).unwrap_or_else(|| write_passages(dir.path(), INDEXED));
        let row = |what: &str, ours: &str, other: &str| {
            println!("| {round} | {what} | {ours} | {other} |");
        };
        let large = large.to_str().unwrap();
        let ours = index(dir.path(), &double.url(), large);
        let theirs =
            peer.as_ref().map(|python| langchain(python, &double.url(), "index", &[large]));
        let theirs = theirs.unwrap_or_default();
        let other = |key: &str| theirs.get(key).map_or("", String::as_str);
        let what = format!("index {INDEXED} passages without atoms");
        row(&format!("{what}; the peer: vectors only"), &ours, other("vectors"));
        row(&format!("{what}; the peer: with BM25"), &ours, other("both"));
        drop(dir);

        let dir = tempfile::tempdir().unwrap();
        let small = write_passages(dir.path(), SEARCHED);
        let small = small.to_str().unwrap();
        index(dir.path(), &double.url(), small);
        let server = Server::start(dir.path());
        let counts = [QUESTIONS.to_string(), TOGETHER.to_string(), AT_ONCE.to_string()];
        let counts: Vec<&str> = counts.iter().map(String::as_str).collect();
        let other = peer.as_ref().map(|python| {
            langchain(python, &double.url(), "ask", &[&[small], counts.as_slice()].concat())
        });
        for (strategy, mode, style) in ASKED_HOW {
            let method = Method { strategy, mode, style };
            let Served { p50, calls, rate, cpu } = server.ask(method, round);
            let what =
                format!("`{strategy}` ({mode}, {style}), {calls:.0} calls: p50; {AT_ONCE} at once");
            let ours = format!("{p50:.2} ms; {rate:.0}/s, {cpu:.2} ms CPU of the server each");
            let other = other.as_ref().filter(|_| ASKED_HOW[0] == (strategy, mode, style));
            let other = other.map(|o| format!("{}; {}", o["p50"], o["rate"]));
            row(&what, &ours, &other.unwrap_or_default());
        }
    }
}

/// The first passages of the JSONL file that `HALMA_PASSAGES` names, in `dir`.
fn own_passages(dir: &Path) -> Option<std::path::PathBuf> {
    let named = std::env::var_os("HALMA_PASSAGES").filter(|named| !named.is_empty())?;
    let text = std::fs::read_to_string(&named).unwrap();
    let path = dir.join("passages.jsonl");
    let lines: Vec<&str> = text.lines().take(INDEXED).collect();
    std::fs::write(&path, lines.join("\n")).unwrap();
    Some(path)
}

fn halma() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_halma"));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// The configuration of a base in `dir`.
fn configure(dir: &Path, url: &str) {
    let text = format!(
        "[kb]\natoms = \"none\"\nconcurrency = 64\n[embedder]\nkind = \"endpoint\"\n\
         url = \"{url}\"\nmodel = \"double\"\nchunk_threshold = -1.0\natom_threshold = -1.0\n\
         [models.double]\nurl = \"{url}\"\nmodel = \"double\"\nconcurrency = 64\n"
    );
    std::fs::write(dir.join("halma.toml"), text).unwrap();
}

/// Indexes into a fresh base; the process from its start to its end.
fn index(dir: &Path, url: &str, passages: &str) -> String {
    configure(dir, url);
    let count = std::fs::read_to_string(passages).unwrap().lines().count();
    let before = client::children_cpu();
    let began = Instant::now();
    let mut command = halma();
    command.args(["index", passages, "--kb"]).arg(dir.join("base"));
    command.arg("--config").arg(dir.join("halma.toml"));
    assert!(command.status().unwrap().success(), "`halma index` failed");
    let (seconds, cpu) = (began.elapsed().as_secs_f64(), client::children_cpu() - before);
    #[expect(clippy::cast_precision_loss, reason = "a count of passages")]
    let count = count as f64;
    format!("{:.0}/s, {:.0} µs CPU each", count / seconds, cpu * 1e6 / count)
}

/// What the peer's script prints: `key value` a line.
fn langchain(
    python: &Path,
    url: &str,
    work: &str,
    arguments: &[&str],
) -> std::collections::HashMap<String, String> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/peers/langchain.py");
    let mut command = Command::new(python);
    command.arg(script).arg(url).arg(work).args(arguments).stderr(Stdio::null());
    let output = command.output().unwrap();
    assert!(output.status.success(), "`{}` did not run {script}", python.display());
    let text = String::from_utf8(output.stdout).unwrap();
    let pair = |line: &str| line.split_once(' ').map(|(k, v)| (k.to_owned(), v.to_owned()));
    text.lines().filter_map(pair).collect()
}

/// `halma serve` over a base; ended when dropped.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(dir: &Path) -> Self {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = free.local_addr().unwrap();
        drop(free);
        let mut command = halma();
        command.args(["serve", "--port", &address.port().to_string(), "--kb"]);
        command.arg(dir.join("base")).arg("--config").arg(dir.join("halma.toml"));
        let server = Self { child: command.spawn().unwrap(), address: address.to_string() };
        let ready = || Client::new(&server.address).is_ok_and(|mut c| c.is_healthy());
        for _ in 0..200 {
            if ready() {
                return server;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        panic!("`halma serve` did not start on {address}");
    }

    /// Questions of one strategy, one after the other and at once.
    fn ask(&self, method: Method, round: usize) -> Served {
        let text = |part: &str, i: usize| {
            format!(
                "Where was the maker of thing number {i} of lot {part} {round} {} born?",
                method.style
            )
        };
        let mut client = Client::new(&self.address).unwrap();
        for i in 0..10 {
            client.ask(&text("warm", i), method);
        }
        let mut times = vec![];
        let mut calls = 0;
        for i in 0..QUESTIONS {
            let began = Instant::now();
            calls += client.ask(&text("one", i), method);
            times.push(began.elapsed().as_secs_f64() * 1e3);
        }
        times.sort_by(f64::total_cmp);
        let before = client::cpu_of(self.child.id());
        let began = Instant::now();
        std::thread::scope(|scope| {
            for start in 0..AT_ONCE {
                scope.spawn(move || {
                    let mut client = Client::new(&self.address).unwrap();
                    for i in (start..TOGETHER).step_by(AT_ONCE) {
                        client.ask(&text("many", i), method);
                    }
                });
            }
        });
        let seconds = began.elapsed().as_secs_f64();
        let cpu = client::cpu_of(self.child.id()) - before;
        #[expect(clippy::cast_precision_loss, reason = "counts of questions")]
        let (questions, together) = (QUESTIONS as f64, TOGETHER as f64);
        Served {
            p50: times[times.len() / 2],
            #[expect(clippy::cast_precision_loss, reason = "a count of calls")]
            calls: calls as f64 / questions,
            rate: together / seconds,
            cpu: cpu * 1e3 / together,
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
