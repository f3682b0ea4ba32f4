//! Usage in a file: one line for each addition, summed when the workspace is opened. The server and
//! processes next to it append to it; the server replaces its lines by sums.
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use halma_engine::replace_file;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use super::{Sums, UsageCounts, UsageKey};
use crate::workspace::Purpose;

/// The file in the folder of a workspace.
const NAME: &str = "usage.jsonl";

/// Next to it: held while a line is appended or the lines are replaced by sums.
const LOCK: &str = "usage.lock";

/// Next to it: lines that could not be read, and are not counted.
const DAMAGED: &str = "usage.damaged.jsonl";

/// The lines are replaced by sums when there are so many times as many,
const MOST_LINES_PER_SUM: usize = 4;

/// and no fewer than this.
const LEAST_LINES: usize = 1_000;

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

/// A file of records.
#[derive(Default)]
struct UsageFile {
    records: Vec<(UsageKey, UsageCounts)>,
    /// Lines that cannot be read, such as one that a crash has truncated.
    damaged: Vec<Vec<u8>>,
}

impl UsageFile {
    fn sums(&self) -> Sums {
        let mut sums = Sums::new();
        for (key, counts) in &self.records {
            sums.entry(key.clone()).or_default().add(*counts);
        }
        sums
    }

    fn lines(&self) -> usize {
        self.records.len() + self.damaged.len()
    }
}

fn read_file(path: &Path) -> io::Result<UsageFile> {
    let bytes = match std::fs::read(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => vec![],
        bytes => bytes?,
    };
    let mut file = UsageFile::default();
    for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        match serde_json::from_slice::<Record>(line) {
            Ok(record) => file.records.push((record.key, record.counts)),
            Err(_) => file.damaged.push(line.to_vec()),
        }
    }
    Ok(file)
}

pub(super) struct FileUsage {
    dir: PathBuf,
    purpose: Purpose,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    sums: Sums,
    /// What is in the sums and could not be written.
    unwritten: Sums,
    /// Lines of the file, without those that other processes have appended since it was read.
    lines: usize,
    /// The lines are not replaced before there are so many.
    compact_at: usize,
}

impl FileUsage {
    /// Reads the records; the server replaces them by their sums. Lines that cannot be read go to a
    /// file of their own.
    pub(super) fn open(dir: &Path, purpose: Purpose) -> io::Result<Self> {
        let file = read_file(&dir.join(NAME))?;
        let (sums, lines) = (file.sums(), file.lines());
        let is_compact = lines == sums.len() && file.damaged.is_empty();
        let state = Mutex::new(State { sums, lines, ..State::default() });
        let usage = Self { dir: dir.to_owned(), purpose, state };
        if purpose == Purpose::Serve && !is_compact {
            usage.compact(&mut usage.state.lock())?;
        }
        Ok(usage)
    }

    /// Counts usage in memory and on disk. Usage that cannot be written is counted in memory, and
    /// written when the lines are replaced by sums.
    pub(super) fn add(&self, key: UsageKey, counts: UsageCounts, closed: bool) {
        let mut state = self.state.lock();
        state.sums.entry(key.clone()).or_default().add(counts);
        if closed {
            return;
        }
        let record = Record { key, counts };
        if let Err(e) = self.append(&record) {
            tracing::error!("cannot write usage: {}: {e}", self.dir.join(NAME).display());
            state.unwritten.entry(record.key).or_default().add(counts);
            return;
        }
        state.lines += 1;
        let many = LEAST_LINES.max(MOST_LINES_PER_SUM * state.sums.len());
        if self.purpose == Purpose::Serve && state.lines >= many.max(state.compact_at) {
            // Not again with the next line where it cannot be done.
            state.compact_at = state.lines + LEAST_LINES;
            if let Err(e) = self.compact(&mut state) {
                let path = self.dir.join(NAME);
                tracing::warn!("`{}` is shortened later: {e}", path.display());
            }
        }
    }

    /// One process at a time appends to the file or replaces it.
    fn lock(&self) -> io::Result<File> {
        let path = self.dir.join(LOCK);
        let lock = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        // One that another user has made can be locked as well.
        let lock = lock.or_else(|e| File::open(&path).map_err(|_| e))?;
        lock.lock()?;
        Ok(lock)
    }

    fn append(&self, record: &Record) -> io::Result<()> {
        let mut line = serde_json::to_vec(record)?;
        line.push(b'\n');
        let _lock = self.lock()?;
        append(&self.dir.join(NAME), &line)
    }

