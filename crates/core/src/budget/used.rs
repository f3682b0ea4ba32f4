//! What calls that are over have used, for reports: a meter also holds what calls under way may use.
use std::sync::atomic::{AtomicU64, Ordering};

use crate::Usage;

/// Sums that only grow.
#[derive(Debug, Default)]
pub(super) struct Used {
    calls: AtomicU64,
    prompt_tokens: AtomicU64,
    completion_tokens: AtomicU64,
    micro_usd: AtomicU64,
}

impl Used {
    pub(super) fn add(&self, usage: Usage, micro_usd: u64) {
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

    pub(super) fn calls(&self) -> u64 {
        self.calls.load(Ordering::Acquire)
    }

    pub(super) fn tokens(&self) -> Usage {
        Usage {
            prompt_tokens: self.prompt_tokens.load(Ordering::Acquire),
            completion_tokens: self.completion_tokens.load(Ordering::Acquire),
            ..Usage::default()
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "micro-dollars stay far below 2^52")]
    pub(super) fn usd(&self) -> f64 {
        self.micro_usd.load(Ordering::Acquire) as f64 / 1e6
    }
}
