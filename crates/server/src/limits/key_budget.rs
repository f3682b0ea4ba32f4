//! The daily budget of a key: it is counted among the state of the base, where no programs can overspend
//! it together. A call is counted at its worst before it is made, and as what it was afterwards, so
//! that a crash gives nothing away.
use std::fmt;
use std::io;
use std::time::Duration;

use async_trait::async_trait;
use chrono::NaiveDate;
use halma_core::{Amount, Limit, SharedBudget};
use halma_engine::{BaseState, Cap, Spent, is_transient};
use tokio::task::spawn_blocking;

use crate::usage::{day_number, whole};

/// How often it is tried to reach the database before a call is refused.
const ATTEMPTS: u32 = 5;
const PAUSE: Duration = Duration::from_millis(300);

#[derive(Clone)]
pub(crate) struct KeyBudget {
    state: BaseState,
    subject: String,
    day: i32,
}

impl fmt::Debug for KeyBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyBudget({}, day {})", self.subject, self.day)
    }
}

impl KeyBudget {
    pub(crate) fn new(state: &BaseState, key: &str, day: NaiveDate) -> Self {
        let (state, day) = (state.clone(), day_number(day));
        Self { state, subject: format!("budget {key}"), day }
    }

    /// What all programs have spent of it today.
    pub(crate) async fn spent(&self) -> io::Result<Spent> {
        let budget = self.clone();
        spawn_blocking(move || budget.state.spent(&budget.subject, budget.day)).await?
    }

    /// Adds an amount unless that would exceed `cap`. When the connection is cut, it may be counted
    /// twice; it is never left out.
    async fn add(&self, spent: Spent, cap: Cap) -> io::Result<bool> {
        for attempt in 1.. {
            let budget = self.clone();
            let add = move || budget.state.add(&budget.subject, budget.day, spent, cap);
            match spawn_blocking(add).await? {
                Err(e) if is_transient(&e) && attempt < ATTEMPTS => {
                    tokio::time::sleep(PAUSE).await;
                }
                added => return added,
            }
        }
        Ok(false)
    }
}

#[async_trait]
impl SharedBudget for KeyBudget {
    async fn take(&self, amount: Amount, limit: Amount) -> Result<(), Limit> {
        let amount = spent(amount);
        let cap = Cap { calls: whole(limit.calls), cost_micros: whole(limit.micro_usd) };
        let limited = if cap.calls < i64::MAX { Limit::Calls } else { Limit::Usd };
        match self.add(amount, cap).await {
            Ok(true) => Ok(()),
            Ok(false) => {
                let used = self.spent().await.unwrap_or_default();
                let money = used.cost_micros.saturating_add(amount.cost_micros) > cap.cost_micros;
                Err(if money { Limit::Usd } else { limited })
            }
            Err(e) => {
                tracing::warn!("a call is refused, as the daily budget of its key is unknown: {e}");
                Err(limited)
            }
        }
    }

    fn settle(&self, taken: Amount, used: Amount) {
        let (taken, used) = (spent(taken), spent(used));
        let difference = Spent {
            calls: used.calls - taken.calls,
            cost_micros: used.cost_micros - taken.cost_micros,
            ..Spent::default()
        };
        if difference != Spent::default() {
            self.state.spend(&self.subject, self.day, difference);
        }
    }
}

/// The daily budget of a key limits calls and money, so no tokens are counted.
fn spent(amount: Amount) -> Spent {
    let (calls, cost_micros) = (whole(amount.calls), whole(amount.micro_usd));
    Spent { calls, cost_micros, ..Spent::default() }
}
