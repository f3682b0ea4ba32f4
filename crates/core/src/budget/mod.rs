//! Hard limits on calls, tokens, money and time.
//!
//! A call is taken from the budget before it is made and settled after it, so that branches that
//! run side by side cannot overspend together.
mod share;
mod used;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use tokio::time::Instant;

pub(crate) use self::share::Share;
use self::used::Used;
use crate::{Price, Usage, UsageTotal};

/// Limits of one question or one build; what is not set is not limited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Budget {
    /// Calls to models. Replies from the cache are not counted.
    pub calls: Option<u64>,
    /// Prompt and completion tokens together.
    pub tokens: Option<u64>,
    /// US dollars, by the prices in the configuration.
    #[serde(deserialize_with = "read_usd")]
    pub usd: Option<f64>,
    #[serde(deserialize_with = "read_seconds")]
    pub seconds: Option<f64>,
    /// How often in all a model is asked again because its reply does not fit.
    pub repairs: Option<u64>,
}

/// The most that a limit in dollars or seconds may be.
const HIGHEST: f64 = 1e9;

/// A number that is not a limit in dollars or seconds.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{0} is not a number from 0 to 1000000000; omit a limit that does not matter")]
pub struct NotALimit(f64);

/// A limit in dollars or seconds, such as one of a [`Budget`], if it is one.
pub fn check_limit(limit: f64) -> Result<f64, NotALimit> {
    if (0.0..=HIGHEST).contains(&limit) { Ok(limit) } else { Err(NotALimit(limit)) }
}

fn read_usd<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    read_limit("usd", from)
}

fn read_seconds<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    read_limit("seconds", from)
}

fn read_limit<'de, D: Deserializer<'de>>(key: &str, from: D) -> Result<Option<f64>, D::Error> {
    let limit = Option::<f64>::deserialize(from)?.map(check_limit).transpose();
    limit.map_err(|e| D::Error::custom(format!("`{key}`: {e}")))
}

/// The limit that was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    Calls,
    Tokens,
    Usd,
    Seconds,
}

impl std::fmt::Display for Limit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Calls => "calls",
            Self::Tokens => "tokens",
            Self::Usd => "usd",
            Self::Seconds => "seconds",
        })
    }
}

/// An amount of calls, tokens and millionths of a dollar: what is taken, or the most that may be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Amount {
    pub calls: u64,
    pub tokens: u64,
    pub micro_usd: u64,
}

/// Where it is counted what several programs spend of one budget.
#[async_trait]
pub trait SharedBudget: Send + Sync + std::fmt::Debug {
    /// Takes an amount before it is used, unless that would exceed `limit`; which one it would.
    async fn take(&self, amount: Amount, limit: Amount) -> Result<(), Limit>;

    /// Puts what was really used in the place of what was taken. Returns at once.
    fn settle(&self, taken: Amount, used: Amount);
}

/// A budget being spent; shared by everything that runs under it.
#[derive(Debug)]
pub struct Meter {
    budget: Budget,
    started: Instant,
    calls: AtomicU64,
    repairs: AtomicU64,
    tokens: AtomicU64,
    /// Millionths of a dollar, so that it can be counted without a lock.
    micro_usd: AtomicU64,
    /// What of it was used by calls that are over.
    used: Used,
    /// The budget of the whole work that this one is a part of.
    whole: Option<Arc<Meter>>,
    /// What other programs spend of it as well.
    shared: Option<Arc<dyn SharedBudget>>,
    /// The first limit for which a call was refused.
    refused: OnceLock<Limit>,
}

/// What one call has taken; given to [`Meter::settle`] when the call is over.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Taken {
    tokens: u64,
    micro_usd: u64,
}

impl Taken {
    fn amount(self) -> Amount {
        Amount { calls: 1, tokens: self.tokens, micro_usd: self.micro_usd }
    }
}

/// What new work may use, of which nothing is known.
const OPEN: Share = Share::Open { closing: Duration::ZERO };

impl Meter {
    pub fn new(budget: Budget) -> Self {
        let started = Instant::now();
        Self {
            budget,
            started,
            calls: AtomicU64::new(0),
            repairs: AtomicU64::new(0),
            tokens: AtomicU64::new(0),
            micro_usd: AtomicU64::new(0),
            used: Used::default(),
            whole: None,
            shared: None,
            refused: OnceLock::new(),
        }
    }

    /// A budget inside another one: what is spent here is spent there too, and the limits of both
    /// hold (one question of an evaluation that has a budget as a whole).
    pub fn within(budget: Budget, whole: Arc<Self>) -> Self {
        Self { whole: Some(whole), ..Self::new(budget) }
    }

    /// A budget that other programs spend, too: its limits hold for all of them together.
    pub fn shared(budget: Budget, shared: Arc<dyn SharedBudget>) -> Self {
        Self { shared: Some(shared), ..Self::new(budget) }
    }

