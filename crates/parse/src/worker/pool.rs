//! A bounded number of workers that are shared: by owner, so that one of them cannot take all.
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use crate::worker::process::{Process, WorkerCommand};
use crate::worker::{WorkerError, frame};

/// A worker is replaced after this many uses, so that what a library leaks is bounded.
const USES: u32 = 64;

/// How many workers a pool has, and how many requests wait for one.
#[derive(Debug, Clone, Copy)]
pub struct PoolSize {
    pub processes: usize,
    /// Of these at most this many at a time for one owner.
    pub processes_per_owner: usize,
    pub waiting_per_owner: usize,
    /// A request that has waited this long is refused.
    pub wait: Duration,
}

/// Workers that are started when they are first needed.
pub struct Pool {
    command: WorkerCommand,
    size: PoolSize,
    state: Mutex<State>,
    freed: Condvar,
}

#[derive(Default)]
struct State {
    idle: Vec<Idle>,
    owners: HashMap<String, Owner>,
    running: usize,
}

/// What a worker is taken for. One that has served a request knows what it was sent, so that it
/// serves only requests for the same owner, view and version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Purpose {
    /// Who the places are counted for.
    pub owner: String,
    /// Distinguishes those who see different parts of what the owner has.
    pub view: u64,
    /// Grows when the view changes, after which what a worker knows is out of date.
    pub version: u64,
}

#[derive(Default)]
struct Owner {
    running: usize,
    waiting: usize,
}

struct Idle {
    purpose: Purpose,
    uses: u32,
    process: Process,
}

impl Pool {
    pub fn new(command: WorkerCommand, size: PoolSize) -> Arc<Self> {
        Arc::new(Self { command, size, state: Mutex::default(), freed: Condvar::new() })
    }

    /// A worker for this request alone, until the lease is dropped. One that has served the same
    /// purpose before is preferred, and one of an older version is ended.
    pub fn take(self: &Arc<Self>, purpose: &Purpose) -> Result<Lease, WorkerError> {
        let owner = purpose.owner.as_str();
        let until = Instant::now() + self.size.wait;
        let busy = WorkerError::Busy { processes: self.size.processes };
        let mut state = self.state.lock();
        let mut waits = false;
        loop {
            if state.has_room(owner, self.size) {
                state.wait(owner, waits, false);
                state.run(owner, 1);
                let idle = state.idle_for(purpose, self.size.processes);
                drop(state);
                return self.lease(purpose, idle);
            }
            let left = until.saturating_duration_since(Instant::now());
            let full = !waits && state.waiting(owner) >= self.size.waiting_per_owner;
            if left.is_zero() || full {
                state.wait(owner, waits, false);
                return Err(busy);
            }
            state.wait(owner, waits, true);
            waits = true;
            self.freed.wait_until(&mut state, until);
        }
    }

    fn lease(
        self: &Arc<Self>,
        purpose: &Purpose,
        idle: Option<Idle>,
    ) -> Result<Lease, WorkerError> {
        let (uses, process) = match idle {
            Some(idle) => (idle.uses, Ok(idle.process)),
            None => (0, Process::start(&self.command)),
        };
        let pool = Arc::clone(self);
        let mut lease = Lease { pool, purpose: purpose.clone(), uses, process: None };
        // On an error the lease is dropped, so that its place is free again.
        lease.process = Some(process.map_err(|source| WorkerError::Start { source })?);
        Ok(lease)
    }
}

impl State {
    fn has_room(&self, owner: &str, size: PoolSize) -> bool {
        let running = self.owners.get(owner).map_or(0, |owner| owner.running);
        self.running < size.processes && running < size.processes_per_owner
    }

    fn waiting(&self, owner: &str) -> usize {
        self.owners.get(owner).map_or(0, |owner| owner.waiting)
    }

    /// Counts a request that begins or ends to wait.
    fn wait(&mut self, owner: &str, before: bool, now: bool) {
        let entry = self.owners.entry(owner.to_owned()).or_default();
        entry.waiting = entry.waiting + usize::from(now) - usize::from(before);
        self.forget(owner);
    }

    fn run(&mut self, owner: &str, more: usize) {
        self.running += more;
        self.owners.entry(owner.to_owned()).or_default().running += more;
    }

