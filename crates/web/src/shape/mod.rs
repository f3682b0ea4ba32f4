//! The APIs of search engines: how each is asked, and how its reply is read.
//!
//! What a reply lacks is left empty; a reply without the places where results stand is not a reply of
//! that API, and refused.
mod brave;
mod searxng;
mod serpapi;
mod tavily;

use std::time::UNIX_EPOCH;

use reqwest::Url;
use reqwest::header::{HeaderName, HeaderValue};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::WebKind;
use super::result::{WebRank, WebResult};
use super::text;
use halma_net::guarded::{Follow, Request};

/// Characters of a title, a text, an address, a date that are kept, at most.
const TITLE: usize = 300;
const TEXT: usize = 2_000;
const ADDRESS: usize = 2_000;
const DATE: usize = 40;

/// What a search engine is asked.
pub(super) struct Ask<'a> {
    pub(super) query: &'a str,
    /// Pages that are asked for.
    pub(super) limit: usize,
    pub(super) language: &'a str,
    pub(super) country: &'a str,
    pub(super) key: Option<&'a str>,
    /// Whether more of each page is asked for than a snippet; not every plan of Brave has that.
    pub(super) more: bool,
}

/// Why a body is not a reply of the API.
#[derive(Debug)]
pub(super) enum Unread {
    /// It is not JSON.
    Json(serde_json::Error),
    /// It is JSON of another shape, or lacks what every reply has.
    Shape(String),
    /// The API says that the search failed, though the status does not.
    Failed(String),
}

impl WebKind {
    /// Where the API is; none for what users run themselves.
    pub(super) fn address(self) -> Option<&'static str> {
        match self {
            Self::SerpApi => Some("https://serpapi.com"),
            Self::Brave => Some("https://api.search.brave.com"),
            Self::Tavily => Some("https://api.tavily.com"),
            Self::SearXng => None,
        }
    }

    /// The path of a search on a server that is given without one.
    pub(super) fn path(self) -> &'static str {
        match self {
            Self::SerpApi => "/search.json",
            Self::Brave => "/res/v1/web/search",
            Self::Tavily | Self::SearXng => "/search",
        }
    }

    pub(super) fn request(self, url: &Url, ask: &Ask<'_>) -> Request {
        match self {
            Self::SerpApi => serpapi::request(url, ask),
            Self::Brave => brave::request(url, ask),
            Self::Tavily => tavily::request(url, ask),
            Self::SearXng => searxng::request(url, ask),
        }
    }

    /// What a body holds, in the order of the ranks, without repetitions.
    pub(super) fn read(self, body: &[u8]) -> Result<Vec<WebResult>, Unread> {
        let read = match self {
            Self::SerpApi => serpapi::read(body),
            Self::Brave => brave::read(body),
            Self::Tavily => tavily::read(body),
            Self::SearXng => searxng::read(body),
        };
        Ok(tidy(read?))
    }
}

/// A search by GET with what is set of these parameters.
fn get(url: &Url, parameters: &[(&str, &str)]) -> Request {
    let mut url = url.clone();
    let set = parameters.iter().filter(|(_, value)| !value.is_empty());
    url.query_pairs_mut().extend_pairs(set);
    Request::get(url, Follow::SameOrigin)
}

/// Puts a secret into a header. What no header can hold was refused with the settings.
fn secret(request: &mut Request, name: &'static str, value: &str) {
    if let Ok(mut value) = HeaderValue::try_from(value) {
        value.set_sensitive(true);
        request.headers.insert(HeaderName::from_static(name), value);
    }
}

/// A body as a reply, which must be an object with one of these fields.
fn parsed<T: DeserializeOwned>(body: &[u8], one_of: &[&str]) -> Result<T, Unread> {
    let value: Value = serde_json::from_slice(body).map_err(Unread::Json)?;
    if !one_of.iter().any(|field| value.get(field).is_some()) {
        let fields = one_of.join("`, `");
        return Err(Unread::Shape(format!("there is none of `{fields}` in it")));
    }
    serde_json::from_value(value).map_err(|e| Unread::Shape(e.to_string()))
}

/// Strings, and what engines put in their places: numbers as they stand, everything else as none.
#[derive(Debug, Default, Deserialize)]
#[serde(from = "Value")]
struct Text(String);

impl From<Value> for Text {
    fn from(value: Value) -> Self {
        match value {
            Value::String(said) => Self(said),
            Value::Number(number) => Self(number.to_string()),
            _ => Self::default(),
        }
    }
}

/// Label and value of an attribute, as a line.
fn line(label: &str, value: &str) -> String {
    if label.is_empty() { value.to_owned() } else { format!("{label}: {value}") }
}

/// These texts, each once, on lines of their own.
fn lines(parts: impl IntoIterator<Item = String>) -> String {
    let mut kept: Vec<String> = vec![];
    for part in parts {
        let part = part.trim();
        if !part.is_empty() && !kept.iter().any(|kept| kept.contains(part)) {
            kept.push(part.to_owned());
        }
    }
    kept.join("\n")
}

/// Cuts what is long, drops what says nothing or repeats, keeps only addresses of the web.
fn tidy(results: Vec<WebResult>) -> Vec<WebResult> {
    let mut kept: Vec<WebResult> = vec![];
    for result in results {
        let result = WebResult {
            title: text::clean(&result.title, TITLE),
            url: address(&result.url),
            text: text::clean(&result.text, TEXT),
            date: date(&result.date),
            ..result
        };
        let says = !result.text.is_empty() || !result.title.is_empty();
        // A page that cannot be gone to cannot be cited either.
        let cited = result.rank != WebRank::Page || !result.url.is_empty();
        let known = kept.iter().any(|kept| {
            kept.rank == result.rank && kept.url == result.url && kept.text == result.text
        });
        if says && cited && !known {
            kept.push(result);
        }
    }
    kept.sort_by_key(|result| match result.rank {
        WebRank::Answer => 0,
        WebRank::Panel => 1,
        WebRank::Page => 2,
        WebRank::Question => 3,
        WebRank::Summary => 4,
    });
    kept
}

/// An `http` or `https` address without user and fragment, or nothing.
fn address(url: &str) -> String {
    let Ok(mut url) = Url::parse(url.trim()) else { return String::new() };
    let web = matches!(url.scheme(), "http" | "https") && url.host_str().is_some();
    if !web || url.set_username("").is_err() || url.set_password(None).is_err() {
        return String::new();
    }
    url.set_fragment(None);
    if url.as_str().len() > ADDRESS { String::new() } else { url.into() }
}

/// A date as `2024-05-31` where that is plain, else as it is told (`3 days ago`).
fn date(told: &str) -> String {
    let told = text::clean(told, DATE);
    let iso = |text: &str| {
        let shape = |(at, c): (usize, char)| match at {
            4 | 7 => c == '-',
            _ => c.is_ascii_digit(),
        };
        text.chars().count() == 10 && text.chars().enumerate().all(shape)
    };
    if let Some(day) = told.get(..10).filter(|day| iso(day)) {
        return day.to_owned();
    }
    match httpdate::parse_http_date(&told).ok().filter(|date| *date > UNIX_EPOCH) {
        Some(date) => time::OffsetDateTime::from(date).date().to_string(),
        None => told,
    }
}

#[cfg(test)]
mod tests;
