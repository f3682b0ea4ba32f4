//! How many requests a key may send in a minute.
use std::num::NonZeroU32;

use axum::http::StatusCode;
use governor::clock::{Clock as _, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota};

use crate::problem::Problem;

pub(crate) struct RateLimit {
    per_key: Option<DefaultKeyedRateLimiter<String>>,
}

impl RateLimit {
    /// With 0 there is no limit.
    pub(crate) fn new(requests_per_minute: u32) -> Self {
        let quota = NonZeroU32::new(requests_per_minute).map(Quota::per_minute);
        Self { per_key: quota.map(DefaultKeyedRateLimiter::keyed) }
    }

    /// Counts a request of the key with this id.
    pub(crate) fn check(&self, key: &str) -> Result<(), Problem> {
        let Some(limiter) = &self.per_key else { return Ok(()) };
        limiter.check_key(&key.to_owned()).map_err(|not_until| {
            let wait = not_until.wait_time_from(DefaultClock::default().now()).as_secs() + 1;
            Problem::new(StatusCode::TOO_MANY_REQUESTS, "this key has sent too many requests")
                .hint(format!(
                    "try again in {wait} s; `serve.requests_per_minute` is the limit of each server"
                ))
                .retry_after(wait)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_has_its_own_limit() {
        let limits = RateLimit::new(2);
        assert!(limits.check("a").is_ok() && limits.check("a").is_ok());
        assert_eq!(limits.check("a").unwrap_err().status, 429);
        assert!(limits.check("b").is_ok());
        let unlimited = RateLimit::new(0);
        assert!((0..1000).all(|_| unlimited.check("a").is_ok()));
    }
}
