//! SearXNG, as of 2025: <https://docs.searxng.org/dev/search_api.html>.
use reqwest::Url;
use serde::Deserialize;
use serde_json::Value;

use super::{Ask, Text, Unread, get, line, lines, parsed, secret};
use crate::result::{WebRank, WebResult};
use halma_net::guarded::Request;

pub(super) fn request(url: &Url, ask: &Ask<'_>) -> Request {
    let language = match (ask.language, ask.country) {
        ("", _) | (_, "") => ask.language.to_owned(),
        (language, country) => format!("{language}-{}", country.to_uppercase()),
    };
    let mut request = get(url, &[("q", ask.query), ("format", "json"), ("language", &language)]);
    // It knows no keys, but what stands before it may.
    if let Some(key) = ask.key {
        secret(&mut request, "authorization", &format!("Bearer {key}"));
    }
    request
}

#[derive(Deserialize)]
struct Reply {
    results: Vec<SearxngPage>,
    #[serde(default)]
    answers: Vec<Answer>,
    #[serde(default)]
    infoboxes: Vec<Panel>,
    #[serde(default)]
    unresponsive_engines: Vec<Value>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct SearxngPage {
    title: Text,
    url: Text,
    content: Text,
    #[serde(rename = "publishedDate")]
    published_date: Text,
}

/// Words alone, as it was until 2024, or with their address.
#[derive(Deserialize)]
#[serde(untagged)]
enum Answer {
    Words(String),
    Cited(Cited),
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Cited {
    answer: Text,
    url: Text,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Panel {
    infobox: Text,
    id: Text,
    content: Text,
    urls: Vec<Link>,
    attributes: Vec<Attribute>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Link {
    url: Text,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Attribute {
    label: Text,
    value: Text,
}

pub(super) fn read(body: &[u8]) -> Result<Vec<WebResult>, Unread> {
    let reply: Reply = parsed(body, &["results"])?;
    let answers = reply.answers.into_iter().map(|answer| {
        let Cited { answer, url } = match answer {
            Answer::Words(words) => Cited { answer: Text(words), url: Text::default() },
            Answer::Cited(cited) => cited,
        };
        WebResult { rank: WebRank::Answer, text: answer.0, url: url.0, ..WebResult::default() }
    });
    let panels = reply.infoboxes.into_iter().map(panel);
    let pages = reply.results.into_iter().map(|page| WebResult {
        title: page.title.0,
        url: page.url.0,
        text: page.content.0,
        date: page.published_date.0,
        ..WebResult::default()
    });
    let results: Vec<WebResult> = answers.chain(panels).chain(pages).collect();
    // No results because no engine answered is a failure.
    if results.is_empty() && !reply.unresponsive_engines.is_empty() {
        let silent: Vec<String> = reply.unresponsive_engines.iter().map(engine).collect();
        return Err(Unread::Failed(format!("none of its engines answered: {}", silent.join(", "))));
    }
    Ok(results)
}

fn panel(infobox: Panel) -> WebResult {
    let attributes = infobox.attributes.iter().map(|of| line(&of.label.0, &of.value.0));
    let url = infobox.urls.first().map_or(&infobox.id, |link| &link.url);
    WebResult {
        rank: WebRank::Panel,
        url: url.0.clone(),
        text: lines(std::iter::once(infobox.content.0.clone()).chain(attributes)),
        title: infobox.infobox.0,
        ..WebResult::default()
    }
}

/// `["google", "timeout"]` as `google (timeout)`.
fn engine(silent: &Value) -> String {
    let part = |at: usize| silent.get(at).and_then(Value::as_str);
    match (part(0), part(1)) {
        (Some(name), Some(reason)) => format!("{name} ({reason})"),
        (Some(name), None) => name.to_owned(),
        _ => silent.to_string(),
    }
}
