//! Tavily, as of 2025: <https://docs.tavily.com/documentation/api-reference/endpoint/search>.
use reqwest::header::{CONTENT_TYPE, HeaderValue};
use reqwest::{Method, Url};
use serde::Deserialize;
use serde_json::json;

use super::{Ask, Text, Unread, parsed, secret};
use crate::result::{WebRank, WebResult};
use halma_net::guarded::{Follow, Request};

pub(super) fn request(url: &Url, ask: &Ask<'_>) -> Request {
    let mut body = json!({
        "query": ask.query,
        "max_results": ask.limit,
        "include_answer": true,
    });
    // It takes the whole name of a country, and knows no languages.
    if !ask.country.is_empty() {
        body["country"] = ask.country.to_lowercase().into();
    }
    let mut request = Request::get(url.clone(), Follow::SameOrigin);
    request.method = Method::POST;
    request.body = body.to_string().into_bytes();
    request.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if let Some(key) = ask.key {
        secret(&mut request, "authorization", &format!("Bearer {key}"));
    }
    request
}

#[derive(Deserialize)]
struct Reply {
    #[serde(default)]
    answer: Text,
    results: Vec<TavilyPage>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct TavilyPage {
    title: Text,
    url: Text,
    content: Text,
    published_date: Text,
}

pub(super) fn read(body: &[u8]) -> Result<Vec<WebResult>, Unread> {
    let reply: Reply = parsed(body, &["results"])?;
    // Written by a model from the pages, so that it has no address of its own.
    let summary =
        WebResult { rank: WebRank::Summary, text: reply.answer.0, ..WebResult::default() };
    let pages = reply.results.into_iter().map(|page| WebResult {
        title: page.title.0,
        url: page.url.0,
        text: page.content.0,
        date: page.published_date.0,
        ..WebResult::default()
    });
    Ok(pages.chain([summary]).collect())
}
