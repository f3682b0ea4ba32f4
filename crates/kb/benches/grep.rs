//! Regular expressions over passages, each with a number of its own, so that the dictionary has more
//! terms than there are passages. Prints for each expression the median and the slowest time of some
//! tries, how many passages match, and what was not read. `HALMA_SCALE=1000000` chooses how many
//! passages there are.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a bench prints and may stop")]
mod common;

use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;

use common::{Random, build_of};
use halma_core::{Filter, PassageQuery, Which};
use halma_kb::Atoms;
use tokio::runtime::Runtime;

const TRIES: usize = 7;

/// Whole words, parts of words, numbers, alternatives, nothing that could be looked up.
const EXPRESSIONS: [&str; 12] = [
    r"Code KX-0004711\b",
    "KX-00047",
    r"KX-\d+4711\b",
    r"Barfin \w+ of",
    "(?i)BARFIN",
    "Mersal|Novkin",
    "fin",
    r"\bthe\b",
    r"Code KX-\d+",
    r"\d{9}",
    r"[^ ]{40}",
    r"(\w+\s+){20}zzz",
];

fn passages(file: &Path, count: usize) {
    let (mut random, mut lines) = (Random(42), String::new());
    for i in 0..count {
        let (words, names) = (random.passage(80), [random.name(), random.name()]);
        let text = format!("{} of {} {words} Code KX-{i:07}.", names[0], names[1]);
        let _ =
            writeln!(lines, "{{\"id\":\"p{i}\",\"title\":\"{}\",\"text\":\"{text}\"}}", names[0]);
    }
    std::fs::write(file, lines).unwrap();
}

fn main() {
    let count = std::env::var("HALMA_SCALE").map_or(100_000, |count| count.parse().unwrap());
    let runtime = Runtime::new().unwrap();
    let began = Instant::now();
    let built = build_of(&runtime, (count, passages), false, Atoms::None);
    println!("{count} passages indexed in {:.0?}", began.elapsed());
    for expression in EXPRESSIONS {
        let which = Which::Matching(expression.to_owned());
        let query = PassageQuery { which, limit: 8, filter: Filter::default() };
        let mut times = vec![];
        let mut result = None;
        for _ in 0..TRIES {
            let began = Instant::now();
            result = Some(built.base.find_passages(&query).unwrap());
            times.push(began.elapsed());
        }
        times.sort();
        let result = result.unwrap();
        let limitation = result.limitation.unwrap_or_default();
        let (median, slowest) = (times[TRIES / 2], times[TRIES - 1]);
        println!("{expression:24} {median:>9.1?} {slowest:>9.1?} {:>7} {limitation}", result.total);
    }
}
