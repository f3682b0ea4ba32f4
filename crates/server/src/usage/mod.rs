//! Usage of questions and builds by day, key and strategy.
mod counter;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use halma_core::UsageTotal;
use halma_engine::{BaseState, Spent, SpentOn};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub(crate) use self::counter::UsageCounter;
use crate::builds::unstored;
use crate::problem::Problem;

/// How usage is grouped.
#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum GroupBy {
    #[default]
    Day,
    Key,
    Strategy,
}

/// What a usage record is counted under.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct UsageKey {
    /// In UTC.
    pub(crate) day: NaiveDate,
    /// The id of an API key; empty where none is required.
    pub(crate) key: String,
    /// `index` for builds.
    pub(crate) strategy: String,
}

impl UsageKey {
    pub(crate) fn today(key: &str, strategy: &str) -> Self {
        Self { day: Utc::now().date_naive(), key: key.to_owned(), strategy: strategy.to_owned() }
    }
}

/// What questions and builds have used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub(crate) struct UsageCounts {
    pub(crate) questions: u64,
    /// Calls that reached a model.
    pub(crate) calls: u64,
    /// Calls that the cache answered.
    pub(crate) cached: u64,
    pub(crate) prompt_tokens: u64,
    pub(crate) completion_tokens: u64,
    /// US dollars.
    pub(crate) usd: f64,
}

impl UsageCounts {
    pub(crate) fn from_total(usage: UsageTotal, questions: u64) -> Self {
        let UsageTotal { llm_calls, cached_calls, prompt_tokens, completion_tokens, usd, .. } =
            usage;
        let (calls, cached) = (llm_calls, cached_calls);
        Self { questions, calls, cached, prompt_tokens, completion_tokens, usd }
    }

    fn add(&mut self, other: Self) {
        self.questions += other.questions;
        self.calls += other.calls;
        self.cached += other.cached;
        self.prompt_tokens += other.prompt_tokens;
        self.completion_tokens += other.completion_tokens;
        self.usd += other.usd;
    }
}

/// The usage of one group.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct UsageLine {
    /// A day, a key's id, or a strategy.
    pub(crate) group: String,
    #[serde(flatten)]
    pub(crate) counts: UsageCounts,
}

/// What the subjects begin with under which usage is counted.
const SUBJECT: &str = "usage ";

/// What is used in a workspace, counted among the state of its base.
pub(crate) struct Usage {
    state: BaseState,
    /// Set when the workspace is removed: nothing is written any more.
    closed: AtomicBool,
}

impl Usage {
    pub(crate) fn new(state: &BaseState) -> Self {
        Self { state: state.clone(), closed: AtomicBool::new(false) }
    }

    /// Counts usage. What cannot be written is logged.
    pub(crate) fn add(&self, key: &UsageKey, counts: UsageCounts) {
        if self.closed.load(Ordering::Acquire) {
            return;
        }
        let spent = Spent {
            questions: whole(counts.questions),
            calls: whole(counts.calls),
            cached_calls: whole(counts.cached),
            prompt_tokens: whole(counts.prompt_tokens),
            completion_tokens: whole(counts.completion_tokens),
            cost_micros: micros(counts.usd),
        };
        let subject = format!("{SUBJECT}{} {}", key.key, key.strategy);
        self.state.spend(&subject, day_number(key.day), spent);
    }

    /// Writes nothing from now on.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Release);
    }

    /// Blocks the thread.
    pub(crate) fn grouped(
        &self,
        by: GroupBy,
        only: Option<&str>,
    ) -> Result<Vec<UsageLine>, Problem> {
        let rows = self.state.used().map_err(unstored)?;
        let mut rows: Vec<(UsageKey, UsageCounts)> = rows.iter().filter_map(read).collect();
        rows.retain(|(key, _)| only.is_none_or(|id| key.key == id));
        // Sums of dollars depend on the order in the last digit.
        rows.sort_by(|(a, _), (b, _)| a.cmp(b));
        let mut groups = BTreeMap::<String, UsageCounts>::new();
        for (key, counts) in rows {
            let name = match by {
                GroupBy::Day => key.day.to_string(),
                GroupBy::Key => key.key,
                GroupBy::Strategy => key.strategy,
            };
            groups.entry(name).or_default().add(counts);
        }
        Ok(groups.into_iter().map(|(group, counts)| UsageLine { group, counts }).collect())
    }
}

/// What a row counts; `None` for what is not usage of questions and builds.
fn read(line: &SpentOn) -> Option<(UsageKey, UsageCounts)> {
    let (key, strategy) = line.subject.strip_prefix(SUBJECT)?.split_once(' ')?;
    let counts = UsageCounts {
        questions: count(line.spent.questions),
        calls: count(line.spent.calls),
        cached: count(line.spent.cached_calls),
        prompt_tokens: count(line.spent.prompt_tokens),
        completion_tokens: count(line.spent.completion_tokens),
        usd: dollars(line.spent.cost_micros),
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

pub(crate) fn whole(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

pub(crate) fn count(whole: i64) -> u64 {
    u64::try_from(whole).unwrap_or_default()
}

#[expect(clippy::cast_possible_truncation, reason = "amounts stay far below 2^63 millionths")]
fn micros(usd: f64) -> i64 {
    (usd * 1e6).round() as i64
}

#[expect(clippy::cast_precision_loss, reason = "amounts stay far below 2^52 millionths")]
pub(crate) fn dollars(micros: i64) -> f64 {
    micros as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_of_two_programs_is_summed_and_survives_a_restart() {
        let dir = tempfile::tempdir().unwrap();
        let open = || Usage::new(&BaseState::of_folder(dir.path()));
        let counts = UsageCounts {
            questions: 1,
            calls: 2,
            cached: 1,
            prompt_tokens: 30,
            completion_tokens: 4,
            usd: 0.5,
        };
        let (server, command) = (open(), open());
        for strategy in ["naive", "kar3", "naive"] {
            server.add(&UsageKey::today("k", strategy), counts);
        }
        command.add(&UsageKey::today("other", "naive"), counts);
        server.close();
        server.add(&UsageKey::today("k", "naive"), counts);
        let again = open();
        let lines = again.grouped(GroupBy::Strategy, Some("k")).unwrap();
        let mut twice = counts;
        twice.add(counts);
        let told: Vec<_> = lines.iter().map(|line| (line.group.as_str(), line.counts)).collect();
        assert_eq!(told, [("kar3", counts), ("naive", twice)]);
        assert_eq!(again.grouped(GroupBy::Day, None).unwrap()[0].counts.calls, 8);
    }
}
