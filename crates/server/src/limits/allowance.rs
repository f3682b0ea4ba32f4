//! The daily budget of a key: all its questions and builds share it, so that concurrent ones cannot
//! overspend together; of a base that is shared, also those of other servers.
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::http::StatusCode;
use chrono::{NaiveDate, Timelike as _, Utc};
use halma_core::{Budget, Meter};
use halma_engine::SharedSpace;
use halma_pg::Spent;
use parking_lot::Mutex;

use super::blocking::run_blocking;
use super::key_budget::KeyBudget;
use crate::keys::{Key, Keys};
use crate::problem::Problem;
use crate::usage::key_usage;
use crate::workspace;

/// The meter of a key on one day.
#[derive(Clone)]
pub(crate) struct DailyMeter {
    day: NaiveDate,
    meter: Arc<Meter>,
    /// Where it is counted, if other servers spend it as well.
    shared: Option<KeyBudget>,
}

pub(crate) struct Allowance {
    keys: Arc<Keys>,
    shared: Option<SharedSpace>,
    /// The folder of the base: what a key has used of its budget is in the folders of all workspaces.
    dir: PathBuf,
    meters: Mutex<HashMap<String, DailyMeter>>,
}

impl Allowance {
    pub(crate) fn new(keys: Arc<Keys>, shared: Option<SharedSpace>, dir: &Path) -> Self {
        Self { keys, shared, dir: dir.to_owned(), meters: Mutex::default() }
    }

    pub(crate) fn keys(&self) -> &Arc<Keys> {
        &self.keys
    }

    fn known(&self, key: &Key) -> Option<DailyMeter> {
        let day = Utc::now().date_naive();
        self.meters.lock().get(&key.id).filter(|daily| daily.day == day).cloned()
    }

    /// The budget of a key for the rest of the day; `None` for a key without limits. Reads the usage
    /// of all workspaces, the first time on a day.
    fn daily(&self, key: &Key) -> io::Result<Option<DailyMeter>> {
        if !has_limits(key) {
            return Ok(None);
        }
        if let Some(daily) = self.known(key) {
            return Ok(Some(daily));
        }
        let day = Utc::now().date_naive();
        let shared = self.shared.as_ref().map(|space| KeyBudget::new(space, &key.id, day));
        let (calls, usd) = (key.calls_per_day, key.budget_per_day_usd);
        let meter = Arc::new(if let Some(shared) = &shared {
            let budget = Budget { calls, usd, ..Budget::default() };
            Meter::shared(budget, Arc::new(shared.clone()))
        } else {
            let spent = key_usage(&workspace::folders(&self.dir), (&key.id, day))?;
            Meter::new(Budget {
                calls: calls.map(|calls| calls.saturating_sub(spent.calls)),
                usd: usd.map(|usd| (usd - spent.usd).max(0.0)),
                ..Budget::default()
            })
        });
        // Of two that were read at the same time the first one counts.
        let mut meters = self.meters.lock();
        let known = meters.get(&key.id).filter(|daily| daily.day >= day).cloned();
        let daily = known.unwrap_or(DailyMeter { day, meter, shared });
        meters.insert(key.id.clone(), daily.clone());
        Ok(Some(daily))
    }

    /// The budget of the key for another question; refuses one that is spent. `None` for a key
    /// without limits.
    pub(crate) async fn admit(
        self: &Arc<Self>,
        key: Option<&Key>,
    ) -> Result<Option<Arc<Meter>>, Problem> {
        let Some(key) = key.filter(|key| has_limits(key)) else { return Ok(None) };
        let known = self.known(key).map(Some);
        let daily = if let Some(known) = known {
            known
        } else {
            let (own, key) = (Arc::clone(self), key.clone());
            run_blocking(move || own.daily(&key).map_err(|e| Problem::io(&e))).await?
        };
        let Some(daily) = daily else { return Ok(None) };
        daily.check().await?;
        Ok(Some(daily.meter))
    }

    /// The budget of the key with this id. A key that was revoked may spend nothing, and neither may
    /// one of which it cannot be read what it has spent.
    pub(crate) fn meter_of_id(&self, id: &str) -> Option<Arc<Meter>> {
        match self.keys.by_id(id).map(|key| self.daily(&key)) {
            Some(Ok(daily)) => return daily.map(|daily| daily.meter),
            Some(Err(e)) => tracing::error!("the usage of the key `{id}` cannot be read: {e}"),
            None => {}
        }
        Some(Arc::new(Meter::new(Budget { calls: Some(0), ..Budget::default() })))
    }
}

fn has_limits(key: &Key) -> bool {
    key.budget_per_day_usd.is_some() || key.calls_per_day.is_some()
}

impl DailyMeter {
    /// Refuses a question when the budget is spent.
    async fn check(&self) -> Result<(), Problem> {
        let Budget { calls: most_calls, usd: most_usd, .. } = self.meter.budget();
        let (calls, usd) = match &self.shared {
            None => (self.meter.calls(), self.meter.usd()),
            Some(shared) => used(shared.spent().await?),
        };
        if most_calls.is_some_and(|max| calls >= max) || most_usd.is_some_and(|max| usd >= max) {
            let detail = "this key has spent its daily budget";
            return Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, detail)
                .hint("wait until midnight UTC, or ask for a key with a larger budget")
                .retry_after(until_midnight()));
        }
        Ok(())
    }
}

/// Seconds until the next day begins, in UTC.
fn until_midnight() -> u64 {
    u64::from(86_400 - Utc::now().num_seconds_from_midnight())
}

/// Calls and US dollars.
#[expect(clippy::cast_precision_loss, reason = "amounts stay far below 2^52 millionths")]
fn used(spent: Spent) -> (u64, f64) {
    (u64::try_from(spent.calls).unwrap_or_default(), spent.cost_micros as f64 / 1e6)
}