    /// Replaces the lines by sums, also those that other processes have appended.
    fn compact(&self, state: &mut State) -> io::Result<()> {
        let _lock = self.lock()?;
        let path = self.dir.join(NAME);
        let file = read_file(&path)?;
        if !file.damaged.is_empty() {
            let (count, damaged) = (file.damaged.len(), self.dir.join(DAMAGED));
            let mut lines = file.damaged.join(&b'\n');
            lines.push(b'\n');
            append(&damaged, &lines)?;
            tracing::error!(
                "{count} lines of `{}` cannot be read and are not counted; they are kept in `{}`",
                path.display(),
                damaged.display()
            );
        }
        let mut sums = file.sums();
        for (key, counts) in &state.unwritten {
            sums.entry(key.clone()).or_default().add(*counts);
        }
        let mut new = vec![];
        for (key, counts) in &sums {
            serde_json::to_writer(&mut new, &Record { key: key.clone(), counts: *counts })?;
            new.push(b'\n');
        }
        replace_file(&path, &new)?;
        let (lines, unwritten) = (sums.len(), BTreeMap::new());
        *state = State { sums, unwritten, lines, compact_at: 0 };
        Ok(())
    }

    pub(super) fn sums(&self) -> Sums {
        self.state.lock().sums.clone()
    }
}

/// Appends whole lines to a file, after the line that a crash has truncated; all of them or none.
fn append(path: &Path, lines: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().create(true).read(true).append(true).open(path)?;
    let before = file.metadata()?.len();
    let mut last = [b'\n'];
    if before > 0 {
        file.seek(SeekFrom::Start(before - 1))?;
        file.read_exact(&mut last)?;
    }
    let separator: &[u8] = if last == *b"\n" { b"" } else { b"\n" };
    let written = file.write_all(&[separator, lines].concat());
    if written.is_err() {
        // A part of a line would be read as a damaged one.
        file.set_len(before)?;
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(dir: &Path, purpose: Purpose) -> FileUsage {
        FileUsage::open(dir, purpose).unwrap()
    }

    fn add(usage: &FileUsage, calls: u64) {
        let counts = UsageCounts { calls, ..UsageCounts::default() };
        usage.add(UsageKey::today("k", "naive"), counts, false);
    }

    fn calls(usage: &FileUsage) -> u64 {
        usage.sums().values().map(|counts| counts.calls).sum()
    }

    fn lines(dir: &Path, name: &str) -> usize {
        std::fs::read_to_string(dir.join(name)).unwrap().lines().count()
    }

    #[test]
    fn the_lines_are_replaced_by_sums_while_the_server_runs() {
        let dir = tempfile::tempdir().unwrap();
        let server = open(dir.path(), Purpose::Serve);
        for _ in 0..2 * LEAST_LINES {
            add(&server, 1);
        }
        assert!(lines(dir.path(), NAME) < LEAST_LINES, "{}", lines(dir.path(), NAME));
        assert_eq!(calls(&open(dir.path(), Purpose::Answer)), 2 * LEAST_LINES as u64);
    }

    #[test]
    fn lines_of_another_process_are_in_the_sums() {
        let dir = tempfile::tempdir().unwrap();
        let server = open(dir.path(), Purpose::Serve);
        let other = open(dir.path(), Purpose::Answer);
        std::thread::scope(|scope| {
            scope.spawn(|| (0..LEAST_LINES).for_each(|_| add(&other, 1)));
            scope.spawn(|| (0..2 * LEAST_LINES).for_each(|_| add(&server, 1)));
        });
        let again = open(dir.path(), Purpose::Serve);
        assert_eq!(calls(&again), 3 * LEAST_LINES as u64);
        assert_eq!(lines(dir.path(), NAME), 1);
    }

    #[test]
    fn a_truncated_line_does_not_take_the_next_one_with_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(NAME);
        let server = open(dir.path(), Purpose::Serve);
        add(&server, 1);
        append(&path, b"{\"day\":").unwrap();
        add(&server, 2);
        assert_eq!(calls(&open(dir.path(), Purpose::Serve)), 3);
    }

    #[test]
    fn what_could_not_be_written_is_written_with_the_sums() {
        let dir = tempfile::tempdir().unwrap();
        let server = open(dir.path(), Purpose::Serve);
        add(&server, 1);
        // A folder in its place cannot be appended to.
        let (path, aside) = (dir.path().join(NAME), dir.path().join("aside"));
        std::fs::rename(&path, &aside).unwrap();
        std::fs::create_dir(&path).unwrap();
        add(&server, 2);
        std::fs::remove_dir(&path).unwrap();
        std::fs::rename(&aside, &path).unwrap();
        assert_eq!(calls(&open(dir.path(), Purpose::Answer)), 1);
        server.compact(&mut server.state.lock()).unwrap();
        assert_eq!(calls(&open(dir.path(), Purpose::Answer)), 3);
    }
}