    pub fn unlimited() -> Self {
        Self::new(Budget::default())
    }

    /// Its limits.
    pub fn budget(&self) -> Budget {
        self.budget
    }

    /// Takes one call of the worst size it can have.
    pub(crate) async fn take(
        &self,
        usage: Usage,
        price: Price,
        share: Share,
    ) -> Result<Taken, Limit> {
        let taken = self.take_here(usage, price, share)?;
        if let Err(limit) = self.take_shared(taken, share).await {
            self.settle_here(taken, None);
            self.refused.get_or_init(|| limit);
            return Err(limit);
        }
        Ok(taken)
    }

    /// Takes a call from the budgets of this program.
    fn take_here(&self, usage: Usage, price: Price, share: Share) -> Result<Taken, Limit> {
        let taken = self.take_in_budget(usage, price, share).inspect_err(|limit| {
            self.refused.get_or_init(|| *limit);
        })?;
        let whole = self.whole.as_ref().map(|whole| whole.take_here(usage, price, share));
        if let Some(Err(limit)) = whole {
            self.settle_own(taken, None);
            return Err(limit);
        }
        Ok(taken)
    }

    /// Takes a call from the budget that other programs spend too, if there is one.
    async fn take_shared(&self, taken: Taken, share: Share) -> Result<(), Limit> {
        let Some((meter, shared)) = self.shared_budget() else { return Ok(()) };
        let Budget { calls, tokens, usd, .. } = meter.budget;
        let limit = Amount {
            calls: calls.map_or(u64::MAX, |limit| share.calls(limit)),
            tokens: tokens.map_or(u64::MAX, |limit| share.amount(limit)),
            micro_usd: usd.map_or(u64::MAX, |limit| share.amount(micro(limit))),
        };
        shared.take(taken.amount(), limit).await
    }

    fn shared_budget(&self) -> Option<(&Self, &Arc<dyn SharedBudget>)> {
        match &self.shared {
            Some(shared) => Some((self, shared)),
            None => self.whole.as_deref().and_then(Self::shared_budget),
        }
    }

    fn take_in_budget(&self, usage: Usage, price: Price, share: Share) -> Result<Taken, Limit> {
        if self.own_time_left(share).is_some_and(|left| left.is_zero()) {
            return Err(Limit::Seconds);
        }
        let calls = self.budget.calls.map(|limit| share.calls(limit));
        take(&self.calls, 1, calls).ok_or(Limit::Calls)?;
        let taken = Taken { tokens: usage.total(), micro_usd: micro(price.cost(usage)) };
        let tokens = self.budget.tokens.map(|limit| share.amount(limit));
        if take(&self.tokens, taken.tokens, tokens).is_none() {
            self.calls.fetch_sub(1, Ordering::AcqRel);
            return Err(Limit::Tokens);
        }
        let usd = self.budget.usd.map(|limit| share.amount(micro(limit)));
        if take(&self.micro_usd, taken.micro_usd, usd).is_none() {
            self.calls.fetch_sub(1, Ordering::AcqRel);
            self.tokens.fetch_sub(taken.tokens, Ordering::AcqRel);
            return Err(Limit::Usd);
        }
        Ok(taken)
    }

    /// Takes one repair; whether there was one left.
    pub(crate) fn take_repair(&self) -> bool {
        take(&self.repairs, 1, self.budget.repairs).is_some()
    }

    /// What the calls that are over have used. It only grows, unlike [`Meter::usd`] and its like,
    /// which hold the most that calls under way may use.
    pub fn used(&self) -> UsageTotal {
        let Usage { prompt_tokens, completion_tokens, .. } = self.used.tokens();
        let (llm_calls, usd) = (self.used.calls(), self.used.usd());
        UsageTotal { llm_calls, prompt_tokens, completion_tokens, usd, ..UsageTotal::default() }
    }

    /// Counts a call that was cut off by the most it can have used: the model may have been paid.
    pub(crate) fn count_cut_off(&self, taken: Taken) {
        let usage = Usage { prompt_tokens: taken.tokens, completion_tokens: 0, ..Usage::default() };
        self.used.add(usage, taken.micro_usd);
        if let Some(whole) = &self.whole {
            whole.count_cut_off(taken);
        }
    }

    /// Puts what was really used in the place of what was taken. `None`: the call cost nothing
    /// (it came from the cache or never reached the model).
    pub(crate) fn settle(&self, taken: Taken, used: Option<(Usage, f64)>) {
        self.settle_here(taken, used);
        if let Some((_, shared)) = self.shared_budget() {
            let used = used.map_or_else(Amount::default, |(usage, usd)| Amount {
                calls: 1,
                tokens: usage.total(),
                micro_usd: micro(usd),
            });
            shared.settle(taken.amount(), used);
        }
    }

