//! Usage in the database of a workspace, to which all servers add.
use chrono::{DateTime, NaiveDate, TimeDelta};
use halma_engine::SharedSpace;
use halma_pg::{PgError, Spent, SpentOn};

use super::{Sums, UsageCounts, UsageKey};

/// A row has three sums, so that what is counted takes two: calls, prompt tokens and money; and
/// questions, completion tokens and cached calls.
const FIRST: &str = "usage-1";
const SECOND: &str = "usage-2";

pub(super) struct DatabaseUsage(SharedSpace);

impl DatabaseUsage {
    pub(super) fn new(space: &SharedSpace) -> Self {
        Self(space.clone())
    }

    /// Returns at once; it is written in the background, again while the database is not reached.
    pub(super) fn add(&self, key: &UsageKey, counts: UsageCounts) {
        let day = day_number(key.day);
        let first = Spent {
            calls: whole(counts.calls),
            tokens: whole(counts.prompt_tokens),
            cost_micros: micros(counts.usd),
        };
        let second = Spent {
            calls: whole(counts.questions),
            tokens: whole(counts.completion_tokens),
            cost_micros: whole(counts.cached),
        };
        for (kind, spent) in [(FIRST, first), (SECOND, second)] {
            if spent != Spent::default() {
                let subject = format!("{kind} {} {}", key.key, key.strategy);
                self.0.spend(subject, day, spent);
            }
        }
    }

    pub(super) fn sums(&self) -> Result<Sums, PgError> {
        let usage = self.0.home().usage();
        let mut sums = Sums::new();
        for line in self.0.wait(async move { usage.list(0, i32::MAX).await })? {
            if let Some((key, counts)) = read(&line) {
                sums.entry(key).or_default().add(counts);
            }
        }
        Ok(sums)
    }
}

/// What a row counts; `None` for what is not usage of questions and builds.
fn read(line: &SpentOn) -> Option<(UsageKey, UsageCounts)> {
    let mut parts = line.subject.splitn(3, ' ');
    let (kind, key, strategy) = (parts.next()?, parts.next()?, parts.next()?);
    let Spent { calls, tokens, cost_micros } = line.spent;
    let counts = match kind {
        FIRST => UsageCounts {
            calls: count(calls),
            prompt_tokens: count(tokens),
            usd: dollars(cost_micros),
            ..UsageCounts::default()
        },
        SECOND => UsageCounts {
            questions: count(calls),
            completion_tokens: count(tokens),
            cached: count(cost_micros),
            ..UsageCounts::default()
        },
        _ => return None,
    };
    let day = DateTime::UNIX_EPOCH
        .date_naive()
        .checked_add_signed(TimeDelta::try_days(line.day.into())?)?;
    Some((UsageKey { day, key: key.to_owned(), strategy: strategy.to_owned() }, counts))
}

/// Days since 1970-01-01.
pub(crate) fn day_number(day: NaiveDate) -> i32 {
    let since = day.signed_duration_since(DateTime::UNIX_EPOCH.date_naive());
    i32::try_from(since.num_days()).unwrap_or(i32::MAX)
}

fn whole(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn count(whole: i64) -> u64 {
    u64::try_from(whole).unwrap_or_default()
}

#[expect(clippy::cast_possible_truncation, reason = "amounts stay far below 2^63 millionths")]
fn micros(usd: f64) -> i64 {
    (usd * 1e6).round() as i64
}

#[expect(clippy::cast_precision_loss, reason = "amounts stay far below 2^52 millionths")]
fn dollars(micros: i64) -> f64 {
    micros as f64 / 1e6
}
