//! Usage in a file: one line per question, summed when the workspace is opened.
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use super::{Sums, UsageCounts, UsageKey};

/// The file in the folder of a workspace.
const NAME: &str = "usage.jsonl";

#[derive(Serialize, Deserialize)]
struct Record {
    #[serde(flatten)]
    key: UsageKey,
    #[serde(flatten)]
    counts: UsageCounts,
}

/// The records of the workspace in this folder; what cannot be read is left out.
pub(super) fn read(dir: &Path) -> Vec<(UsageKey, UsageCounts)> {
    let text = std::fs::read_to_string(dir.join(NAME)).unwrap_or_default();
    let records = text.lines().filter_map(|line| serde_json::from_str::<Record>(line).ok());
    records.map(|record| (record.key, record.counts)).collect()
}

pub(super) struct FileUsage {
    path: PathBuf,
    sums: Mutex<Sums>,
}

impl FileUsage {
    /// Reads the records and rewrites them as sums. A line that was truncated by a crash is skipped.
    pub(super) fn open(dir: &Path) -> std::io::Result<Self> {
        let path = dir.join(NAME);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(e) => return Err(e),
        };
        let mut sums = Sums::new();
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
        Ok(Self { path, sums: Mutex::new(sums) })
    }

    /// Counts usage in memory and on disk. Usage that cannot be written is counted in memory only.
    pub(super) fn add(&self, key: UsageKey, counts: UsageCounts, closed: bool) {
        self.sums().entry(key.clone()).or_default().add(counts);
        if closed {
            return;
        }
        let line = serde_json::to_string(&Record { key, counts }).unwrap_or_default() + "\n";
        let file = std::fs::OpenOptions::new().create(true).append(true).open(&self.path);
        if let Err(e) = file.and_then(|mut file| file.write_all(line.as_bytes())) {
            tracing::error!("cannot write usage: {}: {e}", self.path.display());
        }
    }

    pub(super) fn sums(&self) -> MutexGuard<'_, Sums> {
        self.sums.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
