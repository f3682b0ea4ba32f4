//! The web as a source: the results of a search engine, stored with their day, and on request the
//! passages of the pages they lead to.
mod engine;
mod open;
mod page;
mod passages;
mod result;
mod robots;
mod settings;
mod shape;
mod store;
#[cfg(test)]
mod tests;
mod text;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use futures::future::join_all;
use halma_core::{BoxError, Hit, LlmError, Source};
use parking_lot::Mutex;
use time::{Date, OffsetDateTime};

use engine::Engine;
use halma_net::address::show;
use halma_net::daily::DailyCache;
pub use open::{WebAccess, web};
use page::Pages;
pub use result::{WebRank, WebResult, WebSearch};
pub use settings::{WebKind, WebSettings};
pub use store::web_searches;

/// Longest query in characters and words; the shortest limit of the engines (Brave's).
const QUERY_CHARS: usize = 400;
const QUERY_WORDS: usize = 50;

/// Changes whenever what a key is made of changes, so that old searches are never matched.
const KEY_VERSION: &[u8] = b"halma web 2";

/// The source named `web`.
pub struct Web {
    about: String,
    engine: Engine,
    pages: Pages,
    fetch_pages: usize,
    store: DailyCache,
    /// Everything of the settings that results depend on.
    settings: String,
    today: fn() -> Date,
    /// Searches in progress, by key: equal ones wait for their results.
    locks: Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>,
}

impl Web {
    fn new(settings: &WebSettings, engine: Engine, pages: Pages, folder: PathBuf) -> Self {
        let WebSettings { kind, fetch_pages, .. } = settings;
        let read = if *fetch_pages > 0 { ", with passages of the first pages" } else { "" };
        let about = format!(
            "the World Wide Web, searched by {}: titles and snippets of pages, answer boxes, \
             knowledge panels{read}; good for what is recent or widely known",
            kind.name()
        );
        Self {
            about: if settings.about.trim().is_empty() { about } else { settings.about.clone() },
            settings: settings.identity(),
            engine,
            pages,
            fetch_pages: *fetch_pages,
            store: DailyCache::new(folder, settings.cache_days),
            today: || OffsetDateTime::now_utc().date(),
            locks: Mutex::default(),
        }
    }

    /// The results for a query, stored ones or from the search engine.
    pub async fn results(&self, query: &str) -> Result<WebSearch, LlmError> {
        let query = shortened(query);
        if query.is_empty() {
            return Err(LlmError::refused("the web was asked for nothing: the query is empty"));
        }
        if !self.store.keeps() {
            return self.ask(query).await;
        }
        let key = self.key(&query);
        let lock = {
            let mut locks = self.locks.lock();
            Arc::clone(locks.entry(key.clone()).or_default())
        };
        let key_lock = KeyLock { web: self, key: &key, lock };
        let _guard = key_lock.lock.lock().await;
        if let Some(kept) = store::get(&self.store, &key, (self.today)()) {
            return Ok(kept);
        }
        let search = self.ask(query).await?;
        store::put(&self.store, &key, &search);
        Ok(search)
    }

    /// Whether the search engine works, in words. A search is made only where it costs nothing:
    /// with SearXNG; of the others only the connection is tested.
    pub async fn check(&self) -> Result<String, LlmError> {
        let name = self.engine.kind.name();
        if self.engine.kind == WebKind::SearXng {
            let count = self.engine.search("Halma").await?.len();
            return Ok(format!("{name} answers with {count} results"));
        }
        let took = self.engine.reach().await?;
        Ok(format!("{name} is reached in {took:.0} ms; no search was spent to try the key"))
    }

    async fn ask(&self, query: String) -> Result<WebSearch, LlmError> {
        // The day on which it began: what is found around midnight is not newer than it is.
        let day = (self.today)().to_string();
        let mut results = self.engine.search(&query).await?;
        let first = results.iter_mut().filter(|result| result.rank == WebRank::Page);
        let reading = first.take(self.fetch_pages).map(|result| async {
            match self.pages.passages(&result.url, &query).await {
                Ok(passages) => result.passages = passages,
                Err(reason) => {
                    tracing::info!("the page `{}` is not read: {reason}", result.url);
                    result.unread = reason;
                }
            }
        });
        join_all(reading).await;
        Ok(WebSearch { query, engine: self.engine.kind, day, results })
    }

    fn key(&self, query: &str) -> String {
        let mut hasher = blake3::Hasher::new();
        for part in [KEY_VERSION, self.settings.as_bytes(), query.as_bytes()] {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
        }
        hasher.finalize().to_hex()[..32].to_owned()
    }
}

/// Removes the lock of a key from the list when no one waits for it, also when its searcher gives up.
struct KeyLock<'a> {
    web: &'a Web,
    key: &'a str,
    lock: Arc<tokio::sync::Mutex<()>>,
}

impl Drop for KeyLock<'_> {
    fn drop(&mut self) {
        let mut locks = self.web.locks.lock();
        // The list's and ours.
        if Arc::strong_count(&self.lock) == 2 {
            locks.remove(self.key);
        }
    }
}

/// On one line, and no longer than every engine takes.
fn shortened(query: &str) -> String {
    let line = text::clean(query, usize::MAX);
    let words: Vec<&str> = line.split_whitespace().take(QUERY_WORDS).collect();
    let line = words.join(" ");
    match line.char_indices().nth(QUERY_CHARS) {
        Some((end, _)) => {
            let cut = &line[..end];
            cut.rsplit_once(' ').map_or(cut, |(whole, _)| whole).to_owned()
        }
        None => line,
    }
}

#[async_trait]
impl Source for Web {
    fn name(&self) -> &'static str {
        "web"
    }

    fn about(&self) -> &str {
        &self.about
    }

    async fn search(&self, query: &str, limit: usize) -> Result<Vec<Hit>, BoxError> {
        let search = self.results(query).await?;
        Ok(search.hits(limit, &show(&self.engine.url)))
    }
}
