//! Replies that are as good as new ones for some days: one file each in a folder of their day,
//! `2024-05-31/KEY.json`.
//!
//! A file is complete or absent. A damaged folder costs requests, never a run.
use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use serde::Serialize;
use time::{Date, Duration, Month};

/// Replies are removed after this many days, or later where they are good for longer: another
/// configuration of the same base may use them.
const LEAST_DAYS: u32 = 30;

/// The replies cannot be listed or forgotten.
#[derive(Debug, thiserror::Error)]
#[error("the stored replies in `{}`: {source}; make the folder readable and writable, or delete it", .path.display())]
pub struct DailyCacheError {
    pub path: PathBuf,
    pub source: std::io::Error,
}

/// Replies by key and day.
pub struct DailyCache {
    dir: PathBuf,
    /// Days for which a reply is as good as a new one; 0 keeps nothing.
    days: u32,
}

impl DailyCache {
    pub fn new(dir: PathBuf, days: u32) -> Self {
        Self { dir, days }
    }

    pub fn keeps(&self) -> bool {
        self.days > 0
    }

    /// The newest reply of this key that is not too old and that can be read.
    pub fn get<T>(
        &self,
        key: &str,
        today: Date,
        read: impl Fn(&Path, String) -> Option<T>,
    ) -> Option<T> {
        let (oldest, newest) = (first_day(today, self.days).to_string(), today.to_string());
        // Days are written so that their order is that of their names.
        let mut days = days(&self.dir).ok()?;
        days.retain(|day| (oldest.as_str()..=newest.as_str()).contains(&day.as_str()));
        days.iter().rev().find_map(|day| {
            let file = self.dir.join(day).join(format!("{key}.json"));
            let text = std::fs::read_to_string(&file).ok()?;
            read(&file, text)
        })
    }

    /// Stores the reply of a day, `2024-05-31`.
    pub fn put(&self, key: &str, day: &str, reply: &str) {
        if !self.keeps() {
            return;
        }
        if let Err(e) = self.write(key, day, reply) {
            tracing::warn!(
                "a reply cannot be stored in `{}` and will be requested again: {e}",
                self.dir.display()
            );
        }
    }

    fn write(&self, key: &str, day: &str, reply: &str) -> std::io::Result<()> {
        let dir = self.dir.join(day);
        if !dir.is_dir() {
            std::fs::create_dir_all(&dir)?;
            self.remove_before(day)?;
        }
        let (part, mut file) = part(&dir, key)?;
        file.write_all(reply.as_bytes())?;
        drop(file);
        std::fs::rename(&part, dir.join(format!("{key}.json"))).inspect_err(|_| {
            let _ = std::fs::remove_file(&part);
        })
    }

    /// Removes the folders of days on which no reply is as good as a new one any more on this day.
    fn remove_before(&self, day: &str) -> std::io::Result<()> {
        let Some(day) = date(day) else { return Ok(()) };
        let oldest = first_day(day, self.days.max(LEAST_DAYS));
        for old in days(&self.dir)?.iter().filter_map(|name| date(name)) {
            if old < oldest {
                match std::fs::remove_dir_all(self.dir.join(old.to_string())) {
                    // Another process does the same.
                    Err(e) if e.kind() != ErrorKind::NotFound => return Err(e),
                    _ => {}
                }
            }
        }
        Ok(())
    }
}

/// The first of this many days up to a day.
fn first_day(last: Date, days: u32) -> Date {
    last.checked_sub(Duration::days(i64::from(days) - 1)).unwrap_or(Date::MIN)
}

/// `2024-05-31` as a date.
fn date(day: &str) -> Option<Date> {
    let mut parts = day.splitn(3, '-');
    let year = parts.next().filter(|year| year.len() == 4)?.parse().ok()?;
    let month: u8 = parts.next().filter(|month| month.len() == 2)?.parse().ok()?;
    let number = parts.next().filter(|number| number.len() == 2)?.parse().ok()?;
    Date::from_calendar_date(year, Month::try_from(month).ok()?, number).ok()
}

