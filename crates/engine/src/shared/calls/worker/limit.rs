//! The limit of what one worker spends.

use halma_core::{ChatReply, ChatRequest, Llm, Usage, estimate_tokens};
use parking_lot::Mutex;

/// US dollars that may be spent, and what is.
#[derive(Debug)]
pub(super) struct SpendingLimit {
    max_usd: Option<f64>,
    /// What calls in progress may cost is counted as spent until they are done.
    spent: Mutex<f64>,
}

impl SpendingLimit {
    pub(super) fn new(max_usd: Option<f64>) -> Self {
        Self { max_usd, spent: Mutex::new(0.0) }
    }

    /// Reserves what the call may cost; `None` if that would be too much.
    pub(super) fn reserve(&self, llm: &dyn Llm, request: &ChatRequest) -> Option<f64> {
        let usage = Usage {
            prompt_tokens: estimate_tokens(&request.messages),
            completion_tokens: request.max_tokens.into(),
            ..Usage::default()
        };
        let worst = llm.price().cost(usage);
        let mut spent = self.spent.lock();
        if self.max_usd.is_some_and(|max_usd| *spent + worst > max_usd) {
            return None;
        }
        *spent += worst;
        Some(worst)
    }

    /// Counts what a call did cost instead of what was reserved for it.
    pub(super) fn settle(&self, reserved: f64, llm: &dyn Llm, reply: Option<&ChatReply>) {
        let cost = reply.map_or(0.0, |reply| llm.price().cost(reply.usage));
        *self.spent.lock() += cost - reserved;
    }

    /// US dollars.
    pub(super) fn spent(&self) -> f64 {
        *self.spent.lock()
    }
}
