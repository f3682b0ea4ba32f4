//! The daily budget of a key: all its questions and builds share it, so that concurrent ones cannot
//! overspend together, also not with those of other programs.
use std::collections::HashMap;
use std::sync::Arc;

use axum::http::StatusCode;
use chrono::{NaiveDate, Timelike as _, Utc};
use halma_core::{Budget, Meter};
use halma_engine::BaseState;
use parking_lot::Mutex;

use super::key_budget::KeyBudget;
use crate::builds::unstored;
use crate::keys::{Key, Keys};
use crate::problem::Problem;
use crate::usage::{count, dollars};

/// The meter of a key on one day.
#[derive(Clone)]
pub(crate) struct DailyMeter {
    day: NaiveDate,
    meter: Arc<Meter>,
    /// Where it is counted.
    budget: KeyBudget,
}

pub(crate) struct Allowance {
    pub(crate) keys: Arc<Keys>,
    /// Of the default workspace: one budget is for the questions of all.
    state: BaseState,
    meters: Mutex<HashMap<String, DailyMeter>>,
}

impl Allowance {
    pub(crate) fn new(keys: Arc<Keys>, state: &BaseState) -> Self {
        Self { keys, state: state.clone(), meters: Mutex::default() }
    }

    /// The budget of a key for the rest of the day; `None` for a key without limits.
    fn daily(&self, key: &Key) -> Option<DailyMeter> {
        if key.budget_per_day_usd.is_none() && key.calls_per_day.is_none() {
            return None;
        }
        let day = Utc::now().date_naive();
        let mut meters = self.meters.lock();
        if let Some(daily) = meters.get(&key.id).filter(|daily| daily.day == day) {
            return Some(daily.clone());
        }
        let budget = KeyBudget::new(&self.state, &key.id, day);
        let (calls, usd) = (key.calls_per_day, key.budget_per_day_usd);
        let limits = Budget { calls, usd, ..Budget::default() };
        let meter = Arc::new(Meter::shared(limits, Arc::new(budget.clone())));
        let daily = DailyMeter { day, meter, budget };
        meters.insert(key.id.clone(), daily.clone());
        Some(daily)
    }

    /// The budget of the key for another question; refuses one that is spent. `None` for a key
    /// without limits.
    pub(crate) async fn admit(
        self: &Arc<Self>,
        key: Option<&Key>,
    ) -> Result<Option<Arc<Meter>>, Problem> {
        let Some(daily) = key.and_then(|key| self.daily(key)) else { return Ok(None) };
        daily.check().await?;
        Ok(Some(daily.meter))
    }

    /// The budget of the key with this id. A key that was revoked may spend nothing.
    pub(crate) fn meter_of_id(&self, id: &str) -> Option<Arc<Meter>> {
        match self.keys.by_id(id) {
            Some(key) => self.daily(&key).map(|daily| daily.meter),
            None => Some(Arc::new(Meter::new(Budget { calls: Some(0), ..Budget::default() }))),
        }
    }
}

impl DailyMeter {
    /// Refuses a question when the budget is spent.
    async fn check(&self) -> Result<(), Problem> {
        let Budget { calls, usd, .. } = self.meter.budget();
        let spent = self.budget.spent().await.map_err(unstored)?;
        if calls.is_some_and(|max| count(spent.calls) >= max)
            || usd.is_some_and(|max| dollars(spent.cost_micros) >= max)
        {
            return Err(spent_today());
        }
        Ok(())
    }
}

/// Why a question of a key is not answered.
pub(crate) fn spent_today() -> Problem {
    Problem::new(StatusCode::TOO_MANY_REQUESTS, "this key has spent its daily budget")
        .hint("wait until midnight UTC, or ask for a key with a larger budget")
        .retry_after(until_midnight())
}

/// Seconds until the next day begins, in UTC.
fn until_midnight() -> u64 {
    u64::from(86_400 - Utc::now().num_seconds_from_midnight())
}
