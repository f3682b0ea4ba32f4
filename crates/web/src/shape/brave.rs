//! Brave Search, as of 2025: <https://api-dashboard.search.brave.com/app/documentation>.
use reqwest::Url;
use serde::Deserialize;

use super::{Ask, Text, Unread, get, line, lines, parsed, secret};
use crate::result::{WebRank, WebResult};
use crate::text;
use halma_net::guarded::Request;

pub(super) fn request(url: &Url, ask: &Ask<'_>) -> Request {
    // Twenty is the most it takes.
    let (count, country) = (ask.limit.min(20).to_string(), ask.country.to_uppercase());
    let mut request = get(
        url,
        &[
            ("q", ask.query),
            ("count", &count),
            ("search_lang", ask.language),
            ("country", &country),
            ("text_decorations", "false"),
            ("extra_snippets", if ask.more { "true" } else { "" }),
        ],
    );
    if let Some(key) = ask.key {
        secret(&mut request, "x-subscription-token", key);
    }
    request
}

#[derive(Deserialize)]
struct Reply {
    #[serde(default)]
    web: Option<List<BraveListed>>,
    #[serde(default)]
    infobox: Option<List<Infobox>>,
    #[serde(default)]
    faq: Option<List<Faq>>,
}

#[derive(Deserialize)]
struct List<T> {
    #[serde(default = "Vec::new")]
    results: Vec<T>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct BraveListed {
    title: Text,
    url: Text,
    description: Text,
    page_age: Text,
    age: Text,
    extra_snippets: Vec<Text>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Infobox {
    title: Text,
    url: Text,
    label: Text,
    description: Text,
    long_desc: Text,
    attributes: Vec<Vec<Text>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Faq {
    question: Text,
    answer: Text,
    url: Text,
}

pub(super) fn read(body: &[u8]) -> Result<Vec<WebResult>, Unread> {
    let reply: Reply = parsed(body, &["web", "infobox", "faq", "query"])?;
    let faq = reply.faq.into_iter().flat_map(|list| list.results).map(|faq| WebResult {
        rank: WebRank::Question,
        title: plain(&faq.question),
        url: faq.url.0,
        text: plain(&faq.answer),
        ..WebResult::default()
    });
    let panels = reply.infobox.into_iter().flat_map(|list| list.results).map(panel);
    let pages = reply.web.into_iter().flat_map(|list| list.results).map(|page| {
        let snippets = std::iter::once(page.description).chain(page.extra_snippets);
        let date = if page.page_age.0.is_empty() { page.age } else { page.page_age };
        WebResult {
            title: plain(&page.title),
            url: page.url.0,
            text: lines(snippets.map(|snippet| plain(&snippet))),
            date: date.0,
            ..WebResult::default()
        }
    });
    Ok(panels.chain(pages).chain(faq).collect())
}

fn panel(infobox: Infobox) -> WebResult {
    let attributes = infobox.attributes.iter().filter_map(|pair| match pair.as_slice() {
        [label, value] => Some(line(&plain(label), &plain(value))),
        _ => None,
    });
    let said = [&infobox.label, &infobox.description, &infobox.long_desc].map(plain);
    WebResult {
        rank: WebRank::Panel,
        title: plain(&infobox.title),
        url: infobox.url.0,
        text: lines(said.into_iter().chain(attributes)),
        ..WebResult::default()
    }
}

/// Its texts are pieces of HTML.
fn plain(said: &Text) -> String {
    text::plain(&said.0)
}
