//! A knowledge graph of a million facts: loading its file, bringing it into memory, finding an
//! entity, relating it both ways, filtering ten thousand.
//!
//! `cargo bench -p halma-sources --profile dev --bench kg`
#![expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a bench prints and may stop")]
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use halma_core::EntityId;
use halma_sources::kg::{KgGraphs, KgLoad};

/// Ten facts each.
const ENTITIES: usize = 100_000;
const QUERIES: usize = 1_000;

fn main() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("million.nt");
    std::fs::write(&file, written()).unwrap();
    let facts = ENTITIES * 10;
    let graphs = KgGraphs::at(dir.path().join("kg"), "en");
    let began = (Instant::now(), used());
    let loaded = graphs.load(&file, &KgLoad::default()).unwrap();
    rate("load a file (read, sort, keep, index)", loaded.facts, began);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let graph = graphs.facts();
    let began = (Instant::now(), used());
    let entities = runtime.block_on(graph.find("Harbour 77", None, 5)).unwrap();
    assert_eq!(entities.len(), 1);
    rate("bring it into memory, at the first question", facts, began);
    timed("find by label", |at| {
        let name = format!("Harbour {}", spread(at));
        assert_eq!(runtime.block_on(graph.find(&name, None, 5)).unwrap().len(), 1);
    });
    timed("find by words with a descriptor", |at| {
        let name = format!("{} harbour", spread(at));
        assert!(!runtime.block_on(graph.find(&name, Some("place"), 5)).unwrap().is_empty());
    });
    for (what, words) in [
        ("relate, an attribute", "height"),
        ("relate, from head to tail", "neighbour"),
        ("relate, from tail to heads", "neighbour of"),
        ("relate, what the graph does not have", "composer"),
    ] {
        timed(what, |at| {
            let _ = runtime.block_on(graph.relate(&entity(spread(at)), words)).unwrap();
        });
    }
    let ids: Vec<EntityId> = (0..10_000).map(entity).collect();
    let began = Instant::now();
    let kept = runtime.block_on(graph.filter(&ids, "height over 400 m")).unwrap().unwrap();
    println!("filter 10,000 entities: {:.1?}, {} kept", began.elapsed(), kept.len());
}

fn spread(at: usize) -> usize {
    (at * 7_919) % ENTITIES
}

fn entity(at: usize) -> EntityId {
    EntityId(format!("http://a.example/thing/{at}"))
}

fn rate(what: &str, facts: usize, (began, cpu): (Instant, f64)) {
    let (took, cpu) = (began.elapsed(), used() - cpu);
    let a_second = |seconds: f64| facts as f64 / seconds / 1e3;
    println!(
        "{what}: {took:.2?}, {:.0} thousand facts a second; {cpu:.2} s of processor, {:.0} thousand",
        a_second(took.as_secs_f64()),
        a_second(cpu)
    );
}

/// Seconds of processor that this process has used, on Linux: on a machine that is shared they
/// tell more than the clock.
fn used() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let ticks = stat.rsplit(") ").next().into_iter().flat_map(str::split_whitespace);
    ticks.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// The median and the slowest of many.
fn timed(what: &str, work: impl Fn(usize)) {
    let mut took: Vec<Duration> = (0..QUERIES)
        .map(|at| {
            let began = Instant::now();
            work(at);
            began.elapsed()
        })
        .collect();
    took.sort_unstable();
    println!("{what}: p50 {:.1?}, p99 {:.1?}", took[QUERIES / 2], took[QUERIES * 99 / 100]);
}

fn written() -> String {
    let label = "<http://www.w3.org/2000/01/rdf-schema#label>";
    let number = "^^<http://www.w3.org/2001/XMLSchema#integer>";
    let date = "^^<http://www.w3.org/2001/XMLSchema#date>";
    let class = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://a.example/class/place>";
    let alias = "<http://www.w3.org/2004/02/skos/core#altLabel>";
    let thing = |at: usize| format!("<http://a.example/thing/{}>", at % ENTITIES);
    let property = |name: &str| format!("<http://a.example/property/{name}>");
    let mut text = String::new();
    for at in 0..ENTITIES {
        let it = thing(at);
        let _ = writeln!(text, "{it} {class} .");
        let _ = writeln!(text, "{it} {label} \"Harbour {at}\"@en .");
        let _ = writeln!(text, "{it} {alias} \"Port {at}\"@en .");
        for (name, step) in [("neighbour", 1), ("founder", 17), ("ownedBy", 4_099), ("twin", 333)] {
            let _ = writeln!(text, "{it} {} {} .", property(name), thing(at + step));
        }
        let _ = writeln!(text, "{it} {} \"{}\"{number} .", property("height"), at % 500);
        let _ = writeln!(text, "{it} {} \"{}\"{number} .", property("depth"), at % 60);
        let year = 1700 + at % 300;
        let _ = writeln!(text, "{it} {} \"{year}-05-01\"{date} .", property("opened"));
    }
    text
}
