//! What questions and builds have used, by day, key and strategy; a line a question, folded when
//! the workspace is opened.
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use chrono::{NaiveDate, Utc};
use halma_core::UsageTotal;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// How figures are put together.
#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum By {
    #[default]
    Day,
    Key,
    Strategy,
}

/// Who used something, when, with what.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Group {
    /// In UTC.
    pub(crate) day: NaiveDate,
    /// The id of a key; empty where none is needed.
    pub(crate) key: String,
    /// `index` for builds.
    pub(crate) strategy: String,
}

impl Group {
    pub(crate) fn today(key: &str, strategy: &str) -> Self {
        Self { day: Utc::now().date_naive(), key: key.to_owned(), strategy: strategy.to_owned() }
    }
}

/// What was used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub(crate) struct Used {
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

impl Used {
    pub(crate) fn of(usage: UsageTotal, questions: u64) -> Self {
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
struct Line {
    #[serde(flatten)]
    group: Group,
    #[serde(flatten)]
    used: Used,
}

/// A line of the answer to "who used how much".
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct UsageLine {
    /// A day, a key's id, or a strategy.
    pub(crate) group: String,
    #[serde(flatten)]
    pub(crate) used: Used,
}

pub(crate) struct Usage {
    path: PathBuf,
    sums: Mutex<BTreeMap<Group, Used>>,
}

impl Usage {
    /// Reads what was used so far and writes it down again in fewer lines. A line that was cut off
    /// by a crash is left out.
    pub(crate) fn open(dir: &Path) -> std::io::Result<Self> {
        let path = dir.join("usage.jsonl");
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(e) => return Err(e),
        };
        let mut sums = BTreeMap::<Group, Used>::new();
        for line in text.lines().filter_map(|line| serde_json::from_str::<Line>(line).ok()) {
            sums.entry(line.group).or_default().add(line.used);
        }
        if text.lines().count() > sums.len() {
            let mut file = tempfile::NamedTempFile::new_in(dir)?;
            for (group, used) in &sums {
                let line = Line { group: group.clone(), used: *used };
                serde_json::to_writer(&mut file, &line)?;
                file.write_all(b"\n")?;
            }
            file.persist(&path).map_err(|e| e.error)?;
        }
        Ok(Self { path, sums: Mutex::new(sums) })
    }

    /// Counts, in memory and on disk. What cannot be written is still counted until the end.
    pub(crate) fn add(&self, group: Group, used: Used) {
        self.sums().entry(group.clone()).or_default().add(used);
        let line = serde_json::to_string(&Line { group, used }).unwrap_or_default() + "\n";
        let file = std::fs::OpenOptions::new().create(true).append(true).open(&self.path);
        if let Err(e) = file.and_then(|mut file| file.write_all(line.as_bytes())) {
            tracing::error!("usage is not written down: {}: {e}", self.path.display());
        }
    }

    pub(crate) fn by(&self, by: By) -> Vec<UsageLine> {
        let mut groups = BTreeMap::<String, Used>::new();
        for (group, used) in self.sums().iter() {
            let name = match by {
                By::Day => group.day.to_string(),
                By::Key => group.key.clone(),
                By::Strategy => group.strategy.clone(),
            };
            groups.entry(name).or_default().add(*used);
        }
        groups.into_iter().map(|(group, used)| UsageLine { group, used }).collect()
    }

    /// What a key has used on a day.
    pub(crate) fn of_key(&self, key: &str, day: NaiveDate) -> Used {
        let mut sum = Used::default();
        for (group, used) in self.sums().iter() {
            if group.key == key && group.day == day {
                sum.add(*used);
            }
        }
        sum
    }

    fn sums(&self) -> MutexGuard<'_, BTreeMap<Group, Used>> {
        self.sums.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_is_there_after_a_restart_and_a_cut_line_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let usage = Usage::open(dir.path()).unwrap();
        let used = Used { questions: 1, calls: 2, usd: 0.5, ..Used::default() };
        for strategy in ["naive", "kar3", "naive"] {
            usage.add(Group::today("k", strategy), used);
        }
        let path = dir.path().join("usage.jsonl");
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, format!("{text}{}", &text[..30])).unwrap();
        let again = Usage::open(dir.path()).unwrap();
        let by = again.by(By::Strategy);
        assert_eq!(by.len(), 2);
        assert_eq!((by[1].group.as_str(), by[1].used.questions, by[1].used.usd), ("naive", 2, 1.0));
        assert_eq!(again.of_key("k", Utc::now().date_naive()).calls, 6);
        assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 2);
    }
}
