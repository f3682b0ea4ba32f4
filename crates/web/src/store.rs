//! The searches that were made, one file each in a folder of their day: `2024-05-31/KEY.json`.
//!
//! A file is complete or absent. A damaged folder costs searches, never a run.
use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use time::{Date, Duration};

use super::WebSearch;

/// The searches cannot be listed or forgotten.
#[derive(Debug, thiserror::Error)]
#[error("the web searches in `{}`: {source}; make the folder readable and writable, or delete it", .path.display())]
pub struct WebStoreError {
    pub path: PathBuf,
    pub source: std::io::Error,
}

pub(super) struct Store {
    dir: PathBuf,
    /// Days for which a search is as good as a new one; 0 keeps nothing.
    days: u32,
}

impl Store {
    pub(super) fn new(dir: PathBuf, days: u32) -> Self {
        Self { dir, days }
    }

    pub(super) fn keeps(&self) -> bool {
        self.days > 0
    }

    /// The newest search of this key that is not too old.
    pub(super) fn get(&self, key: &str, today: Date) -> Option<WebSearch> {
        let oldest = today - Duration::days(i64::from(self.days) - 1);
        let (oldest, newest) = (oldest.to_string(), today.to_string());
        // Days are written so that their order is that of their names.
        let mut days = days(&self.dir).ok()?;
        days.retain(|day| (oldest.as_str()..=newest.as_str()).contains(&day.as_str()));
        days.iter().rev().find_map(|day| {
            let file = self.dir.join(day).join(format!("{key}.json"));
            let text = std::fs::read_to_string(&file).ok()?;
            read(&file, &text)
        })
    }

    pub(super) fn put(&self, key: &str, search: &WebSearch) {
        if !self.keeps() {
            return;
        }
        if let Err(e) = self.write(key, search) {
            tracing::warn!("a web search is not kept in `{}`: {e}", self.dir.display());
        }
    }

    fn write(&self, key: &str, search: &WebSearch) -> std::io::Result<()> {
        let dir = self.dir.join(&search.day);
        std::fs::create_dir_all(&dir)?;
        let text = serde_json::to_string_pretty(search).map_err(std::io::Error::other)?;
        let (part, mut file) = part(&dir, key)?;
        file.write_all(text.as_bytes())?;
        drop(file);
        std::fs::rename(&part, dir.join(format!("{key}.json"))).inspect_err(|_| {
            let _ = std::fs::remove_file(&part);
        })
    }
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

/// All searches that are stored in a folder, by day, those of a day by query. One that cannot be
/// read is left out with a warning.
pub fn web_searches(dir: &Path) -> Result<Vec<WebSearch>, WebStoreError> {
    let failed = |source| WebStoreError { path: dir.to_owned(), source };
    let mut searches = vec![];
    for day in days(dir).map_err(failed)? {
        for entry in std::fs::read_dir(dir.join(day)).map_err(failed)? {
            let file = entry.map_err(failed)?.path();
            if file.extension().is_some_and(|extension| extension == "json") {
                let text = std::fs::read_to_string(&file).map_err(failed)?;
                searches.extend(read(&file, &text));
            }
        }
    }
    searches.sort_by(|a, b| (&a.day, &a.query).cmp(&(&b.day, &b.query)));
    Ok(searches)
}

/// Removes all searches that are stored in a folder.
pub fn forget_web_searches(dir: &Path) -> Result<(), WebStoreError> {
    match std::fs::remove_dir_all(dir) {
        Err(e) if e.kind() != ErrorKind::NotFound => {
            Err(WebStoreError { path: dir.to_owned(), source: e })
        }
        _ => Ok(()),
    }
}

fn read(file: &Path, text: &str) -> Option<WebSearch> {
    let search = serde_json::from_str(text);
    search
        .inspect_err(|e| tracing::warn!("`{}` is not a stored web search: {e}", file.display()))
        .ok()
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
    use time::Month;

    use super::*;
    use crate::WebKind;

    fn day(day: u8) -> Date {
        Date::from_calendar_date(2024, Month::May, day).unwrap()
    }

    fn search(query: &str, on: Date) -> WebSearch {
        let (query, day) = (query.to_owned(), on.to_string());
        WebSearch { query, engine: WebKind::Tavily, day, results: vec![] }
    }

    #[test]
    fn a_search_is_good_for_so_many_days() {
        let folder = tempfile::tempdir().unwrap();
        let store = |days| Store::new(folder.path().join("web"), days);
        assert_eq!(store(1).get("k", day(5)), None);
        store(1).put("k", &search("q", day(5)));
        for (days, today, found) in [
            (1, 5, true),
            (1, 6, false),
            (2, 6, true),
            (2, 7, false),
            (30, 31, true),
            (3, 4, false),
        ] {
            assert_eq!(store(days).get("k", day(today)).is_some(), found, "{days} {today}");
        }
        store(1).put("k", &search("again", day(6)));
        assert_eq!(store(9).get("k", day(7)).unwrap().query, "again");
        assert_eq!(store(9).get("other", day(7)), None);
        store(0).put("none", &search("q", day(6)));
        assert_eq!(store(9).get("none", day(6)), None);
    }

    #[test]
    fn what_is_kept_can_be_listed_and_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().join("web");
        assert_eq!(web_searches(&dir).unwrap(), []);
        let store = Store::new(dir.clone(), 1);
        for (key, query, on) in [("a", "b", 6), ("b", "a", 6), ("a", "c", 5)] {
            store.put(key, &search(query, day(on)));
        }
        std::fs::write(dir.join("2024-05-06/broken.json"), "{").unwrap();
        std::fs::write(dir.join("2024-05-06/.half.1-1"), "{").unwrap();
        let queries: Vec<String> =
            web_searches(&dir).unwrap().into_iter().map(|search| search.query).collect();
        assert_eq!(queries, ["c", "a", "b"]);
        assert_eq!(store.get("broken", day(6)), None);
        forget_web_searches(&dir).unwrap();
        assert!(!dir.exists() && forget_web_searches(&dir).is_ok());
        assert_eq!(store.get("a", day(6)), None);
    }

    #[test]
    fn a_folder_that_cannot_be_written_costs_no_run() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("web");
        std::fs::write(&file, "no folder").unwrap();
        let store = Store::new(file.clone(), 1);
        store.put("a", &search("q", day(5)));
        assert_eq!(store.get("a", day(5)), None);
        assert!(web_searches(&file).unwrap_err().to_string().contains("delete it"));
    }
}