    fn settle_here(&self, taken: Taken, used: Option<(Usage, f64)>) {
        self.settle_own(taken, used);
        if let Some(whole) = &self.whole {
            whole.settle_here(taken, used);
        }
    }

    fn settle_own(&self, taken: Taken, used: Option<(Usage, f64)>) {
        let (tokens, micro_usd) = used.map_or((0, 0), |(usage, usd)| (usage.total(), micro(usd)));
        match used {
            Some((usage, _)) => self.used.add(usage, micro_usd),
            None => _ = self.calls.fetch_sub(1, Ordering::AcqRel),
        }
        replace(&self.tokens, taken.tokens, tokens);
        replace(&self.micro_usd, taken.micro_usd, micro_usd);
    }

    /// Time until the limit; `None` when there is none.
    pub(crate) fn time_left(&self, share: Share) -> Option<Duration> {
        let whole = self.whole.as_ref().and_then(|whole| whole.time_left(share));
        self.own_time_left(share).into_iter().chain(whole).min()
    }

    /// Whether the time for new work is over, here or in the total that this is a part of, for
    /// work that only the time limits.
    pub fn is_time_over(&self) -> bool {
        self.time_left(OPEN).is_some_and(|left| left.is_zero())
    }

    /// The limit that ends this budget for new work: one for which a call was refused (what is
    /// kept back may still be there), or the time.
    pub fn spent(&self) -> Option<Limit> {
        let late = || self.own_time_left(OPEN).filter(Duration::is_zero).map(|_| Limit::Seconds);
        self.refused.get().copied().or_else(late)
    }

    fn own_time_left(&self, share: Share) -> Option<Duration> {
        let limit = Duration::try_from_secs_f64(self.budget.seconds?).unwrap_or_default();
        Some(share.time(limit).saturating_sub(self.started.elapsed()))
    }

    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::Acquire)
    }

    pub fn tokens(&self) -> u64 {
        self.tokens.load(Ordering::Acquire)
    }

    /// US dollars.
    #[expect(clippy::cast_precision_loss, reason = "micro-dollars stay far below 2^52")]
    pub fn usd(&self) -> f64 {
        self.micro_usd.load(Ordering::Acquire) as f64 / 1e6
    }
}

/// Puts what was used in the place of what was taken. Without the bounds an absurd count of a server
/// would wrap around, and the budget would look unspent.
fn replace(counter: &AtomicU64, taken: u64, used: u64) {
    let next = |sum: u64| Some(sum.saturating_add(used).saturating_sub(taken));
    // It always has a next value.
    let _ = counter.fetch_update(Ordering::AcqRel, Ordering::Acquire, next);
}

/// Adds `amount` unless that passes `most`.
fn take(counter: &AtomicU64, amount: u64, limit: Option<u64>) -> Option<u64> {
    counter
        .fetch_update(Ordering::AcqRel, Ordering::Acquire, |used| {
            let next = used.saturating_add(amount);
            (limit.is_none_or(|limit| next <= limit)).then_some(next)
        })
        .ok()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "budgets are positive and far below 2^63 millionths"
)]
fn micro(usd: f64) -> u64 {
    (usd.max(0.0) * 1e6).ceil() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_absurd_count_of_tokens_spends_the_budget_and_does_not_wrap_around() {
        let budget = Budget { tokens: Some(1_000), ..Budget::default() };
        let meter = Meter::new(budget);
        let usage = Usage { prompt_tokens: 10, completion_tokens: 10, ..Usage::default() };
        let absurd =
            Usage { prompt_tokens: u64::MAX, completion_tokens: u64::MAX, ..Usage::default() };
        let taken = meter.take(usage, Price::default(), Share::Whole).await.unwrap();
        meter.settle(taken, Some((absurd, 0.0)));
        assert!(meter.tokens() > u64::MAX / 2, "{}", meter.tokens());
        let refused = meter.take(usage, Price::default(), Share::Whole).await;
        assert_eq!(refused.err(), Some(Limit::Tokens));
    }

    #[tokio::test(start_paused = true)]
    async fn the_time_is_over_also_where_another_limit_was_met_first() {
        let budget = Budget { calls: Some(0), seconds: Some(10.0), ..Budget::default() };
        let meter = Arc::new(Meter::new(budget));
        let part = Meter::within(Budget::default(), Arc::clone(&meter));
        let refused = meter.take(Usage::default(), Price::default(), OPEN).await;
        assert_eq!(refused.err(), Some(Limit::Calls));
        assert!(!meter.is_time_over() && !part.is_time_over());
        tokio::time::advance(Duration::from_secs(9)).await;
        assert_eq!(meter.spent(), Some(Limit::Calls));
        assert!(meter.is_time_over() && part.is_time_over());
    }
}
