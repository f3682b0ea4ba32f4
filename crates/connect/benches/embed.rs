//! Speed of the local embedder: time to open it, one query, and passages of some 130 tokens.
//!
//! `HALMA_MINILM_DIR=<folder> cargo bench -p halma-connect --profile dev --bench embed`
#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]
use std::path::PathBuf;
use std::time::{Duration, Instant};

use halma_connect::embed::minilm::{MiniLm, locate};
use halma_core::{EmbedRole, Embedder};

/// Twelve words, as questions have them.
const QUERY: &str = "Which river flows through the city where the composer was born in?";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let given = std::env::var_os("HALMA_MINILM_DIR").map(PathBuf::from);
    let folder = match locate(given.as_deref()) {
        Ok(folder) => folder,
        Err(error) => {
            println!("skipped: {error}");
            return Ok(());
        }
    };
    // The first opening may have to make the graph.
    MiniLm::open(&folder, None)?;
    let opening = median(20, || drop(MiniLm::open(&folder, None).expect("it opened before")));
    println!("open                      {opening:>10.1?}");
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let passages = passages(600);
    let passages: Vec<&str> = passages.iter().map(String::as_str).collect();
    for threads in [Some(1), None] {
        let label = threads.map_or("all threads".to_owned(), |count| format!("{count} thread"));
        let opened = Instant::now();
        let model = MiniLm::open(&folder, threads)?;
        let embed = |texts: &[&str], role| runtime.block_on(model.embed(texts, role));
        embed(&[QUERY], EmbedRole::Query)?;
        println!("open and first query      {:>10.1?}  ({label})", opened.elapsed());
        let one = median(200, || drop(embed(&[QUERY], EmbedRole::Query)));
        println!("one query, median         {one:>10.1?}  ({label})");
        let start = Instant::now();
        let vectors = embed(&passages, EmbedRole::Passage)?;
        #[expect(clippy::cast_precision_loss, reason = "hundreds of passages")]
        let speed = vectors.len() as f64 / start.elapsed().as_secs_f64();
        println!("passages of ~130 tokens   {speed:>8.1}/s  ({label})");
    }
    Ok(())
}

fn median(times: usize, mut work: impl FnMut()) -> Duration {
    let mut taken: Vec<Duration> = (0..times)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed()
        })
        .collect();
    taken.sort();
    taken[times / 2]
}

/// Passages of different words; 105 of these words are some 130 tokens.
fn passages(count: usize) -> Vec<String> {
    let words = [
        "the",
        "river",
        "Danube",
        "flows",
        "through",
        "old",
        "cities",
        "where",
        "merchants",
        "of",
        "salt",
        "and",
        "timber",
        "built",
        "bridges",
        "in",
        "the",
        "fourteenth",
        "century",
        "Regensburg",
        "remained",
        "a",
        "trading",
        "place",
        "until",
        "Napoleon",
        "dissolved",
        "it",
    ];
    (0..count)
        .map(|passage| {
            let word = |at: usize| words[(at * (passage % 7 + 1) + passage * 3) % words.len()];
            (0..105).map(word).collect::<Vec<_>>().join(" ")
        })
        .collect()
}
