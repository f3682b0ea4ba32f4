//! A call of a model while it is under way.
use crate::Usage;
use crate::budget::{Meter, Taken};

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
    use crate::budget::{Budget, Share};
    use crate::{Price, UsageTotal};

    #[tokio::test]
    async fn calls_under_way_are_not_used_and_those_cut_off_are() {
        let whole = Arc::new(Meter::unlimited());
        let meter = Meter::within(Budget::default(), Arc::clone(&whole));
        let price = Price { prompt: 1000.0, completion: 1000.0, cached: None };
        let usage = Usage { prompt_tokens: 100, completion_tokens: 900, ..Usage::default() };
        let open = async || {
            let taken = meter.take(usage, price, Share::Whole).await.unwrap();
            OpenCall::new(&meter, taken)
        };
        let call = open().await;
        assert_eq!((meter.calls(), meter.used()), (1, UsageTotal::default()));
        let usage = Usage { prompt_tokens: 90, completion_tokens: 10, ..Usage::default() };
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