    fn end(&mut self, owner: &str) {
        self.running = self.running.saturating_sub(1);
        if let Some(entry) = self.owners.get_mut(owner) {
            entry.running = entry.running.saturating_sub(1);
        }
        self.forget(owner);
    }

    /// Owners come and go; only those with requests are remembered.
    fn forget(&mut self, owner: &str) {
        if self.owners.get(owner).is_some_and(|owner| owner.running + owner.waiting == 0) {
            self.owners.remove(owner);
        }
    }

    /// A worker that waits for this purpose. The others make room for a new one.
    fn idle_for(&mut self, purpose: &Purpose, processes: usize) -> Option<Idle> {
        self.idle.retain_mut(|idle| {
            let same_view =
                idle.purpose.owner == purpose.owner && idle.purpose.view == purpose.view;
            (!same_view || idle.purpose.version == purpose.version) && idle.process.is_running()
        });
        if let Some(at) = self.idle.iter().rposition(|idle| idle.purpose == *purpose) {
            return Some(self.idle.remove(at));
        }
        // This request is among the running already.
        while !self.idle.is_empty() && self.idle.len() + self.running > processes {
            self.idle.remove(0);
        }
        None
    }
}

/// A worker that serves one request. Unless it is given back it is killed.
pub struct Lease {
    pool: Arc<Pool>,
    purpose: Purpose,
    uses: u32,
    process: Option<Process>,
}

impl Lease {
    /// Whether this is the first use of the process.
    pub fn is_new(&self) -> bool {
        self.uses == 0
    }

    pub fn send(&self, request: Vec<u8>) -> Result<(), WorkerError> {
        if request.len() as u64 > frame::LONGEST {
            return Err(WorkerError::Ended);
        }
        self.process.as_ref().map_or(Err(WorkerError::Ended), |process| process.send(request))
    }

    /// The next reply, if it comes by `until`.
    pub fn receive(&self, until: Instant) -> Result<Vec<u8>, WorkerError> {
        self.process.as_ref().map_or(Err(WorkerError::Ended), |process| process.receive(until))
    }

    /// Keeps the worker for the next request.
    pub fn give_back(mut self) {
        let uses = self.uses + 1;
        let Some(process) = self.process.take().filter(|_| uses < USES) else { return };
        let purpose = self.purpose.clone();
        self.pool.state.lock().idle.push(Idle { purpose, uses, process });
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        // Killed first, so that its memory is free when the next one starts.
        drop(self.process.take());
        self.pool.state.lock().end(&self.purpose.owner);
        self.pool.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn purpose(owner: &str, view: u64, version: u64) -> Purpose {
        Purpose { owner: owner.to_owned(), view, version }
    }

    /// A worker that replies by what it was sent.
    fn pool() -> Arc<Pool> {
        let command = WorkerCommand { program: "cat".into(), arguments: vec![] };
        let (processes, wait) = (3, Duration::from_secs(20));
        let size =
            PoolSize { processes, processes_per_owner: processes, waiting_per_owner: 1, wait };
        Pool::new(command, size)
    }

    fn is_new(pool: &Arc<Pool>, purpose: &Purpose) -> bool {
        let lease = pool.take(purpose).unwrap();
        lease.send(b"request".to_vec()).unwrap();
        assert_eq!(lease.receive(Instant::now() + Duration::from_secs(20)).unwrap(), b"request");
        let is_new = lease.is_new();
        lease.give_back();
        is_new
    }

    #[test]
    fn a_worker_serves_one_owner_one_view_and_one_version() {
        let pool = pool();
        assert!(is_new(&pool, &purpose("a", 1, 1)));
        assert!(!is_new(&pool, &purpose("a", 1, 1)));
        assert!(is_new(&pool, &purpose("a", 2, 1)), "another view was sent other rows");
        assert!(is_new(&pool, &purpose("b", 1, 1)));
        // All three are there still.
        for same in [purpose("a", 1, 1), purpose("a", 2, 1), purpose("b", 1, 1)] {
            assert!(!is_new(&pool, &same), "{same:?}");
        }
        assert!(is_new(&pool, &purpose("a", 1, 2)), "what it knows is out of date");
        assert!(!is_new(&pool, &purpose("a", 2, 1)));
    }
}
