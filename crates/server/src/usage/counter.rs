//! Counts what work in progress uses as it goes on, so that a server that ends suddenly forgets little
//! of it.
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use halma_core::{Meter, UsageTotal};

use super::{UsageCounts, UsageKey};
use crate::metrics::WorkUsage;
use crate::workspace::Workspace;

/// How long what is used stays uncounted at most.
const EVERY: Duration = Duration::from_secs(2);

/// Counts the rest when it is dropped, unless it has been finished.
pub(crate) struct UsageCounter {
    workspace: Arc<Workspace>,
    /// The id of an API key, and what is counted under it.
    under: (String, &'static str),
    meter: Arc<Meter>,
    metrics: Option<WorkUsage>,
    counted: UsageTotal,
    is_finished: bool,
}

impl UsageCounter {
    pub(crate) fn new(
        workspace: &Arc<Workspace>,
        (key, strategy): (&str, &'static str),
        meter: Arc<Meter>,
    ) -> Self {
        let (workspace, under) = (Arc::clone(workspace), (key.to_owned(), strategy));
        let counted = UsageTotal::default();
        Self { workspace, under, meter, metrics: None, counted, is_finished: false }
    }

    /// Counts in these metrics, too.
    pub(crate) fn in_metrics(mut self, metrics: &WorkUsage) -> Self {
        self.metrics = Some(metrics.clone());
        self
    }

    /// What the meter has counted. It counts the tokens of prompts and of replies together.
    fn total(&self) -> UsageTotal {
        UsageTotal {
            llm_calls: self.meter.calls(),
            prompt_tokens: self.meter.tokens(),
            usd: self.meter.usd(),
            ..UsageTotal::default()
        }
    }

    /// Counts what was used since the last time, and nothing from then on. `exact` is what a report
    /// says of all of it.
    pub(crate) fn finish(&mut self, exact: Option<UsageTotal>) {
        if !std::mem::replace(&mut self.is_finished, true) {
            self.count(exact);
        }
    }

    fn count(&mut self, exact: Option<UsageTotal>) {
        let total = exact.filter(|_| self.counted == UsageTotal::default());
        let total = total.unwrap_or_else(|| self.total());
        let more = UsageTotal {
            llm_calls: total.llm_calls.saturating_sub(self.counted.llm_calls),
            cached_calls: total.cached_calls.saturating_sub(self.counted.cached_calls),
            prompt_tokens: total.prompt_tokens.saturating_sub(self.counted.prompt_tokens),
            completion_tokens: total
                .completion_tokens
                .saturating_sub(self.counted.completion_tokens),
            usd: (total.usd - self.counted.usd).max(0.0),
        };
        self.counted = total;
        if let Some(metrics) = &self.metrics {
            metrics.add(more);
        }
        let counts = UsageCounts::from_total(more, 0);
        if counts != UsageCounts::default() || exact.is_some() {
            let (key, strategy) = (&self.under.0, self.under.1);
            self.workspace.usage.add(UsageKey::today(key, strategy), counts);
        }
    }

    /// Does some work, and counts from time to time what it uses.
    pub(crate) async fn during<T>(&mut self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        loop {
            tokio::select! {
                done = &mut work => return done,
                () = tokio::time::sleep(EVERY) => self.count(None),
            }
        }
    }
}

impl Drop for UsageCounter {
    fn drop(&mut self) {
        self.finish(None);
    }
}
