//! How much faster four workers are than one, and how fast an empty replica is filled.
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use halma_engine::{Config, EmbedderKind, Engine, IndexOptions, IndexRun, PhaseProgress, Place};
use parking_lot::Mutex;

use crate::support::Test;

/// Calls of the model at a time, in each worker: few, so that the machine of the test is not the limit.
const CALLS: usize = 1;

/// Seconds in which this number of workers made the atoms of a base.
async fn seconds(workers: usize) -> Option<f64> {
    let test = Test::new(300, Duration::from_millis(50))?;
    let mut config = test.config();
    config.models.values_mut().for_each(|model| model.concurrency = CALLS);
    let _workers = test.workers_of(workers, &config);
    let engine = test.engine(config);
    let seen: Arc<Mutex<Vec<(&str, Instant)>>> = Arc::default();
    let noted = Arc::clone(&seen);
    let progress = Arc::new(move |step: PhaseProgress| {
        noted.lock().push((step.phase.name(), Instant::now()));
    });
    let report = test.index_watched(&engine, false, progress).await.unwrap();
    assert_eq!((report.failed_units, report.pending_units), (0, 0), "{:?}", report.failure);
    let seen = seen.lock();
    let mut atoms = seen.iter().filter(|(stage, _)| *stage == "atomizing").map(|(_, at)| *at);
    let first = atoms.next().unwrap();
    Some((atoms.next_back().unwrap() - first).as_secs_f64())
}

#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::print_stdout, reason = "it is what is measured")]
async fn four_workers_against_one() {
    // Measured when it is asked for: on a busy machine it says nothing.
    if std::env::var_os("HALMA_MEASURE").is_none() {
        return;
    }
    let (Some(one), Some(four)) = (seconds(1).await, seconds(4).await) else { return };
    println!("one worker {one:.2} s, four workers {four:.2} s: {:.2} times as fast", one / four);
}

/// Records of one chunk of about a hundred words each.
fn passages(count: usize) -> String {
    let mut lines = String::new();
    for number in 0..count {
        let words = (0..100).map(|at| {
            let word = (number * 7919 + at * at * 131 + at) % 9_973;
            format!(
                "{}{word:x}{}",
                ["ba", "ke", "lo", "mi"][word % 4],
                if at % 20 == 19 { "." } else { "" }
            )
        });
        let text = words.collect::<Vec<_>>().join(" ");
        let _ = writeln!(
            lines,
            "{{\"id\":\"p{number}\",\"title\":\"Passage {number}\",\"text\":\"{text}\"}}"
        );
    }
    lines
}

/// Seconds until a base at an address is open on a machine whose replica is in this folder.
async fn seconds_to_open(test: &Test, config: &Config, replica: &std::path::Path) -> f64 {
    let place = Place::new(test.address()).unwrap().with_replica(replica);
    let config = config.clone();
    let open = move || {
        let began = Instant::now();
        let engine = Engine::create_or_open_at(config, &place).unwrap();
        (began.elapsed().as_secs_f64(), engine.base().probe())
    };
    tokio::task::spawn_blocking(open).await.unwrap().0
}

#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::print_stdout, reason = "it is what is measured")]
async fn an_empty_replica_is_filled() {
    let Some(count) = std::env::var("HALMA_FILL").ok().and_then(|count| count.parse().ok()) else {
        return;
    };
    let Some(test) = Test::new(0, Duration::ZERO) else { return };
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("passages.jsonl");
    std::fs::write(&file, passages(count)).unwrap();
    let mut config = Config::default();
    config.embedder.kind = EmbedderKind::None;
    let engine = test.engine(config.clone());
    let progress: halma_engine::Progress = Arc::new(|_| ());
    let run = IndexRun::new(progress);
    engine.index_by(&[file], &IndexOptions::default(), run).await.unwrap();
    drop(engine);
    for round in 0..4 {
        let replica = dir.path().join(format!("replica{round}"));
        let whole = seconds_to_open(&test, &config, &replica).await;
        // Its lexical index alone.
        tokio::time::sleep(Duration::from_secs(1)).await;
        std::fs::remove_dir_all(replica.join("bm25")).unwrap();
        let indexed = seconds_to_open(&test, &config, &replica).await;
        #[expect(clippy::cast_precision_loss, reason = "a count of chunks")]
        let rate = count as f64 / (whole - indexed);
        println!(
            "{count} chunks: {whole:.2} s, of them the index {indexed:.2} s; {rate:.0} chunks/s"
        );
    }
}
