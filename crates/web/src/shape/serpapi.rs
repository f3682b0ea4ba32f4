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
    answer_box: Option<AnswerBox>,
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

#[derive(Deserialize, Default)]
#[serde(default)]
struct AnswerBox {
    title: Text,
    link: Text,
    date: Text,
    answer: Text,
    /// Of a calculation or a conversion.
    result: Text,
    snippet: Text,
    list: Vec<Text>,
    definitions: Vec<Text>,
}

pub(super) fn read(body: &[u8]) -> Result<Vec<WebResult>, Unread> {
    let places = ["organic_results", "answer_box", "knowledge_graph", "search_metadata", "error"];
    let reply: Reply = parsed(body, &places)?;
    let mut results: Vec<WebResult> = vec![];
    results.extend(reply.answer_box.map(answer));
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

fn answer(said: AnswerBox) -> WebResult {
    let first = [said.answer, said.result, said.snippet].into_iter();
    let words = first.chain(said.list).chain(said.definitions).map(|said| said.0);
    WebResult {
        rank: WebRank::Answer,
        title: said.title.0,
        url: said.link.0,
        text: lines(words),
        date: said.date.0,
        ..WebResult::default()
    }
}

/// Title, type and description have names; every other text is an attribute.
fn panel(graph: &Map<String, Value>) -> WebResult {
    let text = |name: &str| graph.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let source = graph.get("source").and_then(|source| source.get("link")).and_then(Value::as_str);
    let attributes = graph.iter().filter_map(|(name, value)| {
        let known = ["title", "type", "description", "kgmid", "entity_type", "image", "website"];
        let value = value.as_str()?;
        let link = value.starts_with("http") || name.ends_with("_link");
        let told = !known.contains(&name.as_str()) && !link;
        told.then(|| line(&name.replace('_', " "), value))
    });
    WebResult {
        rank: WebRank::Panel,
        title: text("title"),
        url: source.map_or_else(|| text("website"), str::to_owned),
        text: lines([text("type"), text("description")].into_iter().chain(attributes)),
        ..WebResult::default()
    }
}
