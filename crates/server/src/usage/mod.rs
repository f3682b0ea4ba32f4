//! Usage of questions and builds by day, key and strategy: in a file of the workspace, or, of one that
//! is shared, in its database.
mod counter;
mod database;
mod file;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use chrono::{NaiveDate, Utc};
use halma_core::UsageTotal;
use halma_engine::SharedSpace;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub(crate) use self::counter::UsageCounter;
use self::database::DatabaseUsage;
pub(crate) use self::database::day_number;
use self::file::FileUsage;
use crate::problem::Problem;
use crate::workspace::Purpose;

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

/// What has been used, by what it is counted under.
type Sums = BTreeMap<UsageKey, UsageCounts>;

pub(crate) struct Usage {
    kept: UsageStorage,
    /// Set when the workspace is removed: nothing is written any more.
    closed: AtomicBool,
}

enum UsageStorage {
    File(FileUsage),
    Database(DatabaseUsage),
}

impl Usage {
    /// The usage of the workspace in this folder, or in this database.
    pub(crate) fn open(
        (dir, purpose): (&Path, Purpose),
        shared: Option<&SharedSpace>,
    ) -> std::io::Result<Self> {
        let kept = match shared {
            Some(space) => UsageStorage::Database(DatabaseUsage::new(space)),
            None => UsageStorage::File(FileUsage::open(dir, purpose)?),
        };
        Ok(Self { kept, closed: AtomicBool::new(false) })
    }

    /// Counts usage. What cannot be written is logged.
    pub(crate) fn add(&self, key: UsageKey, counts: UsageCounts) {
        let closed = self.closed.load(Ordering::Acquire);
        match &self.kept {
            UsageStorage::File(file) => file.add(key, counts, closed),
            UsageStorage::Database(database) if !closed => database.add(&key, counts),
            UsageStorage::Database(_) => {}
        }
    }

    /// Writes nothing from now on.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Release);
    }

    /// Blocks the thread where it is in a database.
    pub(crate) fn grouped(
        &self,
        by: GroupBy,
        only: Option<&str>,
    ) -> Result<Vec<UsageLine>, Problem> {
        let sums = match &self.kept {
            UsageStorage::File(file) => file.sums(),
            UsageStorage::Database(database) => database.sums()?,
        };
        let mut groups = BTreeMap::<String, UsageCounts>::new();
        for (key, counts) in sums.iter().filter(|(key, _)| only.is_none_or(|id| key.key == id)) {
            let name = match by {
                GroupBy::Day => key.day.to_string(),
                GroupBy::Key => key.key.clone(),
                GroupBy::Strategy => key.strategy.clone(),
            };
            groups.entry(name).or_default().add(*counts);
        }
        Ok(groups.into_iter().map(|(group, counts)| UsageLine { group, counts }).collect())
    }
}

/// What the files of some workspaces say that a key has used on a day. In a database its budget is
/// counted as it is spent, and not by this.
pub(crate) fn key_usage(
    folders: &[PathBuf],
    (id, day): (&str, NaiveDate),
) -> std::io::Result<UsageCounts> {
    let mut sum = UsageCounts::default();
    for folder in folders {
        let own = |(key, _): &(UsageKey, _)| key.key == id && key.day == day;
        for (_, counts) in file::read(folder)?.into_iter().filter(own) {
            sum.add(counts);
        }
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_survives_a_restart_and_a_truncated_line_is_skipped() {
        let dir = tempfile::tempdir().unwrap();
        let usage = Usage::open((dir.path(), Purpose::Serve), None).unwrap();
        let counts = UsageCounts { questions: 1, calls: 2, usd: 0.5, ..UsageCounts::default() };
        for strategy in ["naive", "kar3", "naive"] {
            usage.add(UsageKey::today("k", strategy), counts);
        }
        let path = dir.path().join("usage.jsonl");
        // Another process next to the server leaves its file alone.
        let before = std::fs::read_to_string(&path).unwrap();
        Usage::open((dir.path(), Purpose::Answer), None).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), before);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, format!("{text}{}", &text[..30])).unwrap();
        let again = Usage::open((dir.path(), Purpose::Serve), None).unwrap();
        let lines = again.grouped(GroupBy::Strategy, None).unwrap();
        assert_eq!(lines.len(), 2);
        let naive = &lines[1];
        let counts = (naive.counts.questions, naive.counts.usd);
        assert_eq!((naive.group.as_str(), counts), ("naive", (2, 1.0)));
        let folders = [dir.path().to_owned(), dir.path().join("none")];
        assert_eq!(key_usage(&folders, ("k", Utc::now().date_naive())).unwrap().calls, 6);
        assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 2);
    }

    #[test]
    fn damaged_lines_are_kept_in_a_file_of_their_own_and_the_others_are_summed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("usage.jsonl");
        let counts = UsageCounts { calls: 2, ..UsageCounts::default() };
        let usage = Usage::open((dir.path(), Purpose::Serve), None).unwrap();
        usage.add(UsageKey::today("k", "naive"), counts);
        let line = std::fs::read(&path).unwrap();
        std::fs::write(&path, [&line[..], b"\xff\0?\n", &line[..]].concat()).unwrap();
        let folders = [dir.path().to_owned()];
        let today = Utc::now().date_naive();
        assert_eq!(key_usage(&folders, ("k", today)).unwrap().calls, 4);
        let again = Usage::open((dir.path(), Purpose::Serve), None).unwrap();
        assert_eq!(again.grouped(GroupBy::Key, None).unwrap()[0].counts.calls, 4);
        assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 1);
        assert_eq!(std::fs::read(dir.path().join("usage.damaged.jsonl")).unwrap(), b"\xff\0?\n");
    }

    #[test]
    fn a_file_that_cannot_be_read_is_not_taken_for_no_usage() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("usage.jsonl")).unwrap();
        let folders = [dir.path().to_owned()];
        assert!(key_usage(&folders, ("k", Utc::now().date_naive())).is_err());
    }
}
