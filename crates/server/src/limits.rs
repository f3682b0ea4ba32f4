//! How often a key may call.
use std::num::NonZeroU32;

use axum::http::StatusCode;
use governor::clock::{Clock as _, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota};

use crate::problem::Problem;

pub(crate) struct Limits {
    per_key: Option<DefaultKeyedRateLimiter<String>>,
}

impl Limits {
    /// With 0 there is no limit.
    pub(crate) fn new(requests_per_minute: u32) -> Self {
        let quota = NonZeroU32::new(requests_per_minute).map(Quota::per_minute);
        Self { per_key: quota.map(DefaultKeyedRateLimiter::keyed) }
    }

    /// Counts a request of a key.
    pub(crate) fn take(&self, key: &str) -> Result<(), Problem> {
        let Some(limiter) = &self.per_key else { return Ok(()) };
        limiter.check_key(&key.to_owned()).map_err(|not_until| {
            let wait = not_until.wait_time_from(DefaultClock::default().now()).as_secs() + 1;
            Problem::new(StatusCode::TOO_MANY_REQUESTS, "this key calls too often")
                .hint(format!("try again in {wait} s; `serve.requests_per_minute` is the limit"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_has_a_limit_of_its_own() {
        let limits = Limits::new(2);
        assert!(limits.take("a").is_ok() && limits.take("a").is_ok());
        assert_eq!(limits.take("a").unwrap_err().status, 429);
        assert!(limits.take("b").is_ok());
        let open = Limits::new(0);
        assert!((0..1000).all(|_| open.take("a").is_ok()));
    }
}
