//! The daily budget of a key: all its questions and builds share it, so that concurrent ones cannot
//! overspend together.
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::http::StatusCode;
use chrono::{NaiveDate, Utc};
use halma_core::{Budget, Meter};

use crate::keys::{Key, Keys};
use crate::problem::Problem;
use crate::usage::Usage;

/// The meter of a key on one day.
struct DailyMeter {
    day: NaiveDate,
    meter: Arc<Meter>,
}

pub(crate) struct Allowance {
    keys: Arc<Keys>,
    meters: Mutex<HashMap<String, DailyMeter>>,
}

impl Allowance {
    pub(crate) fn new(keys: Arc<Keys>) -> Self {
        Self { keys, meters: Mutex::default() }
    }

    pub(crate) fn keys(&self) -> &Keys {
        &self.keys
    }

    /// The budget of a key for the rest of the day; `None` for a key without limits.
    pub(crate) fn meter(&self, key: &Key, usage: &Usage) -> Option<Arc<Meter>> {
        if key.budget_per_day_usd.is_none() && key.calls_per_day.is_none() {
            return None;
        }
        let today = Utc::now().date_naive();
        let mut meters = self.meters.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(daily) = meters.get(&key.id).filter(|daily| daily.day == today) {
            return Some(Arc::clone(&daily.meter));
        }
        let used = usage.key_usage(&key.id, today);
        let meter = Arc::new(Meter::new(Budget {
            calls: key.calls_per_day.map(|calls| calls.saturating_sub(used.calls)),
            usd: key.budget_per_day_usd.map(|usd| (usd - used.usd).max(0.0)),
            ..Budget::default()
        }));
        meters.insert(key.id.clone(), DailyMeter { day: today, meter: Arc::clone(&meter) });
        Some(meter)
    }

    /// [`Allowance::meter`] for the key with this id. A key that was revoked may spend nothing.
    pub(crate) fn meter_of_id(&self, id: &str, usage: &Usage) -> Option<Arc<Meter>> {
        match self.keys.by_id(id) {
            Some(key) => self.meter(&key, usage),
            None => Some(Arc::new(Meter::new(Budget { calls: Some(0), ..Budget::default() }))),
        }
    }
}

/// Refuses a question when the daily budget is spent.
pub(crate) fn check(meter: &Meter) -> Result<(), Problem> {
    let budget = meter.budget();
    let calls = budget.calls.is_some_and(|max| meter.calls() >= max);
    let usd = budget.usd.is_some_and(|max| meter.usd() >= max);
    if calls || usd {
        let detail = "this key has spent its daily budget";
        return Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, detail)
            .hint("wait until midnight UTC, or ask for a key with a larger budget"));
    }
    Ok(())
}
