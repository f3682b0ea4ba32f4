//! `[sources.web]`: what can be configured of the web.
use std::time::Duration;

use halma_core::ConfigError;
use reqwest::Url;
use serde::{Deserialize, Serialize};

use halma_net::address::{base, wrong};

/// More than the most that any of the engines gives.
const LIMIT: usize = 20;

/// A search engine, by the shape of its replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WebKind {
    /// Google through SerpApi.
    SerpApi,
    /// Brave Search.
    Brave,
    Tavily,
    /// A SearXNG that users run themselves.
    SearXng,
}

impl WebKind {
    /// As it is written in a configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::SerpApi => "serpapi",
            Self::Brave => "brave",
            Self::Tavily => "tavily",
            Self::SearXng => "searxng",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WebSettings {
    pub kind: WebKind,
    /// What is to be found there, in one line, for the model that chooses among sources.
    #[serde(default)]
    pub about: String,
    /// Where the API is; the search's own path is appended to one that has none. Not needed but for
    /// `searxng`.
    #[serde(default)]
    pub url: String,
    /// The environment variable that holds the key.
    #[serde(default)]
    pub key_env: String,
    /// Pages that are asked for, between 1 and 20.
    #[serde(default = "ten")]
    pub limit: usize,
    /// Of how many of them the pages themselves are read.
    #[serde(default)]
    pub fetch_pages: usize,
    /// For how many days a search is not made again; 0: always.
    #[serde(default = "one")]
    pub cache_days: u32,
    /// Hosts inside this machine or its network whose pages may be read nevertheless.
    #[serde(default)]
    pub allow_private: Vec<String>,
    /// For one search, and for one page.
    #[serde(default = "twenty")]
    pub timeout_seconds: f64,
    /// As in `en`.
    #[serde(default)]
    pub language: String,
    /// As in `us`; `tavily` takes the whole name.
    #[serde(default)]
    pub country: String,
    /// Concurrent searches, at most; fewer while the engine throttles.
    #[serde(default = "four")]
    pub concurrency: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests_per_minute: Option<u32>,
    /// Retries after a passing failure.
    #[serde(default = "three")]
    pub retries: usize,
}

fn ten() -> usize {
    10
}

fn one() -> u32 {
    1
}

fn twenty() -> f64 {
    20.0
}

fn four() -> usize {
    4
}

fn three() -> usize {
    3
}

impl WebSettings {
    /// The defaults for a search engine.
    pub fn new(kind: WebKind) -> Self {
        Self {
            kind,
            about: String::new(),
            url: String::new(),
            key_env: String::new(),
            limit: ten(),
            fetch_pages: 0,
            cache_days: one(),
            allow_private: vec![],
            timeout_seconds: twenty(),
            language: String::new(),
            country: String::new(),
            concurrency: four(),
            requests_per_minute: None,
            retries: three(),
        }
    }

    /// Everything that results depend on, in words: equal for the same engine asked in the same
    /// way.
    pub fn identity(&self) -> String {
        let Self { kind, url, limit, fetch_pages, language, country, .. } = self;
        let (url, name) = (url.trim().trim_end_matches('/'), kind.name());
        format!("{name} {url} {limit} {fetch_pages} {language:?} {country:?}")
    }

    pub(crate) fn address(&self) -> Result<Url, ConfigError> {
        let configured = self.url.trim();
        let api = self.kind.api();
        let given = if configured.is_empty() { api.address.as_str() } else { configured };
        if given.is_empty() {
            let hint = "give the address of your SearXNG, `http://localhost:8080` for instance";
            return Err(wrong("url", "it is not set", hint));
        }
        let mut url = base(given)?;
        if url.path() == "/" {
            url.set_path(&api.path);
        }
        url.set_query(None);
        url.set_fragment(None);
        Ok(url)
    }

    pub(crate) fn timeout(&self) -> Result<Duration, ConfigError> {
        let timeout = Duration::try_from_secs_f64(self.timeout_seconds).ok();
        timeout.filter(|timeout| !timeout.is_zero()).ok_or_else(|| {
            wrong(
                "timeout_seconds",
                "it is not above 0",
                "write a time in seconds, 20 for instance",
            )
        })
    }

    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        if !(1..=LIMIT).contains(&self.limit) {
            let reason = format!("`{}` is not between 1 and {LIMIT}", self.limit);
            return Err(wrong("limit", &reason, "write how many results are asked for"));
        }
        if self.fetch_pages > self.limit {
            let reason = format!("there are only {} results", self.limit);
            return Err(wrong("fetch_pages", &reason, "write a number up to `limit`"));
        }
        if let Some(host) = self.allow_private.iter().find(|host| host.contains('/')) {
            let reason = format!("`{host}` is not a host");
            return Err(wrong("allow_private", &reason, "write hosts alone, as `wiki.local`"));
        }
        Ok(())
    }
}
