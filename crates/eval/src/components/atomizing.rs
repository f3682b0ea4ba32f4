//! What making the base cost, for each chunk (KAR³, Table 12).
use halma_core::UsageTotal;
use serde::{Deserialize, Serialize};

/// The one-time cost of a base: of all runs of `index` that made it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Atomizing {
    pub chunks: usize,
    pub usage: UsageTotal,
}

impl Atomizing {
    pub(crate) fn add(&mut self, chunks: usize, usage: UsageTotal) {
        self.chunks += chunks;
        self.usage.add(usage);
    }

    /// Calls, prompt tokens and completion tokens a chunk; `None` for a base that cost no calls.
    pub fn per_chunk(&self) -> Option<(f64, f64, f64)> {
        let calls = self.usage.llm_calls + self.usage.cached_calls;
        if self.chunks == 0 || calls == 0 {
            return None;
        }
        let each = |count: u64| crate::figures::ratio(count, self.chunks as u64);
        Some((each(calls), each(self.usage.prompt_tokens), each(self.usage.completion_tokens)))
    }
}
