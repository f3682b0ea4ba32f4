//! Speed of the local embedder: time to open it, one query, and passages of some 130 tokens.
//!
//! `HALMA_MINILM_DIR=<folder> cargo bench -p halma-models --profile dev --bench embed`
#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]
use std::path::PathBuf;
use std::time::{Duration, Instant};

use halma_core::{EmbedRole, Embedder};
use halma_models::embed::minilm::{MiniLm, locate};

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
    let opening = times(20, || drop(MiniLm::open(&folder, None).expect("it opened before")));
    println!("open                     {opening}");
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let passages = passages(100);
    let passages: Vec<&str> = passages.iter().map(String::as_str).collect();
    for threads in [Some(1), None] {
        let label = threads.map_or("all threads".to_owned(), |count| format!("{count} thread"));
        let model = MiniLm::open(&folder, threads)?;
        let embed = |texts: &[&str], role| {
            drop(runtime.block_on(model.embed(texts, role)).expect("the texts are plain"));
        };
        let query = times(200, || embed(&[QUERY], EmbedRole::Query));
        println!("one query                {query}  ({label})");
        let hundred = times(6, || embed(&passages, EmbedRole::Passage));
        println!("100 passages             {hundred}  ({label})");
    }
    Ok(())
}

/// How long work takes. Other programs disturb the median; the fastest shows what is possible.
struct Times {
    median: Duration,
    fastest: Duration,
}

impl std::fmt::Display for Times {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "median {:>9.1?}, fastest {:>9.1?}", self.median, self.fastest)
    }
}

fn times(count: usize, mut work: impl FnMut()) -> Times {
    let mut taken: Vec<Duration> = (0..count)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed()
        })
        .collect();
    taken.sort();
    Times { median: taken[count / 2], fastest: taken[0] }
}

/// Passages of different words; 124 of these words are some 130 tokens.
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
            (0..124).map(word).collect::<Vec<_>>().join(" ")
        })
        .collect()
}