/// A new file next to the one that it will become, which no other writer has.
fn part(dir: &Path, key: &str) -> std::io::Result<(PathBuf, File)> {
    for number in 0.. {
        let part = dir.join(format!(".{key}.{number}"));
        match File::create_new(&part) {
            Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
            file => return Ok((part, file?)),
        }
    }
    unreachable!("some number is free")
}

/// All replies that are stored in a folder, with their files, day by day.
pub fn stored_replies(dir: &Path) -> Result<Vec<(PathBuf, String)>, DailyCacheError> {
    let failed = |source| DailyCacheError { path: dir.to_owned(), source };
    let mut replies = vec![];
    for day in days(dir).map_err(failed)? {
        for entry in std::fs::read_dir(dir.join(day)).map_err(failed)? {
            let file = entry.map_err(failed)?.path();
            if file.extension().is_some_and(|extension| extension == "json") {
                let text = std::fs::read_to_string(&file).map_err(failed)?;
                replies.push((file, text));
            }
        }
    }
    Ok(replies)
}

/// What the replies that are stored in a folder take.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct DailyFigures {
    pub replies: u64,
    pub bytes: u64,
    /// The first and the last day, as `2024-05-31`.
    pub oldest: Option<String>,
    pub newest: Option<String>,
}

impl DailyFigures {
    /// Zeros without a folder.
    pub fn read(dir: &Path) -> Result<Self, DailyCacheError> {
        let failed = |source| DailyCacheError { path: dir.to_owned(), source };
        let days = days(dir).map_err(failed)?;
        let mut figures = Self::default();
        for day in &days {
            for entry in std::fs::read_dir(dir.join(day)).map_err(failed)? {
                let about = entry.and_then(|entry| entry.metadata()).map_err(failed)?;
                (figures.replies, figures.bytes) =
                    (figures.replies + 1, figures.bytes + about.len());
            }
        }
        (figures.oldest, figures.newest) = (days.first().cloned(), days.last().cloned());
        Ok(figures)
    }
}

/// Removes all replies that are stored in a folder.
pub fn forget_replies(dir: &Path) -> Result<(), DailyCacheError> {
    match std::fs::remove_dir_all(dir) {
        Err(e) if e.kind() != ErrorKind::NotFound => {
            Err(DailyCacheError { path: dir.to_owned(), source: e })
        }
        _ => Ok(()),
    }
}

/// The names of the folders of days, in order; none without a folder.
fn days(dir: &Path) -> std::io::Result<Vec<String>> {
    let entries = match std::fs::read_dir(dir) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(vec![]),
        entries => entries?,
    };
    let mut days = vec![];
    for entry in entries {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            days.extend(entry.file_name().into_string().ok());
        }
    }
    days.sort();
    Ok(days)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(dir: &Path) -> Vec<String> {
        days(dir).unwrap()
    }

    #[test]
    fn days_that_nothing_uses_any_more_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().join("web");
        for other in ["notes", "2024-13-01", "2024-1-1"] {
            std::fs::create_dir_all(dir.join(other)).unwrap();
        }
        let long = DailyCache::new(dir.clone(), 40);
        for day in ["2024-01-31", "2024-02-01", "2024-03-01", "2024-03-10"] {
            long.put("a", day, "{}");
        }
        let others = ["2024-1-1", "2024-13-01"];
        // 40 days up to the tenth of March begin on the 31st of January.
        let all = ["2024-01-31", "2024-02-01", "2024-03-01", "2024-03-10"];
        assert_eq!(stored(&dir), [&all[..], &others, &["notes"]].concat());
        let short = DailyCache::new(dir.clone(), 1);
        short.put("a", "2024-03-11", "{}");
        let left = ["2024-03-01", "2024-03-10", "2024-03-11"];
        assert_eq!(stored(&dir), [&left[..], &others, &["notes"]].concat());
        // A clock that was set back removes nothing.
        short.put("a", "2023-12-01", "{}");
        assert_eq!(stored(&dir).len(), 7);
        DailyCache::new(dir.clone(), u32::MAX).put("a", "2024-03-12", "{}");
        assert_eq!(stored(&dir).len(), 8);
    }
}
