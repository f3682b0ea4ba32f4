//! Speed of the local embedder and of the heads on it: time to open it, one query, passages of some
//! 130 tokens, and five passages of a question.
//!
//! `HALMA_MINILM_DIR=<folder> cargo bench -p halma-models --profile dev --bench embed`
#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use halma_core::{EmbedRole, Embedder, PassageReader as _};
use halma_models::embed::minilm::{LocalOptions, MiniLm, Precision, locate};
use halma_models::{Heads, HeadsFile};

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
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let passages = passages(100);
    let passages: Vec<&str> = passages.iter().map(String::as_str).collect();
    for precision in [Precision::F32, Precision::Int8] {
        println!("{precision:?}");
        let open = |threads| {
            MiniLm::open_with(&folder, LocalOptions { threads, precision, ..Default::default() })
        };
        // The first opening may have to make the graph.
        open(None)?;
        let opening = times(20, || drop(open(None).expect("it opened before")));
        println!("open                     {opening}");
        for threads in [Some(1), None] {
            let label = threads.map_or("all threads".to_owned(), |count| format!("{count} thread"));
            let model = open(threads)?;
            let embed = |texts: &[&str], role| {
                drop(runtime.block_on(model.embed(texts, role)).expect("the texts are plain"));
            };
            let query = times(200, || embed(&[QUERY], EmbedRole::Query));
            println!("one query                {query}  ({label})");
            let hundred = times(6, || embed(&passages, EmbedRole::Passage));
            println!("100 passages             {hundred}  ({label})");
        }
    }
    read(&folder, &passages[..5])
}

/// Five passages, each read alone, for questions that were not read before.
fn read(folder: &Path, passages: &[&str]) -> Result<(), Box<dyn std::error::Error>> {
    let heads = match Heads::new(HeadsFile::built_in()?, &MiniLm::open(folder, None)?) {
        Ok(heads) => heads,
        Err(error) => {
            println!("no heads: {error}");
            return Ok(());
        }
    };
    let start = Instant::now();
    heads.load()?;
    println!("load the heads           {:.1?}", start.elapsed());
    let mut count = 0;
    let five = times(20, || {
        count += 1;
        heads.read(&format!("{count}: {QUERY}"), passages).expect("the texts are plain");
    });
    println!("read five passages       {five}  (all threads)");
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
