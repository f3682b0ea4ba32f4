//! What work other than questions has used: builds, evaluations, the verification of feedback.
use halma_core::UsageTotal;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::registry::{Registry, Unit};

use super::Dollars;

/// Counters of one kind of work; copies count together.
#[derive(Clone, Default)]
pub(crate) struct WorkUsage {
    calls: Counter,
    tokens: Counter,
    usd: Dollars,
}

impl WorkUsage {
    /// Registers the counters under names that begin with `name`; `plural` is what it is called in
    /// their help texts.
    pub(super) fn register(&self, registry: &mut Registry, name: &str, plural: &str) {
        let calls = format!("Model calls of {plural}");
        registry.register(format!("{name}_model_calls"), calls, self.calls.clone());
        let tokens = format!("Tokens of {plural}");
        registry.register(format!("{name}_tokens"), tokens, self.tokens.clone());
        let (cost, dollars) = (format!("Cost of {plural}"), Unit::Other("usd".to_owned()));
        registry.register_with_unit(format!("{name}_cost"), cost, dollars, self.usd.clone());
    }

    /// Counts what was used, or a part of it.
    pub(crate) fn add(&self, usage: UsageTotal) {
        self.calls.inc_by(usage.llm_calls);
        self.tokens.inc_by(usage.prompt_tokens + usage.completion_tokens);
        self.usd.inc_by(usage.usd.max(0.0));
    }
}
