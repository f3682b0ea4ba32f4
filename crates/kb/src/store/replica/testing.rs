//! For tests: a shared base in this process.
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use super::{Head, IsUrgent, Lease, NextSegment, Push, Upstream};
use crate::{KbError, UpstreamError};

/// How often those that wait look whether they are urgent.
const LOOK: Duration = Duration::from_millis(5);

/// A log of segments in memory.
#[derive(Default)]
pub(crate) struct MemoryUpstream {
    log: Arc<Log>,
}

#[derive(Default)]
struct Log {
    state: Mutex<State>,
    freed: Condvar,
}

#[derive(Default)]
struct State {
    head: Head,
    segments: Vec<(u64, Vec<u8>)>,
    /// The ids of all pushes, from the first on.
    pushes: Vec<[u8; 16]>,
    /// The generations of segments that were read.
    read: Vec<u64>,
    fence: u64,
    is_leased: bool,
    urgent: usize,
    next_push: NextPush,
    unreachable: bool,
}

/// What becomes of the next push.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum NextPush {
    #[default]
    IsWritten,
    /// It is written, and the answer is lost.
    LosesAnswer,
    IsRefused,
}

struct MemoryLease {
    log: Arc<Log>,
    fence: u64,
}

impl MemoryUpstream {
    pub(crate) fn lose_next_answer(&self) {
        self.log.state.lock().next_push = NextPush::LosesAnswer;
    }

    pub(crate) fn refuse_next_push(&self) {
        self.log.state.lock().next_push = NextPush::IsRefused;
    }

    pub(crate) fn set_unreachable(&self, unreachable: bool) {
        self.log.state.lock().unreachable = unreachable;
    }

    /// Every byte of the log.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.log.state.lock().segments.iter().flat_map(|(_, bytes)| bytes.clone()).collect()
    }

    /// The generations of segments that replicas have read since this was last asked.
    pub(crate) fn take_generations_read(&self) -> Vec<u64> {
        std::mem::take(&mut self.log.state.lock().read)
    }

    /// Whether an urgent write waits.
    pub(crate) fn has_urgent(&self) -> bool {
        self.log.state.lock().urgent > 0
    }

    /// Loses the last push, as a standby does that takes over without it.
    pub(crate) fn lose_last_push(&self) {
        let mut state = self.log.state.lock();
        let lost = state.head.generation;
        state.segments.retain(|(generation, _)| *generation < lost);
        state.pushes.pop();
        state.head.generation -= 1;
        state.head.push = state.pushes.last().copied();
    }

    /// Forgets everything, as if another base were made in its place.
    pub(crate) fn erase(&self) {
        let mut state = self.log.state.lock();
        state.head = Head::default();
        state.segments.clear();
        state.pushes.clear();
    }
}

fn failed(message: &str) -> UpstreamError {
    UpstreamError::Failed { message: message.into() }
}

impl Upstream for MemoryUpstream {
    fn name(&self) -> &'static str {
        "memory"
    }

    fn head(&self) -> Result<Head, UpstreamError> {
        let state = self.log.state.lock();
        if state.unreachable { Err(failed("unreachable")) } else { Ok(state.head.clone()) }
    }

    fn segments(
        &self,
        after: u64,
        to: u64,
        each: &mut dyn FnMut(&[u8]) -> Result<(), KbError>,
    ) -> Result<(), KbError> {
        let mut segments = self.log.state.lock().segments.clone();
        segments.retain(|(generation, _)| (after + 1..=to).contains(generation));
        self.log.state.lock().read.extend(segments.iter().map(|(generation, _)| *generation));
        segments.iter().try_for_each(|(_, bytes)| each(bytes))
    }

    fn generation_of(&self, push: &[u8; 16]) -> Result<Option<u64>, UpstreamError> {
        let state = self.log.state.lock();
        let at = state.pushes.iter().position(|other| other == push);
        Ok(at.map(|at| at as u64 + 1))
    }

    fn lease(&self, is_urgent: &IsUrgent) -> Result<Box<dyn Lease>, UpstreamError> {
        let mut state = self.log.state.lock();
        let mut was_urgent = false;
        while state.is_leased {
            if !was_urgent && is_urgent() {
                was_urgent = true;
                state.urgent += 1;
            }
            self.log.freed.wait_for(&mut state, LOOK);
        }
        state.urgent -= usize::from(was_urgent);
        state.is_leased = true;
        state.fence += 1;
        Ok(Box::new(MemoryLease { log: Arc::clone(&self.log), fence: state.fence }))
    }
}

impl Lease for MemoryLease {
    fn fence(&self) -> u64 {
        self.fence
    }

    fn is_wanted(&self) -> Result<bool, UpstreamError> {
        Ok(self.log.state.lock().urgent > 0)
    }

    fn push(&self, push: &Push, next: &mut NextSegment<'_>) -> Result<u64, UpstreamError> {
        let mut segments = vec![];
        while let Some(segment) = next()? {
            segments.push(segment);
        }
        let mut state = self.log.state.lock();
        let fate = std::mem::take(&mut state.next_push);
        if fate == NextPush::IsRefused {
            return Err(failed("refused"));
        }
        if state.fence != self.fence || state.head.generation != push.expected {
            return Err(UpstreamError::LeaseLost { name: "memory".into() });
        }
        state.head.generation += 1;
        let generation = state.head.generation;
        if push.is_whole {
            state.segments.clear();
            state.head.first = generation;
        }
        state.head.first = state.head.first.max(1);
        state.pushes.push(push.id);
        state.head.push = Some(push.id);
        state.head.base = Some(push.base);
        state.segments.extend(segments.into_iter().map(|segment| (generation, segment)));
        if fate == NextPush::LosesAnswer {
            return Err(failed("the connection was cut"));
        }
        Ok(generation)
    }
}

impl Drop for MemoryLease {
    fn drop(&mut self) {
        self.log.state.lock().is_leased = false;
        self.log.freed.notify_all();
    }
}
