//! What search engines reply in, each in its own shape.
use serde_json::{Value, json};

/// A search engine's API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shape {
    SerpApi,
    Brave,
    Tavily,
    SearXng,
}

/// What there is to be found, whatever the shape.
#[derive(Debug, Clone, Default)]
pub struct Given {
    pub results: Vec<GivenResult>,
    /// An answer in words, with the address it is from.
    pub answer: Option<(String, String)>,
    /// Title, text and address of a panel about an entity.
    pub panel: Option<(String, String, String)>,
}

#[derive(Debug, Clone, Default)]
pub struct GivenResult {
    pub title: String,
    pub url: String,
    pub text: String,
    /// As `2024-05-31`; empty for none.
    pub date: String,
}

impl Given {
    /// Results of titles, addresses and texts.
    pub fn results(results: &[(&str, &str, &str)]) -> Self {
        let result = |&(title, url, text): &(&str, &str, &str)| GivenResult {
            title: title.into(),
            url: url.into(),
            text: text.into(),
            date: String::new(),
        };
        Self { results: results.iter().map(result).collect(), ..Self::default() }
    }
}

impl Shape {
    pub const ALL: [Self; 4] = [Self::SerpApi, Self::Brave, Self::Tavily, Self::SearXng];

    /// As it is called in a configuration, and the folder of its recorded replies.
    pub fn name(self) -> &'static str {
        match self {
            Self::SerpApi => "serpapi",
            Self::Brave => "brave",
            Self::Tavily => "tavily",
            Self::SearXng => "searxng",
        }
    }

    /// A reply that holds what is given.
    pub fn reply(self, given: &Given) -> Value {
        let results = |of: fn(&GivenResult) -> Value| -> Value {
            given.results.iter().map(of).map(without_nothing).collect()
        };
        let answer = given.answer.as_ref();
        let panel = given.panel.as_ref();
        let reply = match self {
            Self::SerpApi => json!({
                "search_metadata": {"status": "Success"},
                "organic_results": results(|r| json!({
                    "title": r.title, "link": r.url, "snippet": r.text, "date": r.date,
                })),
                "answer_box": answer.map(|(text, url)| json!({"answer": text, "link": url})),
                "knowledge_graph": panel.map(|(title, text, url)| json!({
                    "title": title, "description": text, "source": {"name": "a page", "link": url},
                })),
            }),
            Self::Brave => json!({
                "type": "search",
                "query": {"original": ""},
                "web": {"type": "search", "results": results(|r| json!({
                    "title": r.title, "url": r.url, "description": r.text, "page_age": r.date,
                }))},
                "faq": answer.map(|(text, url)| json!({"type": "faq", "results": [
                    {"question": "", "answer": text, "title": "", "url": url},
                ]})),
                "infobox": panel.map(|(title, text, url)| json!({"type": "graph", "results": [
                    {"title": title, "long_desc": text, "url": url},
                ]})),
            }),
            Self::Tavily => json!({
                "query": "",
                "answer": answer.map(|(text, _)| text),
                "results": results(|r| json!({
                    "title": r.title, "url": r.url, "content": r.text, "published_date": r.date,
                })),
            }),
            Self::SearXng => json!({
                "query": "",
                "results": results(|r| json!({
                    "title": r.title, "url": r.url, "content": r.text, "publishedDate": r.date,
                })),
                "answers": answer
                    .map(|(text, url)| json!([{"answer": text, "url": url}]))
                    .unwrap_or(json!([])),
                "infoboxes": panel
                    .map(|(title, text, url)| json!([
                        {"infobox": title, "content": text, "urls": [{"title": "", "url": url}]},
                    ]))
                    .unwrap_or(json!([])),
                "unresponsive_engines": [],
            }),
        };
        without_nothing(reply)
    }

    /// What is replied to a search that finds nothing.
    pub(crate) fn nothing(self) -> Value {
        match self {
            Self::SerpApi => json!({
                "search_metadata": {"status": "Success"},
                "error": "Google hasn't returned any results for this query.",
            }),
            Self::Brave => json!({"type": "search", "query": {"original": ""}}),
            Self::Tavily | Self::SearXng => self.reply(&Given::default()),
        }
    }

    /// What is replied to a key that is not known, with its status.
    pub(crate) fn unknown_key(self) -> (u16, Value) {
        match self {
            Self::SerpApi => (401, json!({"error": "Invalid API key."})),
            Self::Brave => (
                422,
                json!({"type": "ErrorResponse", "error": {
                    "code": "SUBSCRIPTION_TOKEN_INVALID", "status": 422,
                    "detail": "The provided subscription token is invalid.",
                }}),
            ),
            Self::Tavily => (401, json!({"detail": {"error": "Unauthorized: invalid API key."}})),
            Self::SearXng => (403, json!({"error": "Forbidden"})),
        }
    }
}

/// Without the fields that hold nothing, as the engines leave them out.
fn without_nothing(value: Value) -> Value {
    let Value::Object(fields) = value else { return value };
    let holds = |value: &Value| !value.is_null() && value != "";
    fields.into_iter().filter(|(_, value)| holds(value)).collect::<serde_json::Map<_, _>>().into()
}
