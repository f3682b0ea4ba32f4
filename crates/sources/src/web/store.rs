//! The searches that were made, one file each in a folder of their day: `2024-05-31/KEY.json`.
use std::path::Path;

use halma_net::daily::{DailyCache, DailyCacheError, stored_replies};
use time::Date;

use super::WebSearch;

/// The newest search of this key that is not too old.
pub(super) fn get(store: &DailyCache, key: &str, today: Date) -> Option<WebSearch> {
    store.get(key, today, |file, text| read(file, &text))
}

pub(super) fn put(store: &DailyCache, key: &str, search: &WebSearch) {
    match serde_json::to_string_pretty(search) {
        Ok(text) => store.put(key, &search.day, &text),
        Err(e) => tracing::warn!("a web search cannot be stored and will be requested again: {e}"),
    }
}

/// All searches that are stored in a folder, by day, those of a day by query. One that cannot be
/// read is left out with a warning.
pub fn web_searches(dir: &Path) -> Result<Vec<WebSearch>, DailyCacheError> {
    let replies = stored_replies(dir)?;
    let mut searches: Vec<WebSearch> =
        replies.iter().filter_map(|(file, text)| read(file, text)).collect();
    searches.sort_by(|a, b| (&a.day, &a.query).cmp(&(&b.day, &b.query)));
    Ok(searches)
}

fn read(file: &Path, text: &str) -> Option<WebSearch> {
    let search = serde_json::from_str(text);
    search
        .inspect_err(|e| tracing::warn!("`{}` is not a stored web search: {e}", file.display()))
        .ok()
}

#[cfg(test)]
mod tests {
    use halma_net::daily::forget_replies;
    use time::Month;

    use super::*;
    use crate::web::WebKind;

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
        let store = |days| DailyCache::new(folder.path().join("web"), days);
        assert_eq!(get(&store(1), "k", day(5)), None);
        put(&store(1), "k", &search("q", day(5)));
        for (days, today, is_fresh) in [
            (1, 5, true),
            (1, 6, false),
            (2, 6, true),
            (2, 7, false),
            (30, 31, true),
            (3, 4, false),
        ] {
            assert_eq!(get(&store(days), "k", day(today)).is_some(), is_fresh, "{days} {today}");
        }
        put(&store(1), "k", &search("again", day(6)));
        assert_eq!(get(&store(9), "k", day(7)).unwrap().query, "again");
        assert_eq!(get(&store(9), "other", day(7)), None);
        put(&store(0), "none", &search("q", day(6)));
        assert_eq!(get(&store(9), "none", day(6)), None);
    }

    #[test]
    fn what_is_kept_can_be_listed_and_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().join("web");
        assert_eq!(web_searches(&dir).unwrap(), []);
        let store = DailyCache::new(dir.clone(), 1);
        for (key, query, on) in [("a", "b", 6), ("b", "a", 6), ("a", "c", 5)] {
            put(&store, key, &search(query, day(on)));
        }
        std::fs::write(dir.join("2024-05-06/broken.json"), "{").unwrap();
        std::fs::write(dir.join("2024-05-06/.half.1-1"), "{").unwrap();
        let queries: Vec<String> =
            web_searches(&dir).unwrap().into_iter().map(|search| search.query).collect();
        assert_eq!(queries, ["c", "a", "b"]);
        assert_eq!(get(&store, "broken", day(6)), None);
        forget_replies(&dir).unwrap();
        assert!(!dir.exists() && forget_replies(&dir).is_ok());
        assert_eq!(get(&store, "a", day(6)), None);
    }

    #[test]
    fn a_folder_that_cannot_be_written_costs_no_run() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("web");
        std::fs::write(&file, "no folder").unwrap();
        let store = DailyCache::new(file.clone(), 1);
        put(&store, "a", &search("q", day(5)));
        assert_eq!(get(&store, "a", day(5)), None);
        assert!(web_searches(&file).unwrap_err().to_string().contains("delete it"));
    }
}
