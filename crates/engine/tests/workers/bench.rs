//! How much faster four workers are than one.
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use halma_engine::PhaseProgress;

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
        noted.lock().unwrap().push((step.stage.name(), Instant::now()));
    });
    let report = test.index_watched(&engine, false, progress).await.unwrap();
    assert_eq!((report.failed_units, report.pending_units), (0, 0), "{:?}", report.failure);
    let seen = seen.lock().unwrap();
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
