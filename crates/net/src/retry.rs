//! Failures that pass are retried, with waits that grow; the others are not.
use std::future::Future;
use std::time::Duration;

use backon::{BackoffBuilder as _, ExponentialBuilder};
use halma_core::LlmError;
use tokio::time::Instant;

use crate::gate::LONGEST_PAUSE;

/// How long and how often a failing call is retried.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    /// Retries of failures other than throttling, which only the time bounds: a server that says
    /// "later" works, and a minute of it must not lose a call.
    pub(crate) retries: usize,
    /// From the first failure.
    pub(crate) total: Duration,
    pub(crate) first_wait: Duration,
    pub(crate) longest_wait: Duration,
}

impl Patience {
    pub(crate) fn new(retries: usize, total: Duration) -> Self {
        let (first_wait, longest_wait) = (Duration::from_millis(250), Duration::from_secs(20));
        Self { retries, total, first_wait, longest_wait }
    }
}

/// Calls until it succeeds, fails in a way that will not pass, or the patience is used up; the last
/// failure then says how often it was tried.
pub(crate) async fn persist<R, F>(
    patience: Patience,
    mut call: impl FnMut() -> F,
) -> Result<R, LlmError>
where
    F: Future<Output = Result<R, LlmError>>,
{
    let mut tried = 1;
    let mut failed = 0;
    let mut waits = None;
    let mut first_failure = None;
    loop {
        let (reason, retry_after, throttled) = match call().await {
            Err(LlmError::Transient { reason, retry_after, throttled }) => {
                (reason, retry_after, throttled)
            }
            outcome => return outcome,
        };
        failed += usize::from(!throttled);
        let since = *first_failure.get_or_insert_with(Instant::now);
        let waits = waits.get_or_insert_with(|| {
            ExponentialBuilder::default()
                .with_jitter()
                .with_min_delay(patience.first_wait)
                .with_max_delay(patience.longest_wait)
                .without_max_times()
                .build()
        });
        let backoff = waits.next().unwrap_or(patience.longest_wait);
        let wait = retry_after.map_or(backoff, |wait| wait.min(LONGEST_PAUSE));
        if failed > patience.retries || since.elapsed() + wait > patience.total {
            let times = if tried == 1 { "once".into() } else { format!("{tried} times") };
            return Err(LlmError::Transient {
                reason: format!("{reason} (tried {times})"),
                retry_after,
                throttled,
            });
        }
        let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        if tried == 1 {
            tracing::warn!(wait_ms, "{reason}; trying again");
        } else {
            tracing::debug!(wait_ms, tried, "{reason}");
        }
        tokio::time::sleep(wait).await;
        tried += 1;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use parking_lot::Mutex;

    use super::*;

    fn patience() -> Patience {
        Patience::new(5, Duration::from_mins(3))
    }

    fn throttle(after: Option<u64>) -> LlmError {
        let retry_after = after.map(Duration::from_secs);
        LlmError::Transient { reason: "slow down".into(), retry_after, throttled: true }
    }

    /// Outcome, calls made and time waited for these failures, followed by success.
    async fn run(failures: Vec<LlmError>) -> (Result<(), LlmError>, usize, Duration) {
        let began = Instant::now();
        let left = Mutex::new(VecDeque::from(failures));
        let calls = Mutex::new(0);
        let outcome = persist(patience(), || {
            *calls.lock() += 1;
            let next = left.lock().pop_front();
            async move { next.map_or(Ok(()), Err) }
        })
        .await;
        let calls = *calls.lock();
        (outcome, calls, began.elapsed())
    }

    #[tokio::test(start_paused = true)]
    async fn what_passes_is_tried_again() {
        let (outcome, calls, waited) = run(vec![LlmError::transient("oops"); 5]).await;
        assert!(outcome.is_ok());
        assert_eq!(calls, 6);
        assert!(waited < Duration::from_secs(15), "{waited:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn retries_end() {
        let (outcome, calls, _) = run(vec![LlmError::transient("oops"); 50]).await;
        assert_eq!(calls, 6);
        assert_eq!(outcome.unwrap_err().to_string(), "oops (tried 6 times)");
    }

    #[tokio::test(start_paused = true)]
    async fn a_retry_after_is_kept_to_the_second() {
        let (outcome, calls, waited) = run(vec![throttle(Some(7)), throttle(Some(3))]).await;
        assert!(outcome.is_ok());
        assert_eq!((calls, waited.as_secs()), (3, 10));
        let (_, _, waited) = run(vec![throttle(Some(10_000))]).await;
        assert_eq!(waited.as_secs(), LONGEST_PAUSE.as_secs());
    }

    #[tokio::test(start_paused = true)]
    async fn a_minute_of_throttling_loses_nothing() {
        let began = Instant::now();
        let minute = Duration::from_mins(1);
        for after in [None, Some(Duration::from_secs(1))] {
            let outcome = persist(patience(), || async {
                if began.elapsed() < minute {
                    let reason = "slow down".to_owned();
                    return Err(LlmError::Transient {
                        reason,
                        retry_after: after,
                        throttled: true,
                    });
                }
                Ok(())
            });
            assert!(outcome.await.is_ok());
        }
        let (outcome, _, waited) = run(vec![throttle(Some(60)); 10]).await;
        assert!(outcome.is_err() && waited <= Duration::from_mins(3), "{waited:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn what_will_fail_again_is_not_tried_again() {
        for error in [LlmError::refused("no"), LlmError::TooLong { reason: "8192".into() }] {
            let (outcome, calls, waited) = run(vec![error]).await;
            assert!(outcome.is_err());
            assert_eq!((calls, waited), (1, Duration::ZERO));
        }
    }
}
