//! The gate in front of one server: how many calls may be in progress, how many may start in a
//! minute, and when none may start at all.
use std::num::NonZeroU32;
use std::time::Duration;

use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use halma_core::LlmError;
use parking_lot::Mutex;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::Instant;

/// Longest pause that a server can impose.
pub(crate) const LONGEST_PAUSE: Duration = Duration::from_secs(90);

/// Concurrency that adapts: halved when the server throttles, one more after as many successes as
/// it allows, never above the configured number. A `Retry-After` closes it for all calls.
pub(crate) struct Gate {
    places: Semaphore,
    per_minute: Option<DefaultDirectRateLimiter>,
    max_concurrency: usize,
    state: Mutex<State>,
}

struct State {
    limit: usize,
    /// Places to remove as calls in progress return them.
    owed: usize,
    successes: usize,
    closed_until: Option<Instant>,
    /// Throttles of calls that began before this were answered by the last cut.
    cut_at: Option<Instant>,
}

/// A call in progress; its place is free again when this is dropped.
pub(crate) struct Pass<'a> {
    gate: &'a Gate,
    place: Option<SemaphorePermit<'a>>,
    began: Instant,
}

impl Gate {
    pub(crate) fn new(concurrency: usize, per_minute: Option<NonZeroU32>) -> Self {
        let max_concurrency = concurrency.clamp(1, Semaphore::MAX_PERMITS);
        // A burst of one: servers count in windows shorter than the minute they advertise.
        let quota = |n| Quota::per_minute(n).allow_burst(NonZeroU32::MIN);
        Self {
            places: Semaphore::new(max_concurrency),
            per_minute: per_minute.map(quota).map(RateLimiter::direct),
            max_concurrency,
            state: Mutex::new(State {
                limit: max_concurrency,
                owed: 0,
                successes: 0,
                closed_until: None,
                cut_at: None,
            }),
        }
    }

    /// Waits for a place, in order of arrival. Giving up the wait loses nothing.
    pub(crate) async fn enter(&self) -> Pass<'_> {
        let place = self.places.acquire().await.expect("the semaphore is never closed");
        // A call that has a place waits here with it: no other may start either.
        if let Some(limiter) = &self.per_minute {
            limiter.until_ready().await;
        }
        loop {
            let closed_until = self.state.lock().closed_until;
            match closed_until.filter(|until| *until > Instant::now()) {
                Some(until) => tokio::time::sleep_until(until).await,
                None => break,
            }
        }
        Pass { gate: self, place: Some(place), began: Instant::now() }
    }

    /// How many calls may be in progress now.
    #[cfg(test)]
    pub(crate) fn limit(&self) -> usize {
        self.state.lock().limit
    }

    fn succeeded(&self) {
        let mut state = self.state.lock();
        if state.limit == self.max_concurrency {
            return;
        }
        state.successes += 1;
        if state.successes >= state.limit {
            state.successes = 0;
            state.limit += 1;
            if state.owed > 0 {
                state.owed -= 1;
            } else {
                self.places.add_permits(1);
            }
        }
    }

    fn throttled(&self, began: Instant, retry_after: Option<Duration>) {
        let now = Instant::now();
        let mut state = self.state.lock();
        if let Some(wait) = retry_after {
            let until = now + wait.min(LONGEST_PAUSE);
            state.closed_until = state.closed_until.max(Some(until));
        }
        if state.cut_at.is_some_and(|cut_at| began <= cut_at) {
            return;
        }
        state.cut_at = Some(now);
        state.successes = 0;
        let limit = (state.limit / 2).max(1);
        let fewer = state.limit - limit;
        state.limit = limit;
        state.owed += fewer - self.places.forget_permits(fewer);
        tracing::debug!(limit, "throttled: fewer calls at a time");
    }
}

impl Pass<'_> {
    /// Reports how the call went and returns the place.
    pub(crate) fn leave<T>(self, outcome: &Result<T, LlmError>) {
        match outcome {
            Ok(_) => self.gate.succeeded(),
            Err(LlmError::Transient { retry_after, throttled: true, .. }) => {
                self.gate.throttled(self.began, *retry_after);
            }
            Err(_) => {}
        }
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        let mut state = self.gate.state.lock();
        if state.owed > 0
            && let Some(place) = self.place.take()
        {
            state.owed -= 1;
            place.forget();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn throttle(retry_after: Option<u64>) -> Result<(), LlmError> {
        let retry_after = retry_after.map(Duration::from_secs);
        Err(LlmError::Transient { reason: "slow down".into(), retry_after, throttled: true })
    }

    #[tokio::test(start_paused = true)]
    async fn a_burst_of_throttles_halves_once_and_successes_bring_it_back() {
        let gate = Gate::new(8, None);
        let burst = futures::future::join_all((0..8).map(|_| gate.enter())).await;
        tokio::time::advance(Duration::from_millis(10)).await;
        for pass in burst {
            pass.leave(&throttle(None));
        }
        assert_eq!((gate.limit(), gate.places.available_permits()), (4, 4));
        tokio::time::advance(Duration::from_millis(10)).await;
        gate.enter().await.leave(&throttle(None));
        assert_eq!((gate.limit(), gate.places.available_permits()), (2, 2));
        for _ in 0..2 {
            gate.enter().await.leave(&Ok(()));
        }
        assert_eq!(gate.limit(), 3);
        for _ in 0..100 {
            gate.enter().await.leave(&Ok(()));
        }
        assert_eq!((gate.limit(), gate.places.available_permits()), (8, 8));
    }

    #[tokio::test(start_paused = true)]
    async fn it_never_closes_permanently() {
        let gate = Gate::new(4, None);
        for _ in 0..20 {
            tokio::time::advance(Duration::from_millis(1)).await;
            let pass = gate.enter().await;
            tokio::time::advance(Duration::from_millis(1)).await;
            pass.leave(&throttle(None));
        }
        assert_eq!((gate.limit(), gate.places.available_permits()), (1, 1));
    }

    #[tokio::test(start_paused = true)]
    async fn a_retry_after_closes_the_gate_for_all_calls() {
        let gate = Gate::new(8, None);
        let began = Instant::now();
        gate.enter().await.leave(&throttle(Some(7)));
        futures::future::join_all((0..3).map(|_| gate.enter())).await;
        assert_eq!(began.elapsed().as_secs(), 7);
        gate.enter().await.leave(&throttle(Some(100_000)));
        drop(gate.enter().await);
        assert!(began.elapsed() <= Duration::from_secs(7) + LONGEST_PAUSE + Duration::from_secs(1));
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_that_gives_up_waiting_takes_no_place() {
        let gate = Gate::new(1, None);
        let pass = gate.enter().await;
        let waiting = tokio::time::timeout(Duration::from_secs(1), gate.enter()).await;
        assert!(waiting.is_err());
        drop(pass);
        drop(gate.enter().await);
        assert_eq!(gate.places.available_permits(), 1);
    }

    #[tokio::test]
    async fn the_minute_has_its_share_only() {
        let gate = Gate::new(8, NonZeroU32::new(60_000));
        let began = std::time::Instant::now();
        for _ in 0..20 {
            drop(gate.enter().await);
        }
        // One a millisecond, the first at once.
        assert!(began.elapsed() >= Duration::from_millis(18));
    }
}
