//! What an attack costs everyone else, measured while it runs, by a process of its own: in the one that
//! attacks with hundreds of threads, those who watch would wait for them.
use std::fmt;
use std::io::{Read as _, stderr, stdin};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::requests::send;
use crate::server::{OTHER, Victim, health_of, memory_of};

/// Between two checks.
const EVERY: Duration = Duration::from_millis(20);

/// Tells the process that watches the address and the process of the server.
const WATCHED: &str = "HALMA_WATCHED";

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
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

impl fmt::Display for Costs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (health, other) = (percentile(&self.health, 99), percentile(&self.other, 95));
        write!(
            f,
            "{} checks failed, health p99 {health:.0} ms, other workspaces' p95 {other:.0} ms, \
             server {} MB, workers {} MB",
            self.failed,
            self.server_bytes >> 20,
            self.worker_bytes >> 20
        )
    }
}

/// Runs the attack while the server is watched.
pub(crate) fn watched<T: Send>(victim: &Victim, attack: impl FnOnce() -> T + Send) -> (T, Costs) {
    let watcher = start_watcher(victim);
    let result = std::thread::scope(|scope| {
        let attack = scope.spawn(|| {
            lower_priority();
            attack()
        });
        attack.join().unwrap()
    });
    std::thread::sleep(Duration::from_millis(300));
    // Its input is closed, and it ends.
    let told = watcher.wait_with_output().unwrap();
    let costs = String::from_utf8(told.stderr).unwrap();
    (result, serde_json::from_str(&costs).unwrap())
}

fn start_watcher(victim: &Victim) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["watcher", "--exact", "--ignored", "--nocapture"]);
    command.env(WATCHED, format!("{} {}", victim.address, victim.id()));
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Watches the server that the environment names until the input ends, and writes the costs. Without
/// one nothing is watched.
pub(crate) fn watch_until_told() {
    let Ok(server) = std::env::var(WATCHED) else { return };
    let (address, id) = server.split_once(' ').unwrap();
    let id: u32 = id.parse().unwrap();
    let ended = AtomicBool::new(false);
    let running = || !ended.load(Ordering::Acquire);
    let costs = std::thread::scope(|scope| {
        let health = scope.spawn(|| repeat(&running, || health_of(address) == Some(200)));
        let other = scope.spawn(|| repeat(&running, || search_elsewhere(address)));
        let memory = scope.spawn(|| {
            let mut peak = (0, 0);
            while running() {
                let (server, workers) = memory_of(id);
                peak = (server.max(peak.0), workers.max(peak.1));
                std::thread::sleep(EVERY);
            }
            peak
        });
        stdin().read_to_end(&mut vec![]).unwrap();
        ended.store(true, Ordering::Release);
        let (health, failed) = health.join().unwrap();
        let (other, others_failed) = other.join().unwrap();
        let (server_bytes, worker_bytes) = memory.join().unwrap();
        Costs { health, other, failed: failed + others_failed, server_bytes, worker_bytes }
    });
    serde_json::to_writer(stderr(), &costs).unwrap();
}

fn search_elsewhere(address: &str) -> bool {
    let headers = [("content-type", "application/json"), ("x-halma-workspace", OTHER)];
    let query = json!({"text": "Velby"}).to_string();
    send(address, "POST", "/api/v1/search", &headers, query.as_bytes())
        .is_some_and(|answer| answer.status == 200)
}

/// Lets the server and the one who watches it run before this thread and those that it starts: real
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
