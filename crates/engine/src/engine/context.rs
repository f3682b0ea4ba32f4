//! The context in which a strategy runs: what it may spend, and what it may search.
use std::collections::BTreeSet;
use std::sync::Arc;

use halma_core::{Budget, Cx, Knowledge, Meter, Setup, Watcher};

use super::Engine;
use super::run_knowledge::RunKnowledge;
use crate::document_subset::DocumentSubset;

/// Limits of one run in addition to the configured ones.
#[derive(Default)]
pub struct ContextOptions {
    /// The lower of each limit and the configured one under [budget.ask] applies.
    pub budget: Budget,
    /// A budget shared with other runs, such as that of a whole evaluation.
    pub parent: Option<Arc<Meter>>,
    /// Restrict the run to the documents of these names.
    pub documents: Option<BTreeSet<String>>,
    /// Receives every event as it happens.
    pub watcher: Option<Watcher>,
    /// Search this instead of the base of the engine.
    pub knowledge: Option<Arc<dyn Knowledge>>,
}

impl Engine {
    /// A new context for one question.
    pub fn context(&self, options: ContextOptions) -> Cx {
        let ContextOptions { budget, parent, documents, watcher, knowledge } = options;
        let budget = lowest(self.config.budget.ask, budget);
        let mut setup = Setup::clone(&self.setup);
        if let Some(knowledge) = knowledge {
            setup.knowledge = knowledge;
        }
        if let Some(documents) = documents {
            setup.knowledge = Arc::new(DocumentSubset::new(setup.knowledge, documents));
            // Facts extracted from the other documents must not be visible through the graph.
            setup.facts.clone_from(&self.independent_facts);
        }
        setup.knowledge = Arc::new(RunKnowledge::new(setup.knowledge));
        Cx::new(Arc::new(setup), meter(budget, parent), watcher)
    }
}

/// What is spent of a budget, and of the parent budget that it counts against.
pub(super) fn meter(budget: Budget, parent: Option<Arc<Meter>>) -> Arc<Meter> {
    Arc::new(match parent {
        Some(parent) => Meter::within(budget, parent),
        None => Meter::new(budget),
    })
}

/// The lower of each limit.
fn lowest(a: Budget, b: Budget) -> Budget {
    fn lower<T: PartialOrd>(a: Option<T>, b: Option<T>) -> Option<T> {
        match (a, b) {
            (Some(a), Some(b)) => Some(if b < a { b } else { a }),
            (a, b) => a.or(b),
        }
    }
    Budget {
        calls: lower(a.calls, b.calls),
        tokens: lower(a.tokens, b.tokens),
        usd: lower(a.usd, b.usd),
        seconds: lower(a.seconds, b.seconds),
        repairs: lower(a.repairs, b.repairs),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_can_lower_a_limit_and_not_raise_it() {
        let configured = Budget { calls: Some(5), usd: Some(0.1), ..Budget::default() };
        let request =
            Budget { calls: Some(9), usd: Some(0.01), tokens: Some(7), ..Budget::default() };
        let under = lowest(configured, request);
        assert_eq!((under.calls, under.usd, under.tokens), (Some(5), Some(0.01), Some(7)));
        assert_eq!(under.seconds, None);
    }
}
