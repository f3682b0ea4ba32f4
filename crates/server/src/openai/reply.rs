//! An answer as a chat reply: numbered marks in the text, annotations beside it.
use std::fmt::Write as _;

use halma_core::{Answer, Citation};
use serde_json::{Value, json};

use crate::asking::Answered;

/// What stands between the answer and the list of its sources.
pub(super) const SOURCES: &str = "\n\nSources:\n";

/// Characters of a quote at most.
const LONGEST: usize = 500;

/// The text with its marks, and where each mark stands.
pub(super) struct Written {
    pub(super) text: String,
    pub(super) annotations: Vec<Value>,
}

pub(super) fn written(answer: &Answer) -> Written {
    let mut text = if answer.abstained {
        let why =
            if answer.reason.is_empty() { "it is not in the documents" } else { &answer.reason };
        format!("I cannot answer that: {why}")
    } else {
        answer.text.clone()
    };
    let mut annotations = vec![];
    for (number, citation) in (1..).zip(&answer.citations) {
        text.push_str(if number == 1 { " " } else { "" });
        let start = text.chars().count();
        let _ = write!(text, "[{number}]");
        annotations.push(annotation(citation, (start, text.chars().count())));
    }
    if !answer.citations.is_empty() {
        text.push_str(SOURCES);
    }
    for (number, citation) in (1..).zip(&answer.citations) {
        let _ = writeln!(text, "[{number}] {}", place(citation));
    }
    Written { text: text.trim_end().to_owned(), annotations }
}

/// `notes/a.md, page 3`, on one line whatever the name holds.
fn place(citation: &Citation) -> String {
    let document = citation.document.replace(char::is_control, " ");
    match citation.page {
        Some(page) => format!("{document}, page {page}"),
        None => document,
    }
}

fn annotation(citation: &Citation, (start, end): (usize, usize)) -> Value {
    let quote: String = citation.quote.chars().take(LONGEST).collect();
    json!({
        "type": "url_citation",
        "url_citation": {
            "url": address(&citation.document),
            "title": citation.title,
            "start_index": start,
            "end_index": end,
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

/// Where the document's text is, below the server's own address.
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

pub(super) fn usage(answered: &Answered) -> Value {
    let usage = answered.usage;
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
    fn marks_stand_where_the_annotations_say() {
        let citations = vec![citation("ä b.md"), citation("x\n[9] y.md")];
        let answer = Answer { text: "ein Riff".into(), citations, ..Answer::default() };
        let written = written(&answer);
        assert_eq!(
            written.text,
            "ein Riff [1][2]\n\nSources:\n[1] ä b.md, page 3\n[2] x [9] y.md, page 3"
        );
        let chars: Vec<char> = written.text.chars().collect();
        for (number, annotation) in (1..).zip(&written.annotations) {
            let at = |key: &str| {
                usize::try_from(annotation["url_citation"][key].as_u64().unwrap()).unwrap()
            };
            let mark: String = chars[at("start_index")..at("end_index")].iter().collect();
            assert_eq!(mark, format!("[{number}]"));
        }
        let url = written.annotations[0]["url_citation"]["url"].as_str().unwrap();
        assert_eq!(url, "/api/v1/documents/%C3%A4%20b.md/text");
    }

    #[test]
    fn an_abstention_says_why() {
        let answer = Answer { abstained: true, reason: "nothing near".into(), ..Answer::default() };
        assert_eq!(written(&answer).text, "I cannot answer that: nothing near");
    }
}
