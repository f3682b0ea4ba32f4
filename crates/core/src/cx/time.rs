//! The time that a run leaves for its closing answer.
use std::pin::pin;
use std::time::Duration;

use super::Cx;
use crate::budget::Share;
use crate::{Limit, Result};

impl Cx {
    /// What may be used of the budget: all but what the closing answer is expected to need.
    pub(super) fn share(&self) -> Share {
        if self.may_use_reserve {
            return Share::Whole;
        }
        Share::Open { closing: *self.run.longest_call.borrow() }
    }

    /// Waits for work as long as the budget's time allows. What is kept back may become more
    /// meanwhile, when another call of the run turns out to take longer.
    pub(super) async fn in_time<T>(&self, work: impl Future<Output = T>) -> Result<T> {
        let mut work = pin!(work);
        let mut longest_call = self.run.longest_call.subscribe();
        loop {
            let Some(left) = self.run.meter.time_left(self.share()) else { return Ok(work.await) };
            tokio::select! {
                biased;
                done = &mut work => return Ok(done),
                () = tokio::time::sleep(left) => return Err(self.spent(Limit::Seconds)),
                // The sender is as long-lived as the run, so that there is no error.
                _ = longest_call.changed() => {}
            }
        }
    }

    /// The time of the longest call so far that a model answered.
    pub(super) fn longest_call(&self) -> Option<Duration> {
        Some(*self.run.longest_call.borrow()).filter(|longest| !longest.is_zero())
    }

    /// Remembers how long a call to a model took that was answered.
    pub(super) fn remember_time(&self, took: Duration) {
        self.run.longest_call.send_if_modified(|longest| {
            let longer = took > *longest;
            *longest = took.max(*longest);
            longer
        });
    }
}
