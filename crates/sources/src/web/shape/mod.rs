//! The APIs of search engines, as `engines.toml` describes them: how each is asked, and how its reply
//! is read.
//!
//! What a reply lacks is left empty; a reply without the places where results stand is not a reply of
//! that API, and refused.
mod values;

use std::collections::BTreeMap;
use std::time::UNIX_EPOCH;

use reqwest::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use reqwest::{Method, Url};
use serde::Deserialize;
use serde_json::{Map, Value};

use self::values::{attribute, each, pair, place, text_of, worded};
use super::WebKind;
use super::result::{WebRank, WebResult};
use super::text;
use halma_net::guarded::{Follow, Request};

const ENGINES: &str = include_str!("engines.toml");

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

/// One API (`engines.toml` describes the fields).
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Api {
    /// Where it is; empty for what users run themselves.
    pub(super) address: String,
    /// The path of a search on a server that is given without one.
    pub(super) path: String,
    key: Option<[String; 2]>,
    places: Vec<String>,
    failure: String,
    failed: String,
    no_failure: String,
    html: bool,
    query: BTreeMap<String, String>,
    body: Option<Map<String, Value>>,
    results: Vec<ResultMapping>,
}

/// Where a reply holds results of one rank, and where these hold what is read of them.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ResultMapping {
    at: String,
    rank: WebRank,
    title: Vec<String>,
    url: Vec<String>,
    date: Vec<String>,
    text: Vec<String>,
    pairs: String,
    rest: bool,
    otherwise: String,
}

impl WebKind {
    pub(super) fn api(self) -> Api {
        let mut engines: BTreeMap<String, Api> = toml::from_str(ENGINES).unwrap_or_default();
        engines.remove(self.name()).unwrap_or_default()
    }
}

impl Api {
    pub(super) fn request(&self, url: &Url, ask: &Ask<'_>) -> Request {
        let mut url = url.clone();
        let filled = self.query.iter().map(|(name, value)| (name, ask.fill(value)));
        let filled: Vec<_> = filled.filter(|(_, value)| !value.is_empty()).collect();
        if !filled.is_empty() {
            url.query_pairs_mut().extend_pairs(filled);
        }
        let mut request = Request::get(url, Follow::SameOrigin);
        if let Some(body) = &self.body {
            let filled = body.iter().map(|(name, value)| (name.clone(), ask.value(value)));
            let filled: Map<_, _> = filled.filter(|(_, value)| *value != "").collect();
            request.method = Method::POST;
            request.body = Value::Object(filled).to_string().into_bytes();
            request.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        // What no header can hold was refused with the settings.
        if let (Some([name, value]), Some(_)) = (&self.key, ask.key)
            && let Ok(name) = HeaderName::try_from(name)
            && let Ok(mut value) = HeaderValue::try_from(ask.fill(value))
        {
            value.set_sensitive(true);
            request.headers.insert(name, value);
        }
        request
    }

    /// What a body holds, in the order of the ranks, without repetitions.
    pub(super) fn read(&self, body: &[u8]) -> Result<Vec<WebResult>, Unread> {
        let reply: Value = serde_json::from_slice(body).map_err(Unread::Json)?;
        if !self.places.iter().any(|field| reply.get(field).is_some()) {
            let fields = self.places.join("`, `");
            return Err(Unread::Shape(format!("there is none of `{fields}` in it")));
        }
        let mut results = vec![];
        for mapping in &self.results {
            for item in mapping.items(&reply)? {
                results.push(mapping.result(item, self.html));
            }
        }
        let failure = place(&reply, &self.failure).map(|said| each(said).join(", "));
        let failure = failure.filter(|said| results.is_empty() && !said.is_empty());
        let is_none =
            |said: &String| !self.no_failure.is_empty() && said.contains(&self.no_failure);
        match failure.filter(|said| !is_none(said)) {
            Some(said) => Err(Unread::Failed(format!("{}{said}", self.failed))),
            None => Ok(tidy(results)),
        }
    }
}

impl Ask<'_> {
    /// A template with what is asked for; empty where that is not given.
    fn fill(&self, template: &str) -> String {
        let country = self.country.to_lowercase();
        let locale = match (self.language, self.country) {
            ("", _) | (_, "") => self.language.to_owned(),
            (language, country) => format!("{language}-{}", country.to_uppercase()),
        };
        [
            ("{query}", self.query.to_owned()),
            ("{limit}", self.limit.to_string()),
            ("{language}", self.language.to_owned()),
            ("{COUNTRY}", country.to_uppercase()),
            ("{country}", country),
            ("{locale}", locale),
            ("{key}", self.key.unwrap_or_default().to_owned()),
            ("{more}", if self.more { "true" } else { "" }.to_owned()),
        ]
        .into_iter()
        .find(|(name, _)| template.contains(name))
        .map_or_else(|| template.to_owned(), |(name, value)| template.replace(name, &value))
    }

    fn value(&self, template: &Value) -> Value {
        match template {
            Value::String(template) if template == "{limit}" => self.limit.into(),
            Value::String(template) => self.fill(template).into(),
            other => other.clone(),
        }
    }
}

impl ResultMapping {
    /// The objects or texts that it reads; an error where a reply has something else there.
    fn items<'v>(&self, reply: &'v Value) -> Result<Vec<&'v Value>, Unread> {
        let wrong = || Unread::Shape(format!("`{}` does not hold results", self.at));
        let mut value = reply;
        for field in self.at.split('.') {
            match value.get(field) {
                None | Some(Value::Null) if value.is_object() => return Ok(vec![]),
                Some(inner) => value = inner,
                None => return Err(wrong()),
            }
        }
        // Words alone have no title.
        let is_item =
            |item: &Value| item.is_object() || (self.title.is_empty() && !item.is_array());
        match value {
            Value::Array(items) if !self.rest && items.iter().all(is_item) => {
                Ok(items.iter().collect())
            }
            item if !item.is_array() && (self.rest == item.is_object()) && is_item(item) => {
                Ok(vec![item])
            }
            _ => Err(wrong()),
        }
    }

    fn result(&self, item: &Value, html: bool) -> WebResult {
        let plain = |said: String| if html { text::plain(&said) } else { said };
        let first = |paths: &[String]| {
            let said = paths.iter().filter_map(|path| place(item, path)).map(text_of);
            said.into_iter().find(|said| !said.is_empty()).unwrap_or_default()
        };
        let mut said: Vec<String> = vec![text_of(item)];
        for value in self.text.iter().filter_map(|path| place(item, path)) {
            said.extend(if self.rest { values::worded_each(value) } else { each(value) });
        }
        said.extend(place(item, &self.pairs).into_iter().flat_map(|pairs| {
            pairs.as_array().into_iter().flatten().filter_map(|of| {
                let (label, value) = pair(of)?;
                Some(line(&plain(label), &plain(value)))
            })
        }));
        if let Some(fields) = item.as_object().filter(|_| self.rest) {
            let others = fields.iter().filter(|(name, _)| !self.text.contains(name));
            said.extend(others.filter_map(attribute));
        }
        let text = lines(said.into_iter().map(plain));
        let otherwise = || place(item, &self.otherwise).map(worded).unwrap_or_default();
        WebResult {
            rank: self.rank,
            title: plain(first(&self.title)),
            url: first(&self.url),
            text: if text.is_empty() { otherwise() } else { text },
            date: first(&self.date),
            ..WebResult::default()
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
        let is_listed = kept.iter().any(|kept| {
            kept.rank == result.rank && kept.url == result.url && kept.text == result.text
        });
        if says && cited && !is_listed {
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
