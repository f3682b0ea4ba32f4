//! An answer as a chat reply: numbered citations in the text, and the same as annotations.
use std::fmt::Write as _;

use halma_core::{Answer, Citation, Span};
use serde_json::{Value, json};

use crate::asking::AskResponse;

/// Separates the answer from the list of its sources.
pub(super) const SOURCES: &str = "\n\nSources:\n";

/// Characters of a quote at most.
const MAX_QUOTE: usize = 500;

/// The text with its citation marks, and the position of each mark.
pub(super) struct Rendered {
    pub(super) text: String,
    pub(super) annotations: Vec<Value>,
}

pub(super) fn render(answer: &Answer) -> Rendered {
    let mut text = if answer.abstained {
        let reason =
            if answer.reason.is_empty() { "it is not in the documents" } else { &answer.reason };
        format!("I cannot answer that: {reason}")
    } else {
        answer.text.clone()
    };
    let mut annotations = vec![];
    for (number, citation) in (1..).zip(&answer.citations) {
        text.push_str(if number == 1 { " " } else { "" });
        let start = text.chars().count();
        let _ = write!(text, "[{number}]");
        annotations.push(annotation(citation, Span { start, end: text.chars().count() }));
    }
    if !answer.citations.is_empty() {
        text.push_str(SOURCES);
    }
    for (number, citation) in (1..).zip(&answer.citations) {
        let _ = writeln!(text, "[{number}] {}", location(citation));
    }
    Rendered { text: text.trim_end().to_owned(), annotations }
}

/// `notes/a.md, page 3`, always on one line.
fn location(citation: &Citation) -> String {
    let document = citation.document.replace(char::is_control, " ");
    match citation.page {
        Some(page) => format!("{document}, page {page}"),
        None => document,
    }
}

fn annotation(citation: &Citation, mark: Span) -> Value {
    let quote: String = citation.quote.chars().take(MAX_QUOTE).collect();
    json!({
        "type": "url_citation",
        "url_citation": {
            "url": address(&citation.document),
            "title": citation.title,
            "start_index": mark.start,
            "end_index": mark.end,
        },
        "halma": {
            "node": citation.node,
            "document": citation.document,
            "section": citation.section,
            "page": citation.page,
            "start": citation.start,
            "end": citation.end,
            "quote": quote,
        },
    })
}

/// The address of the document's text on this server.
fn address(document: &str) -> String {
    let mut name = String::new();
    for byte in document.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            name.push(char::from(byte));
        } else {
            let _ = write!(name, "%{byte:02X}");
        }
    }
    format!("/api/v1/documents/{name}/text")
}

pub(super) fn usage(response: &AskResponse) -> Value {
    let usage = response.usage;
    json!({
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.prompt_tokens + usage.completion_tokens,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn citation(document: &str) -> Citation {
        Citation {
            node: "c-1".into(),
            document: document.into(),
            title: "A".into(),
            section: None,
            page: Some(3),
            start: 5,
            end: 9,
            quote: "reef".into(),
        }
    }

    #[test]
    fn marks_are_where_the_annotations_say() {
        let citations = vec![citation("ä b.md"), citation("x\n[9] y.md")];
        let answer = Answer { text: "ein Riff".into(), citations, ..Answer::default() };
        let rendered = render(&answer);
        assert_eq!(
            rendered.text,
            "ein Riff [1][2]\n\nSources:\n[1] ä b.md, page 3\n[2] x [9] y.md, page 3"
        );
        let chars: Vec<char> = rendered.text.chars().collect();
        for (number, annotation) in (1..).zip(&rendered.annotations) {
            let at = |key: &str| {
                usize::try_from(annotation["url_citation"][key].as_u64().unwrap()).unwrap()
            };
            let mark: String = chars[at("start_index")..at("end_index")].iter().collect();
            assert_eq!(mark, format!("[{number}]"));
        }
        let url = rendered.annotations[0]["url_citation"]["url"].as_str().unwrap();
        assert_eq!(url, "/api/v1/documents/%C3%A4%20b.md/text");
    }

    #[test]
    fn an_abstention_says_why() {
        let answer =
            Answer { abstained: true, reason: "no near passage".into(), ..Answer::default() };
        assert_eq!(render(&answer).text, "I cannot answer that: no near passage");
    }
}
