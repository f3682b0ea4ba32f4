//! The overhead of the server and its capacity: `cargo bench -p halma-server --profile dev --bench
//! serve`. Client and server share the machine, so each figure covers both.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a bench prints, and may stop")]
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::join_all;
use halma_core::Mode;
use halma_engine::{AskRequest, Config, EmbedderKind, Engine, IndexOptions, Loaded, SearchRequest};
use halma_server::{ServeOptions, Server, ServerLock};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

const PASSAGES: usize = 10_000;
const STREAMS: usize = 1_000;
/// Both ends of each are open files of this process, of which systems allow some 20,000.
const IDLE: usize = 9_000;

#[tokio::main]
async fn main() {
    let dir = tempfile::tempdir().unwrap();
    let mut config = Config::default();
    config.embedder.kind = EmbedderKind::None;
    config.kb.atoms = serde_json::from_value(json!("none")).unwrap();
    config.serve.addr = "127.0.0.1:0".into();
    config.serve.header_seconds = 300.0;
    let engine = Engine::create_or_open(config.clone(), dir.path()).unwrap();
    let library = dir.path().join("passages.jsonl");
    std::fs::write(&library, passages()).unwrap();
    let no_progress = Arc::new(|_| ());
    engine.index(&[library], &IndexOptions::default(), no_progress).await.unwrap();

    let library = latencies(500, |n| {
        let engine = &engine;
        async move {
            let strategy = Some("direct".to_owned());
            engine.ask(AskRequest { strategy, ..AskRequest::new(question(n)) }).await.unwrap();
        }
    })
    .await;
    let searched = latencies(500, |n| {
        let engine = &engine;
        async move { drop(engine.search(query(n)).await.unwrap()) }
    })
    .await;
    let loaded = Loaded { config, origins: BTreeMap::new(), file: None };
    let lock = ServerLock::take(dir.path()).unwrap();
    let options =
        ServeOptions { loaded, engine, dir: dir.path().to_owned(), demo: None, insecure: false };
    let server = Server::bind(options, lock).await.unwrap();
    let url = format!("http://{}", server.addr());
    let address = server.addr();
    tokio::spawn(server.run(std::future::pending()));
    // Without a server that speaks https nobody else installs one.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let post = |path: &str, body: serde_json::Value| {
        let request = client.post(format!("{url}{path}")).json(&body);
        async move {
            let response = request.send().await.unwrap();
            assert!(response.status().is_success());
            response.text().await.unwrap()
        }
    };
    let ask = |n: usize, strategy: &str, stream: bool| {
        post(
            "/api/v1/ask",
            json!({"question": question(n), "strategy": strategy, "stream": stream}),
        )
    };
    let over_http = latencies(500, |n| {
        let asking = ask(n, "direct", false);
        async { drop(asking.await) }
    })
    .await;
    println!("ask, library: p50 {:.2} ms; over HTTP: {:.2} ms", p(&library, 50), p(&over_http, 50));

    for strategy in ["direct", "naive"] {
        let started = Instant::now();
        let running = (0..STREAMS).map(|n| {
            let asking = ask(n, strategy, true);
            tokio::spawn(async move {
                let started = Instant::now();
                assert!(asking.await.contains("event: answer\n"));
                started.elapsed().as_secs_f64() * 1e3
            })
        });
        let mut times: Vec<f64> = join_all(running).await.into_iter().map(Result::unwrap).collect();
        times.sort_by(f64::total_cmp);
        println!(
            "{STREAMS} SSE asks at once, {strategy}: p50 {:.0} ms, p95 {:.0} ms, all in {:.2} s; {} MB",
            p(&times, 50),
            p(&times, 95),
            started.elapsed().as_secs_f64(),
            megabytes()
        );
    }

    let search = |n: usize| {
        post("/api/v1/search", json!({"text": question(n), "mode": "hybrid", "limit": 10}))
    };
    let started = Instant::now();
    let workers = (0..32_usize).map(|worker| {
        let search = &search;
        async move {
            for n in 0..100 {
                search(worker * 100 + n).await;
            }
        }
    });
    join_all(workers).await;
    let rate = 3_200.0 / started.elapsed().as_secs_f64();
    println!(
        "search of {PASSAGES} passages, library: p50 {:.2} ms; over HTTP, 32 at a time: \
         {rate:.0} requests/s",
        p(&searched, 50)
    );
    idle(address).await;
}

/// Holds idle connections open and checks that they are served afterwards.
async fn idle(address: SocketAddr) {
    let before = megabytes();
    let mut streams = vec![];
    for _ in 0..IDLE {
        match TcpStream::connect(address).await {
            Ok(stream) => streams.push(stream),
            Err(e) => {
                println!("the system allows no more open files: {e}; `ulimit -n` raises it");
                // Both ends are in this process: the server needs some to accept what waits.
                streams.truncate(streams.len().saturating_sub(100));
                break;
            }
        }
    }
    tokio::time::sleep(Duration::from_secs(2)).await;
    let opened = streams.len();
    let mut served = 0;
    for stream in &mut streams {
        let request = format!("GET /api/v1/health HTTP/1.1\r\nhost: {address}\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).await.unwrap();
        served += usize::from(&answer == b"HTTP/1.1 200");
    }
    println!(
        "{opened} idle connections: {served} served; {} MB more",
        megabytes().saturating_sub(before)
    );
}

fn passages() -> String {
    let mut lines = String::new();
    for n in 0..PASSAGES {
        let text = format!(
            "Tower {n} stands on reef {}. It was first lit in {} and is {} metres high. Its keeper \
             is number {}.",
            n % 97,
            1_500 + n % 500,
            n % 60,
            n * 7 % 1_009
        );
        let line = json!({"id": format!("t{n}"), "title": format!("Tower {n}"), "text": text});
        writeln!(lines, "{line}").unwrap();
    }
    lines
}

fn question(n: usize) -> String {
    format!("When was tower {} on reef {} first lit?", n * 31 % PASSAGES, n % 97)
}

fn query(n: usize) -> SearchRequest {
    let (mode, limit) = (Some(Mode::Hybrid), Some(10));
    SearchRequest { text: question(n), mode, limit, ..SearchRequest::default() }
}

/// Sorted latencies in milliseconds of sequential calls.
async fn latencies<F: Future<Output = ()>>(count: usize, one: impl Fn(usize) -> F) -> Vec<f64> {
    let mut times = vec![];
    for n in 0..count {
        let started = Instant::now();
        one(n).await;
        times.push(started.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    times
}

fn p(sorted: &[f64], percent: usize) -> f64 {
    sorted[(sorted.len() * percent / 100).min(sorted.len() - 1)]
}

/// Resident memory of the process, where the system reports it.
fn megabytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().split(' ').next()?.parse::<u64>().ok());
    kilobytes.unwrap_or_default() / 1_000
}
