//! Usage of questions and builds by day, key and strategy: one line per question, summed when the
//! workspace is opened.
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use chrono::{NaiveDate, Utc};
use halma_core::UsageTotal;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

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
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
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
        let UsageTotal { llm_calls, cached_calls, prompt_tokens, completion_tokens, usd } = usage;
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

#[derive(Serialize, Deserialize)]
struct Record {
    #[serde(flatten)]
    key: UsageKey,
    #[serde(flatten)]
    counts: UsageCounts,
}

/// The usage of one group.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct UsageLine {
    /// A day, a key's id, or a strategy.
    pub(crate) group: String,
    #[serde(flatten)]
    pub(crate) counts: UsageCounts,
}

pub(crate) struct Usage {
    path: PathBuf,
    sums: Mutex<BTreeMap<UsageKey, UsageCounts>>,
    /// Set when the workspace is removed: nothing is written any more.
    closed: Mutex<bool>,
}

impl Usage {
    /// Reads the records and rewrites them as sums. A line that was truncated by a crash is skipped.
    pub(crate) fn open(dir: &Path) -> std::io::Result<Self> {
        let path = dir.join("usage.jsonl");
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(e) => return Err(e),
        };
        let mut sums = BTreeMap::<UsageKey, UsageCounts>::new();
        for record in text.lines().filter_map(|line| serde_json::from_str::<Record>(line).ok()) {
            sums.entry(record.key).or_default().add(record.counts);
        }
        if text.lines().count() > sums.len() {
            let mut file = tempfile::NamedTempFile::new_in(dir)?;
            for (key, counts) in &sums {
                let record = Record { key: key.clone(), counts: *counts };
                serde_json::to_writer(&mut file, &record)?;
                file.write_all(b"\n")?;
            }
            file.persist(&path).map_err(|e| e.error)?;
        }
        Ok(Self { path, sums: Mutex::new(sums), closed: Mutex::default() })
    }

    /// Counts usage in memory and on disk. Usage that cannot be written is counted in memory only.
    pub(crate) fn add(&self, key: UsageKey, counts: UsageCounts) {
        self.sums().entry(key.clone()).or_default().add(counts);
        let closed = self.closed.lock().unwrap_or_else(PoisonError::into_inner);
        if *closed {
            return;
        }
        let line = serde_json::to_string(&Record { key, counts }).unwrap_or_default() + "\n";
        let file = std::fs::OpenOptions::new().create(true).append(true).open(&self.path);
        if let Err(e) = file.and_then(|mut file| file.write_all(line.as_bytes())) {
            tracing::error!("cannot write usage: {}: {e}", self.path.display());
        }
    }

    /// Writes nothing from now on.
    pub(crate) fn close(&self) {
        *self.closed.lock().unwrap_or_else(PoisonError::into_inner) = true;
    }

    pub(crate) fn grouped(&self, by: GroupBy, only: Option<&str>) -> Vec<UsageLine> {
        let mut groups = BTreeMap::<String, UsageCounts>::new();
        let sums = self.sums();
        for (key, counts) in sums.iter().filter(|(key, _)| only.is_none_or(|id| key.key == id)) {
            let name = match by {
                GroupBy::Day => key.day.to_string(),
                GroupBy::Key => key.key.clone(),
                GroupBy::Strategy => key.strategy.clone(),
            };
            groups.entry(name).or_default().add(*counts);
        }
        groups.into_iter().map(|(group, counts)| UsageLine { group, counts }).collect()
    }

    /// The usage of a key on a day.
    pub(crate) fn key_usage(&self, id: &str, day: NaiveDate) -> UsageCounts {
        let mut sum = UsageCounts::default();
        for (key, counts) in self.sums().iter() {
            if key.key == id && key.day == day {
                sum.add(*counts);
            }
        }
        sum
    }

    fn sums(&self) -> MutexGuard<'_, BTreeMap<UsageKey, UsageCounts>> {
        self.sums.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_survives_a_restart_and_a_truncated_line_is_skipped() {
        let dir = tempfile::tempdir().unwrap();
        let usage = Usage::open(dir.path()).unwrap();
        let counts = UsageCounts { questions: 1, calls: 2, usd: 0.5, ..UsageCounts::default() };
        for strategy in ["naive", "kar3", "naive"] {
            usage.add(UsageKey::today("k", strategy), counts);
        }
        let path = dir.path().join("usage.jsonl");
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, format!("{text}{}", &text[..30])).unwrap();
        let again = Usage::open(dir.path()).unwrap();
        let lines = again.grouped(GroupBy::Strategy, None);
        assert_eq!(lines.len(), 2);
        let naive = &lines[1];
        let counts = (naive.counts.questions, naive.counts.usd);
        assert_eq!((naive.group.as_str(), counts), ("naive", (2, 1.0)));
        assert_eq!(again.key_usage("k", Utc::now().date_naive()).calls, 6);
        assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 2);
    }
}
