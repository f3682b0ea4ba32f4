//! Usage of a build.
use std::sync::Arc;

use halma_core::{Budget, Meter, UsageTotal};

use super::{Build, BuildAccounts};
use crate::usage::UsageCounter;
use crate::workspace::Workspace;

/// Counts what a build uses as it goes on, and the rest when it ends, however it ends. One that is
/// suspended for a deletion has one for all its runs: calls that were under way then are made to their
/// end, and asked for again from the cache.
pub(super) struct Spending {
    build: String,
    pub(super) meter: Arc<Meter>,
    pub(super) counter: UsageCounter,
    /// Runs of the build so far.
    runs: u32,
    is_counted: bool,
}

impl Spending {
    /// Of a build that begins, or continues after it was suspended.
    pub(super) fn start(
        build: &Build,
        (workspace, accounts): (&Arc<Workspace>, &BuildAccounts),
        former: Option<Self>,
    ) -> Self {
        let former = former.filter(|former| former.build == build.id && !former.is_counted);
        if let Some(mut former) = former {
            former.runs += 1;
            return former;
        }
        let key = build.key.as_deref();
        let daily = key.and_then(|key| accounts.allowance.meter_of_id(key));
        let meter = Arc::new(match daily {
            Some(daily) => Meter::within(Budget::default(), daily),
            None => Meter::unlimited(),
        });
        let under = (key.unwrap_or_default(), "index");
        Self {
            build: build.id.clone(),
            counter: UsageCounter::new(workspace, under, Arc::clone(&meter))
                .in_metrics(&accounts.metrics.build_usage),
            meter,
            runs: 1,
            is_counted: false,
        }
    }

    /// Counts what was used; `exact` is what the last run reports.
    pub(super) fn count(&mut self, exact: Option<UsageTotal>) {
        if std::mem::replace(&mut self.is_counted, true) {
            return;
        }
        let exact = exact.filter(|_| self.runs == 1);
        self.counter.finish(exact);
    }
}
