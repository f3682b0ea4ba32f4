//! The daily budget of a key that several servers spend: it is counted in the database of the base,
//! where they cannot overspend it together. A call is counted at its worst before it is made, and as
//! what it was afterwards, so that a crash gives nothing away.
use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use chrono::NaiveDate;
use halma_core::{Amount, Limit, SharedBudget};
use halma_engine::SharedSpace;
use halma_pg::{PgError, Spent};

use crate::usage::day_number;

/// How often it is tried to reach the database before a call is refused.
const ATTEMPTS: u32 = 5;
const PAUSE: Duration = Duration::from_millis(300);

#[derive(Clone)]
pub(crate) struct KeyBudget {
    space: SharedSpace,
    subject: String,
    day: i32,
}

impl fmt::Debug for KeyBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyBudget({}, day {})", self.subject, self.day)
    }
}

impl KeyBudget {
    pub(crate) fn new(space: &SharedSpace, key: &str, day: NaiveDate) -> Self {
        let (space, day) = (space.clone(), day_number(day));
        Self { space, subject: format!("budget {key}"), day }
    }

    /// What all servers have spent of it today.
    pub(crate) async fn spent(&self) -> Result<Spent, PgError> {
        let (usage, subject, day) = (self.space.home().usage(), self.subject.clone(), self.day);
        self.space.run(async move { usage.spent(&subject, day, day).await }).await
    }

    /// Adds an amount unless that would pass `most`. Should the connection break, it may be counted
    /// twice, and never not at all.
    async fn add(&self, spent: Spent, most: Spent) -> Result<bool, PgError> {
        let (usage, subject, day) = (self.space.home().usage(), self.subject.clone(), self.day);
        let adding = async move {
            for _ in 1..ATTEMPTS {
                match usage.add(&subject, day, spent, most).await {
                    Err(e) if e.is_transient() => tokio::time::sleep(PAUSE).await,
                    added => return added,
                }
            }
            usage.add(&subject, day, spent, most).await
        };
        self.space.run(adding).await
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
            self.space.spend(self.subject.clone(), self.day, difference);
        }
    }
}

fn spent(amount: Amount) -> Spent {
    let whole = |count| i64::try_from(count).unwrap_or(i64::MAX);
    let Amount { calls, tokens, micro_usd } = amount;
    Spent { calls: whole(calls), tokens: whole(tokens), cost_micros: whole(micro_usd) }
}
