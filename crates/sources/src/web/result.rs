//! The results of a web search, in one form for all search engines, and as the hits that a strategy
//! sees.
use halma_core::{Hit, Layer, NodeId, Span};
use serde::{Deserialize, Serialize};

use super::WebKind;

/// One search with the day it was made on, as it is stored and exported.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WebSearch {
    pub query: String,
    /// The kind of search engine that was asked.
    pub engine: WebKind,
    /// The day of the search in universal time, `2024-05-31`.
    pub day: String,
    /// Answer boxes and knowledge panels first, then the pages, best first, then the questions of
    /// others and the engine's own summary.
    pub results: Vec<WebResult>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WebRank {
    /// What the search engine itself answers.
    Answer,
    /// What it knows of an entity.
    Panel,
    #[default]
    Page,
    /// A question that others ask, with its answer: never before the pages.
    Question,
    /// What a model of the search engine writes about the pages: after everything else.
    Summary,
}

/// One result. A field that the engine did not give is empty.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct WebResult {
    pub rank: WebRank,
    pub title: String,
    /// An `http` or `https` address.
    pub url: String,
    /// The snippet of a page, the words of an answer or a panel.
    pub text: String,
    /// The day of the page as `2024-05-31`, or as the search engine tells it.
    pub date: String,
    /// The passages of the page that are nearest to the query, where pages are fetched.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub passages: String,
    /// Why a page that was to be fetched was not read.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub unread: String,
}

impl WebSearch {
    /// The best results as hits. What has no address of its own is cited by the engine's. The
    /// section tells the dates: that of the page where it is known, and that of the search.
    pub fn hits(&self, limit: usize, engine: &str) -> Vec<Hit> {
        let best = self.results.iter().take(limit).enumerate();
        best.map(|(place, result)| self.hit(place, result, engine)).collect()
    }

    fn hit(&self, place: usize, result: &WebResult, engine: &str) -> Hit {
        let title = match result.rank {
            WebRank::Answer if result.title.is_empty() => "Answer box".to_owned(),
            WebRank::Answer => format!("Answer box: {}", result.title),
            WebRank::Panel => format!("Knowledge panel: {}", result.title),
            WebRank::Page => result.title.clone(),
            WebRank::Question => {
                format!("Related question: {}", result.title).trim_end().to_owned()
            }
            WebRank::Summary => "Summary by the search engine".to_owned(),
        };
        let document = if result.url.is_empty() { engine } else { &result.url }.to_owned();
        let parts = [result.text.as_str(), result.passages.as_str()];
        let text = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n");
        let section = if result.date.is_empty() {
            format!("web, seen {}", self.day)
        } else {
            format!("web, of {}, seen {}", result.date, self.day)
        };
        let mut content = blake3::Hasher::new();
        for part in [&document, &title, &text] {
            content.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
        }
        let id = NodeId(format!("web-{}", &content.finalize().to_hex()[..24]));
        let end = text.chars().count();
        #[expect(clippy::cast_precision_loss, reason = "places are few")]
        let score = 1.0 / (place + 1) as f32;
        Hit {
            id,
            layer: Layer::Chunk,
            parent: None,
            document,
            title,
            section: Some(section),
            page: None,
            text,
            score,
            cosine: None,
            parts: vec![],
            span: Span { start: 0, end },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(results: Vec<WebResult>) -> WebSearch {
        let (query, day) = ("q".to_owned(), "2025-03-11".to_owned());
        WebSearch { query, engine: WebKind::Brave, day, results }
    }

    #[test]
    fn hits_say_what_and_when_they_are() {
        let result = |rank, title: &str, url: &str, date: &str| WebResult {
            rank,
            title: title.into(),
            url: url.into(),
            text: "words".into(),
            date: date.into(),
            ..WebResult::default()
        };
        let mut read = result(WebRank::Page, "A page", "https://a.example/", "2024-05-31");
        read.passages = "more words".into();
        let search = search(vec![
            result(WebRank::Answer, "", "", ""),
            result(WebRank::Answer, "How many?", "https://b.example/", ""),
            result(WebRank::Panel, "Saturn", "", ""),
            read,
        ]);
        let hits = search.hits(10, "https://engine.example/search");
        let seen: Vec<_> = hits
            .iter()
            .map(|hit| (hit.title.as_str(), hit.document.as_str(), hit.section.as_deref().unwrap()))
            .collect();
        assert_eq!(
            seen,
            [
                ("Answer box", "https://engine.example/search", "web, seen 2025-03-11"),
                ("Answer box: How many?", "https://b.example/", "web, seen 2025-03-11"),
                (
                    "Knowledge panel: Saturn",
                    "https://engine.example/search",
                    "web, seen 2025-03-11"
                ),
                ("A page", "https://a.example/", "web, of 2024-05-31, seen 2025-03-11"),
            ]
        );
        assert_eq!((hits[3].text.as_str(), hits[3].span.end), ("words\nmore words", 16));
        assert!(hits.windows(2).all(|pair| pair[0].score > pair[1].score));
        assert_eq!(search.hits(2, "e").len(), 2);
    }

    #[test]
    fn the_same_content_has_the_same_id_wherever_it_is_found() {
        let page = |text: &str| WebResult { text: text.into(), ..WebResult::default() };
        let id = |results, at: usize| search(results).hits(9, "e")[at].id.clone();
        assert_eq!(id(vec![page("a")], 0), id(vec![page("b"), page("a")], 1));
        assert_ne!(id(vec![page("a")], 0), id(vec![page("b")], 0));
    }
}
