//! SerpApi, as of 2025: <https://serpapi.com/search-api>, engine `google`.
use reqwest::Url;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Ask, Text, Unread, get, line, lines, parsed};
use crate::result::{WebRank, WebResult};
use halma_net::guarded::Request;

pub(super) fn request(url: &Url, ask: &Ask<'_>) -> Request {
    let number = ask.limit.to_string();
    get(
        url,
        &[
            ("engine", "google"),
            ("q", ask.query),
            ("num", &number),
            ("hl", ask.language),
            ("gl", ask.country),
            ("api_key", ask.key.unwrap_or_default()),
        ],
    )
}

#[derive(Deserialize)]
struct Reply {
    #[serde(default)]
    organic_results: Vec<Organic>,
    #[serde(default)]
    answer_box: Option<Map<String, Value>>,
    #[serde(default)]
    knowledge_graph: Option<Map<String, Value>>,
    #[serde(default)]
    error: Text,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Organic {
    title: Text,
    link: Text,
    snippet: Text,
    date: Text,
}

/// What answers in a box, before everything else that it holds.
const FIRST: &[&str] =
    &["answer", "result", "snippet", "list", "expanded_list", "definitions", "contents"];

/// What is no text of a box or a panel: its kind, addresses, pictures.
const UNREAD: &[&str] = &[
    "type",
    "title",
    "link",
    "displayed_link",
    "date",
    "description",
    "kgmid",
    "entity_type",
    "image",
    "images",
    "header_images",
    "thumbnail",
    "thumbnails",
    "favicon",
    "website",
    "source",
    "about_this_result",
    "about_page_link",
    "cached_page_link",
    "snippet_highlighted_words",
];

pub(super) fn read(body: &[u8]) -> Result<Vec<WebResult>, Unread> {
    let places = ["organic_results", "answer_box", "knowledge_graph", "search_metadata", "error"];
    let reply: Reply = parsed(body, &places)?;
    let mut results: Vec<WebResult> = vec![];
    results.extend(reply.answer_box.as_ref().map(answer));
    results.extend(reply.knowledge_graph.as_ref().map(panel));
    results.extend(reply.organic_results.into_iter().map(|page| WebResult {
        title: page.title.0,
        url: page.link.0,
        text: page.snippet.0,
        date: page.date.0,
        ..WebResult::default()
    }));
    // That nothing was found is told as an error, too.
    let error = reply.error.0;
    if results.is_empty() && !error.is_empty() && !error.contains("hasn't returned any results") {
        return Err(Unread::Failed(error));
    }
    Ok(results)
}

/// A box of any kind: a sentence, a list, a table, a calculation, the weather, a score.
fn answer(held: &Map<String, Value>) -> WebResult {
    let each = |value: &Value| match value {
        Value::Array(items) => items.iter().map(worded).collect(),
        one => vec![worded(one)],
    };
    let first = FIRST.iter().filter_map(|name| held.get(*name)).flat_map(each);
    let others = held.iter().filter(|(name, _)| !FIRST.contains(&name.as_str()));
    let text = lines(first.chain(others.filter_map(attribute)));
    // Where a box only marks words of a page, they are the answer.
    let marked = held.get("snippet_highlighted_words").map(worded).unwrap_or_default();
    WebResult {
        rank: WebRank::Answer,
        title: said(held, "title"),
        url: said(held, "link"),
        text: if text.is_empty() { marked } else { text },
        date: said(held, "date"),
        ..WebResult::default()
    }
}

/// Title, type and description have names; everything else is an attribute.
fn panel(graph: &Map<String, Value>) -> WebResult {
    let source = graph.get("source").and_then(|source| source.get("link")).and_then(Value::as_str);
    let first = [said(graph, "type"), said(graph, "description")].into_iter();
    WebResult {
        rank: WebRank::Panel,
        title: said(graph, "title"),
        url: source.map_or_else(|| said(graph, "website"), str::to_owned),
        text: lines(first.chain(graph.iter().filter_map(attribute))),
        ..WebResult::default()
    }
}

fn said(held: &Map<String, Value>, name: &str) -> String {
    held.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn attribute((name, value): (&String, &Value)) -> Option<String> {
    let link = name.ends_with("_link") || name.ends_with("_links");
    let text = if link || UNREAD.contains(&name.as_str()) { String::new() } else { worded(value) };
    (!text.is_empty()).then(|| line(&name.replace('_', " "), &text))
}

/// A value in words: the parts of a list or a table next to each other, addresses left out.
fn worded(value: &Value) -> String {
    let joined = |parts: Vec<String>, between: &str| {
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(between)
    };
    match value {
        Value::String(text) if text.starts_with("http") => String::new(),
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Bool(_) | Value::Null => String::new(),
        Value::Array(parts) => {
            let rows = parts.iter().any(Value::is_array);
            joined(parts.iter().map(worded).collect(), if rows { "\n" } else { "; " })
        }
        Value::Object(fields) => {
            let named = ["name", "title"].iter().find_map(|name| fields.get(*name)).map(worded);
            let rest = fields.iter().filter(|(name, _)| *name != "name");
            let rest = rest.filter_map(|(name, value)| match name.as_str() {
                "extensions" | "formatted" | "table" | "snippet" => Some(worded(value)),
                _ => attribute((name, value)),
            });
            joined(named.into_iter().chain(rest).collect(), ", ")
        }
    }
}
