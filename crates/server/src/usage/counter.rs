//! Counts what work in progress uses as it goes on, so that a server that ends suddenly forgets little
//! of it. A call under way is counted when it is over: until then it is not known what it uses.
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use halma_core::{Meter, UsageTotal};

use super::{Usage, UsageCounts, UsageKey};
use crate::metrics::WorkUsage;
use crate::workspace::Workspace;

/// How long what is used stays uncounted at most.
const EVERY: Duration = Duration::from_secs(2);

/// Counts the rest when it is dropped, unless it has been finished.
pub(crate) struct UsageCounter {
    work: WorkCount,
    /// How it was finished.
    end: Option<End>,
}

/// What of a meter has been counted, and where.
#[derive(Clone)]
struct WorkCount {
    usage: Arc<Usage>,
    /// The id of an API key, and what is counted under it.
    under: (String, &'static str),
    meter: Arc<Meter>,
    metrics: Option<WorkUsage>,
    counted: UsageTotal,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// All calls are over and counted.
    Whole,
    /// Calls that others wait for may still be under way.
    CutOff,
}

impl UsageCounter {
    pub(crate) fn new(
        workspace: &Workspace,
        (key, strategy): (&str, &'static str),
        meter: Arc<Meter>,
    ) -> Self {
        let (usage, under) = (Arc::clone(&workspace.usage), (key.to_owned(), strategy));
        let counted = UsageTotal::default();
        Self { work: WorkCount { usage, under, meter, metrics: None, counted }, end: None }
    }

    /// Counts in these metrics, too.
    pub(crate) fn in_metrics(mut self, metrics: &WorkUsage) -> Self {
        self.work.metrics = Some(metrics.clone());
        self
    }

    /// Counts what was used since the last time. `exact` is what a report says of all of it; without
    /// it the work was cut off, and calls that are still under way are counted when they are over.
    pub(crate) fn finish(&mut self, exact: Option<UsageTotal>) {
        if self.end.is_none() {
            self.end = Some(if exact.is_some() { End::Whole } else { End::CutOff });
            self.work.count(exact);
        }
    }

    /// Counts calls under way by the most that they may use, as the server ends before they do.
    pub(crate) fn finish_at_exit(&mut self) {
        if self.end.replace(End::Whole).is_none() {
            self.work.count(Some(self.work.with_open_calls()));
        }
    }

    /// Does some work, and counts from time to time what it uses.
    pub(crate) async fn during<T>(&mut self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        loop {
            tokio::select! {
                done = &mut work => return done,
                () = tokio::time::sleep(EVERY) => self.work.count(None),
            }
        }
    }
}

impl Drop for UsageCounter {
    fn drop(&mut self) {
        self.finish(None);
        // Units of a build that was stopped hold the meter until their calls are over.
        let is_whole = self.end == Some(End::Whole) || Arc::strong_count(&self.work.meter) == 1;
        if !is_whole && let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(self.work.clone().count_rest());
        }
    }
}

impl WorkCount {
    fn count(&mut self, exact: Option<UsageTotal>) {
        let used = self.meter.used();
        // A report lacks calls that were cut off, and a meter those that the cache answered.
        let (total, before) = (exact.map_or(used, |exact| exact.larger(used)), self.counted);
        let more = total.since(before);
        self.counted = total;
        if let Some(metrics) = &self.metrics {
            metrics.add(more);
        }
        let counts = UsageCounts::from_total(more, 0);
        if counts != UsageCounts::default() || exact.is_some() {
            let (key, strategy) = (&self.under.0, self.under.1);
            self.usage.add(&UsageKey::today(key, strategy), counts);
        }
    }

    /// What was used, and the most that calls under way may use.
    fn with_open_calls(&self) -> UsageTotal {
        let (meter, used) = (&self.meter, self.meter.used());
        let prompt_tokens = meter.tokens().saturating_sub(used.completion_tokens);
        UsageTotal { llm_calls: meter.calls(), prompt_tokens, usd: meter.usd(), ..used }
    }

    async fn count_rest(mut self) {
        loop {
            tokio::time::sleep(EVERY).await;
            let is_over = Arc::strong_count(&self.meter) == 1;
            self.count(None);
            if is_over {
                return;
            }
        }
    }
}
