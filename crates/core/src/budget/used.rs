//! What calls that are over have used, for reports: a meter also holds what calls under way may use.
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Meter, Taken, micro};
use crate::{Usage, UsageTotal};

/// Sums that only grow.
#[derive(Debug, Default)]
pub(super) struct Used {
    calls: AtomicU64,
    prompt_tokens: AtomicU64,
    completion_tokens: AtomicU64,
    micro_usd: AtomicU64,
}

impl Used {
    pub(super) fn add(&self, usage: Usage, usd: f64) {
        self.add_micro(usage, micro(usd));
    }

    fn add_micro(&self, usage: Usage, micro_usd: u64) {
        let add = |sum: &AtomicU64, more: u64| {
            // An absurd count of a server must not wrap around. It always has a next value.
            let next = |sum: u64| Some(sum.saturating_add(more));
            let _ = sum.fetch_update(Ordering::AcqRel, Ordering::Acquire, next);
        };
        add(&self.calls, 1);
        add(&self.prompt_tokens, usage.prompt_tokens);
        add(&self.completion_tokens, usage.completion_tokens);
        add(&self.micro_usd, micro_usd);
    }

    #[expect(clippy::cast_precision_loss, reason = "micro-dollars stay far below 2^52")]
    fn total(&self) -> UsageTotal {
        UsageTotal {
            llm_calls: self.calls.load(Ordering::Acquire),
            prompt_tokens: self.prompt_tokens.load(Ordering::Acquire),
            completion_tokens: self.completion_tokens.load(Ordering::Acquire),
            usd: self.micro_usd.load(Ordering::Acquire) as f64 / 1e6,
            ..UsageTotal::default()
        }
    }
}

impl Meter {
    /// What the calls that are over have used. It only grows, unlike [`Meter::usd`] and its like,
    /// which hold the most that calls under way may use.
    pub fn used(&self) -> UsageTotal {
        self.used.total()
    }

    /// Counts a call that was cut off by the most it can have used: the model may have been paid.
    fn count_cut_off(&self, taken: Taken) {
        let usage = Usage { prompt_tokens: taken.tokens, completion_tokens: 0 };
        self.used.add_micro(usage, taken.micro_usd);
        if let Some(whole) = &self.whole {
            whole.count_cut_off(taken);
        }
    }
}

/// A call that is under way. Where it is dropped instead of settled, what was taken for it stays
/// taken.
pub(crate) struct OpenCall<'m> {
    meter: &'m Meter,
    taken: Option<Taken>,
}

impl<'m> OpenCall<'m> {
    pub(crate) fn new(meter: &'m Meter, taken: Taken) -> Self {
        Self { meter, taken: Some(taken) }
    }

    /// [`Meter::settle`].
    pub(crate) fn settle(mut self, used: Option<(Usage, f64)>) {
        if let Some(taken) = self.taken.take() {
            self.meter.settle(taken, used);
        }
    }
}

impl Drop for OpenCall<'_> {
    fn drop(&mut self) {
        if let Some(taken) = self.taken.take() {
            self.meter.count_cut_off(taken);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::Price;
    use crate::budget::{Budget, Share};

    #[tokio::test]
    async fn calls_under_way_are_not_used_and_those_cut_off_are() {
        let whole = Arc::new(Meter::unlimited());
        let meter = Meter::within(Budget::default(), Arc::clone(&whole));
        let price = Price { prompt: 1000.0, completion: 1000.0 };
        let most = Usage { prompt_tokens: 100, completion_tokens: 900 };
        let open = async || {
            let taken = meter.take(most, price, Share::Whole).await.unwrap();
            OpenCall::new(&meter, taken)
        };
        let call = open().await;
        assert_eq!((meter.calls(), meter.used()), (1, UsageTotal::default()));
        let usage = Usage { prompt_tokens: 90, completion_tokens: 10 };
        call.settle(Some((usage, 0.1)));
        open().await.settle(None);
        let used = UsageTotal {
            llm_calls: 1,
            prompt_tokens: 90,
            completion_tokens: 10,
            usd: 0.1,
            ..UsageTotal::default()
        };
        assert_eq!((meter.used(), whole.used()), (used, used));
        drop(open().await);
        let used = UsageTotal { llm_calls: 2, prompt_tokens: 1_090, usd: 1.1, ..used };
        assert_eq!((meter.used(), whole.used()), (used, used));
    }
}
