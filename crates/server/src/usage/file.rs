//! Usage in a file: one line per question, summed when the workspace is opened.
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use parking_lot::{Mutex, MutexGuard};
use serde::{Deserialize, Serialize};

use super::{Sums, UsageCounts, UsageKey};
use crate::workspace::Purpose;

/// The file in the folder of a workspace.
const NAME: &str = "usage.jsonl";

#[derive(Serialize, Deserialize)]
struct Record {
    #[serde(flatten)]
    key: UsageKey,
    #[serde(flatten)]
    counts: UsageCounts,
}

/// The records of the workspace in this folder.
pub(super) fn read(dir: &Path) -> io::Result<Vec<(UsageKey, UsageCounts)>> {
    read_file(&dir.join(NAME)).map(|file| file.records)
}

/// A file of records. Lines that cannot be read are reported in the log and left out.
struct UsageFile {
    records: Vec<(UsageKey, UsageCounts)>,
    /// Whether such a line is before the last one, which a crash may truncate.
    damaged: bool,
    lines: usize,
}

fn read_file(path: &Path) -> io::Result<UsageFile> {
    let text = match std::fs::read_to_string(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => String::new(),
        text => text?,
    };
    let mut file = UsageFile { records: vec![], damaged: false, lines: text.lines().count() };
    for (line, at) in text.lines().zip(1..) {
        match serde_json::from_str::<Record>(line) {
            Ok(record) => file.records.push((record.key, record.counts)),
            Err(_) if at == file.lines => {}
            Err(e) => {
                file.damaged = true;
                tracing::error!(
                    "`{}`: the usage in line {at} cannot be read and is not counted: {e}",
                    path.display()
                );
            }
        }
    }
    Ok(file)
}

pub(super) struct FileUsage {
    path: PathBuf,
    sums: Mutex<Sums>,
}

impl FileUsage {
    /// Reads the records; the server rewrites them as sums. A line that was truncated by a crash is dropped;
    /// a file that is damaged in another way is left as it is.
    pub(super) fn open(dir: &Path, purpose: Purpose) -> io::Result<Self> {
        let path = dir.join(NAME);
        let UsageFile { records, damaged, lines } = read_file(&path)?;
        let mut sums = Sums::new();
        for (key, counts) in records {
            sums.entry(key).or_default().add(counts);
        }
        if purpose == Purpose::Serve && lines > sums.len() && !damaged {
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
        if let Err(e) = self.append(&Record { key, counts }) {
            tracing::error!("cannot write usage: {}: {e}", self.path.display());
        }
    }

    fn append(&self, record: &Record) -> io::Result<()> {
        let line = serde_json::to_string(record)? + "\n";
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(&self.path)?;
        file.write_all(line.as_bytes())
    }

    pub(super) fn sums(&self) -> MutexGuard<'_, Sums> {
        self.sums.lock()
    }
}
