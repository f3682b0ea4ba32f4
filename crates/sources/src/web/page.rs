//! Reading the pages that a search found: no further than their own addresses, and only where the
//! site lets robots read.
use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use reqwest::Url;
use reqwest::header::{HeaderValue, USER_AGENT};
use tokio::sync::OnceCell;

use super::passages::nearest;
use super::robots::{MAX_BYTES, Robots};
use super::text;
use halma_net::guarded::{Follow, GuardedClient, Reply, Request};

/// Redirects from a page, at most; each is a page of its own to `robots.txt`.
const REDIRECTS: usize = 5;
/// Sites whose rules are kept at a time.
const SITES: usize = 1_000;

pub(super) struct Pages {
    outside: GuardedClient,
    /// What we call ourselves.
    agent: HeaderValue,
    /// The rules of a site, by its origin.
    robots: Mutex<HashMap<String, Arc<OnceCell<Robots>>>>,
}

impl Pages {
    pub(super) fn new(outside: GuardedClient, agent: HeaderValue) -> Self {
        Self { outside, agent, robots: Mutex::default() }
    }

    fn get(&self, url: Url, follow: Follow) -> Request {
        let mut request = Request::get(url, follow);
        request.headers.insert(USER_AGENT, self.agent.clone());
        request
    }

    /// The passages of a page that are nearest to a query, or why it was not read.
    pub(super) async fn passages(&self, url: &str, query: &str) -> Result<String, String> {
        let url = Url::parse(url).map_err(|e| format!("its address is none: {e}"))?;
        let reply = self.read(url).await?;
        let kind = reply.kind();
        let (media, parameters) = kind.split_once(';').unwrap_or((&kind, ""));
        let paragraphs = match media.trim() {
            "text/html" | "application/xhtml+xml" => {
                text::paragraphs(&decoded(&reply.bytes, parameters))
            }
            "text/plain" => decoded(&reply.bytes, parameters).lines().map(str::to_owned).collect(),
            "" => return Err("it does not say what it is".into()),
            other => return Err(format!("it is not a page of text but `{other}`")),
        };
        Ok(text::clean(&nearest(&paragraphs, query), usize::MAX))
    }

    async fn read(&self, mut url: Url) -> Result<Reply, String> {
        for _ in 0..=REDIRECTS {
            if !self.may_read(&url).await? {
                return Err("the site's robots.txt does not let us read it".into());
            }
            let reply = self.outside.send(self.get(url, Follow::No)).await;
            let reply = reply.map_err(|e| e.to_string())?;
            match reply.leads_to() {
                Some(to) => url = to,
                None if reply.status.is_success() => return Ok(reply),
                None => return Err(format!("the site answers {}", reply.status.as_u16())),
            }
        }
        Err(format!("it is the end of more than {REDIRECTS} redirects"))
    }

    /// Whether the rules of its site let us read a page; they are asked for once.
    async fn may_read(&self, url: &Url) -> Result<bool, String> {
        let origin = url.origin().ascii_serialization();
        let cell = {
            let mut sites = self.robots.lock();
            if sites.len() >= SITES {
                sites.clear();
            }
            Arc::clone(sites.entry(origin).or_default())
        };
        let robots = cell.get_or_try_init(|| self.rules(url)).await?;
        Ok(robots.allow(&path(url)))
    }

    /// No file, no rules; no answer, no reading (RFC 9309, Section 2.3.1).
    async fn rules(&self, url: &Url) -> Result<Robots, String> {
        let mut url = url.clone();
        url.set_path("/robots.txt");
        url.set_query(None);
        url.set_fragment(None);
        let reply = self.outside.send(self.get(url, Follow::Anywhere)).await;
        let reply = reply.map_err(|e| e.to_string())?;
        let status = reply.status;
        if status.is_server_error() || status.as_u16() == 429 {
            return Err(format!("the site answers {} for its robots.txt", status.as_u16()));
        }
        if !status.is_success() {
            return Ok(Robots::default());
        }
        let bytes = &reply.bytes[..reply.bytes.len().min(MAX_BYTES)];
        Ok(Robots::parse(&String::from_utf8_lossy(bytes)))
    }
}

fn path(url: &Url) -> String {
    match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    }
}

/// By the encoding that its type names; by UTF-8 without one.
fn decoded(bytes: &[u8], parameters: &str) -> String {
    let named = parameters.split(';').find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        (name.trim() == "charset").then(|| value.trim().trim_matches('"'))
    });
    let encoding = named.and_then(|name| encoding_rs::Encoding::for_label(name.as_bytes()));
    encoding.unwrap_or(encoding_rs::UTF_8).decode(bytes).0.into_owned()
}
