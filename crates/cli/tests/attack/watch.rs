//! What an attack costs everyone else, measured while it runs.
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::server::{OTHER, Victim};

/// Between two checks.
const EVERY: Duration = Duration::from_millis(20);

#[derive(Debug, Clone, Default)]
pub(crate) struct Costs {
    /// Milliseconds of each health check.
    pub(crate) health: Vec<f64>,
    /// Milliseconds of each search in another workspace.
    pub(crate) other: Vec<f64>,
    /// Checks without an answer.
    pub(crate) failed: usize,
    /// The most memory, in bytes.
    pub(crate) server_bytes: u64,
    pub(crate) worker_bytes: u64,
}

pub(crate) struct Watch;

impl Watch {
    /// Runs the attack and watches the server until it is over.
    pub(crate) fn over<T: Send>(victim: &Victim, attack: impl FnOnce() -> T + Send) -> (T, Costs) {
        let ended = AtomicBool::new(false);
        let running = || !ended.load(Ordering::Acquire);
        std::thread::scope(|scope| {
            let health = scope.spawn(|| repeat(&running, || victim.health() == Some(200)));
            let other = scope.spawn(|| {
                let query = json!({"text": "Velby"});
                repeat(&running, || victim.post_in(OTHER, "/api/v1/search", &query).status == 200)
            });
            let memory = scope.spawn(|| {
                let mut most = (0, 0);
                while running() {
                    let (server, workers) = victim.memory();
                    most = (server.max(most.0), workers.max(most.1));
                    std::thread::sleep(EVERY);
                }
                most
            });
            let attack = scope.spawn(|| {
                lower_priority();
                attack()
            });
            let result = attack.join().unwrap();
            std::thread::sleep(Duration::from_millis(300));
            ended.store(true, Ordering::Release);
            let (health, failed) = health.join().unwrap();
            let (other, others_failed) = other.join().unwrap();
            let (server_bytes, worker_bytes) = memory.join().unwrap();
            let failed = failed + others_failed;
            (result, Costs { health, other, failed, server_bytes, worker_bytes })
        })
    }
}

/// Lets the server and those who watch it run before this thread and those that it starts: real
/// attackers have machines of their own.
fn lower_priority() {
    let Ok(task) = std::fs::read_link("/proc/thread-self") else { return };
    let Some(id) = task.file_name() else { return };
    let lowered = Command::new("renice").args(["-n", "10", "-p"]).arg(id).output();
    assert!(lowered.is_ok_and(|done| done.status.success()), "`renice` does not work");
}

/// Milliseconds of each try, and how many failed.
fn repeat(running: &impl Fn() -> bool, works: impl Fn() -> bool) -> (Vec<f64>, usize) {
    let (mut times, mut failed) = (vec![], 0);
    while running() {
        let start = Instant::now();
        if !works() {
            failed += 1;
        }
        times.push(start.elapsed().as_secs_f64() * 1e3);
        std::thread::sleep(EVERY);
    }
    (times, failed)
}

pub(crate) fn percentile(times: &[f64], percent: usize) -> f64 {
    let mut times = times.to_vec();
    times.sort_by(f64::total_cmp);
    times
        .get((times.len() * percent / 100).min(times.len().saturating_sub(1)))
        .copied()
        .unwrap_or(0.0)
}
