//! The daily budget of a key: it is counted among the state of the base, where no programs can overspend
//! it together. A call is counted at its worst before it is made, and as what it was afterwards, so
//! that a crash gives nothing away.
use std::fmt;
use std::io;
use std::time::Duration;

use async_trait::async_trait;
use chrono::NaiveDate;
use halma_core::{Amount, Limit, SharedBudget};
use halma_engine::{BaseState, Spent, is_transient};
use tokio::task::spawn_blocking;

use crate::usage::day_number;

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
        let own = self.clone();
        spawn_blocking(move || own.state.spent(&own.subject, own.day)).await?
    }

    /// Adds an amount unless that would pass `most`. Should the connection break, it may be counted
    /// twice, and never not at all.
    async fn add(&self, spent: Spent, most: Spent) -> io::Result<bool> {
        for attempt in 1.. {
            let own = self.clone();
            let add = move || own.state.add(&own.subject, own.day, spent, most);
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
    async fn take(&self, amount: Amount, most: Amount) -> Result<(), Limit> {
        let (amount, most) = (spent(amount), spent(most));
        let limited = if most.calls < i64::MAX { Limit::Calls } else { Limit::Usd };
        match self.add(amount, most).await {
            Ok(true) => Ok(()),
            Ok(false) => {
                let used = self.spent().await.unwrap_or_default();
                let money = used.cost_micros.saturating_add(amount.cost_micros) > most.cost_micros;
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
            tokens: used.tokens - taken.tokens,
            cost_micros: used.cost_micros - taken.cost_micros,
        };
        if difference != Spent::default() {
            self.state.spend(&self.subject, self.day, difference);
        }
    }
}

fn spent(amount: Amount) -> Spent {
    let whole = |count| i64::try_from(count).unwrap_or(i64::MAX);
    let Amount { calls, tokens, micro_usd } = amount;
    Spent { calls: whole(calls), tokens: whole(tokens), cost_micros: whole(micro_usd) }
}
