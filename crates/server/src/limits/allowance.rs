//! The daily budget of a key: all its questions and builds share it, so that concurrent ones cannot
//! overspend together; of a base that is shared, also those of other servers.
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::http::StatusCode;
use chrono::{NaiveDate, Utc};
use halma_core::{Budget, Meter};
use halma_engine::SharedSpace;
use halma_pg::Spent;

use super::key_budget::KeyBudget;
use crate::keys::{Key, Keys};
use crate::problem::Problem;
use crate::usage::Usage;

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
    meters: Mutex<HashMap<String, DailyMeter>>,
}

impl Allowance {
    pub(crate) fn new(keys: Arc<Keys>, shared: Option<SharedSpace>) -> Self {
        Self { keys, shared, meters: Mutex::default() }
    }

    pub(crate) fn keys(&self) -> &Arc<Keys> {
        &self.keys
    }

    /// The budget of a key for the rest of the day; `None` for a key without limits.
    fn daily(&self, key: &Key, usage: &Usage) -> Option<DailyMeter> {
        if key.budget_per_day_usd.is_none() && key.calls_per_day.is_none() {
            return None;
        }
        let day = Utc::now().date_naive();
        let mut meters = self.meters.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(daily) = meters.get(&key.id).filter(|daily| daily.day == day) {
            return Some(daily.clone());
        }
        let shared = self.shared.as_ref().map(|space| KeyBudget::new(space, &key.id, day));
        let (calls, usd) = (key.calls_per_day, key.budget_per_day_usd);
        let meter = Arc::new(if let Some(shared) = &shared {
            let budget = Budget { calls, usd, ..Budget::default() };
            Meter::shared(budget, Arc::new(shared.clone()))
        } else {
            let spent = usage.key_usage(&key.id, day);
            Meter::new(Budget {
                calls: calls.map(|calls| calls.saturating_sub(spent.calls)),
                usd: usd.map(|usd| (usd - spent.usd).max(0.0)),
                ..Budget::default()
            })
        });
        let daily = DailyMeter { day, meter, shared };
        meters.insert(key.id.clone(), daily.clone());
        Some(daily)
    }

    /// The budget of the key for another question; refuses one that is spent. `None` for a key
    /// without limits.
    pub(crate) async fn admit(
        &self,
        key: Option<&Key>,
        usage: &Usage,
    ) -> Result<Option<Arc<Meter>>, Problem> {
        let Some(daily) = key.and_then(|key| self.daily(key, usage)) else { return Ok(None) };
        daily.check().await?;
        Ok(Some(daily.meter))
    }

    /// The budget of the key with this id. A key that was revoked may spend nothing.
    pub(crate) fn meter_of_id(&self, id: &str, usage: &Usage) -> Option<Arc<Meter>> {
        match self.keys.by_id(id) {
            Some(key) => self.daily(&key, usage).map(|daily| daily.meter),
            None => Some(Arc::new(Meter::new(Budget { calls: Some(0), ..Budget::default() }))),
        }
    }
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
                .hint("wait until midnight UTC, or ask for a key with a larger budget"));
        }
        Ok(())
    }
}

/// Calls and US dollars.
#[expect(clippy::cast_precision_loss, reason = "amounts stay far below 2^52 millionths")]
fn used(spent: Spent) -> (u64, f64) {
    (u64::try_from(spent.calls).unwrap_or_default(), spent.cost_micros as f64 / 1e6)
}
