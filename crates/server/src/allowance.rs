//! What a key may spend in a day: one budget that all its questions and builds are inside of, so
//! that those running side by side cannot overspend together.
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::http::StatusCode;
use chrono::{NaiveDate, Utc};
use halma_core::{Budget, Meter};

use crate::keys::{Key, Keys};
use crate::problem::Problem;
use crate::usage::Usage;

pub(crate) struct Allowance {
    keys: Arc<Keys>,
    days: Mutex<HashMap<String, (NaiveDate, Arc<Meter>)>>,
}

impl Allowance {
    pub(crate) fn new(keys: Arc<Keys>) -> Self {
        Self { keys, days: Mutex::default() }
    }

    /// The budget of a key for the rest of the day; `None` for one without limits.
    pub(crate) fn of(&self, key: &Key, usage: &Usage) -> Option<Arc<Meter>> {
        if key.budget_per_day_usd.is_none() && key.calls_per_day.is_none() {
            return None;
        }
        let today = Utc::now().date_naive();
        let mut days = self.days.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, meter)) = days.get(&key.id).filter(|(day, _)| *day == today) {
            return Some(Arc::clone(meter));
        }
        let used = usage.of_key(&key.id, today);
        let meter = Arc::new(Meter::new(Budget {
            calls: key.calls_per_day.map(|calls| calls.saturating_sub(used.calls)),
            usd: key.budget_per_day_usd.map(|usd| (usd - used.usd).max(0.0)),
            ..Budget::default()
        }));
        days.insert(key.id.clone(), (today, Arc::clone(&meter)));
        Some(meter)
    }

    /// [`Allowance::of`] for the key of this id. One that is gone may spend nothing.
    pub(crate) fn of_id(&self, id: &str, usage: &Usage) -> Option<Arc<Meter>> {
        match self.keys.by_id(id) {
            Some(key) => self.of(&key, usage),
            None => Some(Arc::new(Meter::new(Budget { calls: Some(0), ..Budget::default() }))),
        }
    }
}

/// Refuses a question when the day's budget is spent.
pub(crate) fn check(meter: &Meter) -> Result<(), Problem> {
    let budget = meter.budget();
    let calls = budget.calls.is_some_and(|most| meter.calls() >= most);
    let usd = budget.usd.is_some_and(|most| meter.usd() >= most);
    if calls || usd {
        let said = "this key has spent what it may in a day";
        return Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, said)
            .hint("wait until midnight UTC, or ask for a key with a larger budget"));
    }
    Ok(())
}
