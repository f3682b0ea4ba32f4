//! An answer as a chat reply: numbered citations in the text, and the same as annotations.
use std::fmt::Write as _;

use halma_core::text::marks::split_mark;
use halma_core::text::support::without_markdown;
use halma_core::{Answer, Citation, FullAnswer, ResultKind, Span};
use percent_encoding::utf8_percent_encode;
use serde_json::{Value, json};

use crate::asking::AskResponse;
use crate::documents::IN_NAMES;

/// Separates the answer from the list of its sources.
pub(super) const SOURCES: &str = "\n\nSources:\n";

/// Of the rows that a computed answer cites, those that are listed: there may be many.
const MAX_ROWS: usize = 3;

/// Characters of a quote at most.
const MAX_QUOTE: usize = 500;

/// The text with its citation marks, and the position of each mark.
pub(super) struct Rendered {
    pub(super) text: String,
    pub(super) annotations: Vec<Value>,
}

pub(super) fn render(answer: &Answer) -> Rendered {
    let listed = if answer.computation.is_some() { MAX_ROWS } else { usize::MAX };
    let (mut text, marks) = match &answer.full {
        _ if answer.kind == ResultKind::Passages => (passages(answer), vec![]),
        _ if answer.abstained => {
            let reason = match answer.reason.as_str() {
                "" => "it is not in the documents",
                reason => reason,
            };
            (format!("I cannot answer that: {reason}"), vec![])
        }
        Some(full) => (full.text.clone(), find_marks(&full.text)),
        None => {
            let marks: Vec<String> =
                (1..=answer.citations.len().min(listed)).map(|n| format!("[{n}]")).collect();
            let text = format!("{} {}", answer.text, marks.concat());
            let text = text.trim_end().to_owned();
            let marks = find_marks(&text);
            (text, marks)
        }
    };
    let annotations = marks.into_iter().filter_map(|(number, span)| {
        answer.citations.get(number.wrapping_sub(1)).map(|citation| annotation(citation, span))
    });
    let annotations = annotations.collect();
    for claim in answer.full.iter().flat_map(unsupported) {
        let _ = write!(text, "\n\nNot found in the documents: “{claim}”");
    }
    if let Some(limitation) = answer.limitation.as_ref().filter(|_| !answer.abstained) {
        let _ = write!(text, "\n\n{limitation}");
    }
    if !answer.citations.is_empty() && !answer.abstained {
        text.push_str(SOURCES);
        for (number, citation) in (1..).zip(&answer.citations).take(listed) {
            let _ = writeln!(text, "[{number}] {}", location(citation));
        }
        if let Some(more) = answer.citations.len().checked_sub(listed).filter(|more| *more > 0) {
            let _ = writeln!(text, "and {more} more rows");
        }
    }
    Rendered { text: text.trim_end().to_owned(), annotations }
}

/// What is shown in place of an answer: why, and the nearest passages.
fn passages(answer: &Answer) -> String {
    let reason = answer.limitation.as_ref().unwrap_or(&answer.reason);
    let mut text = format!("No answer was found. {reason}").trim_end().to_owned();
    text.push_str("\n\nNearest passages:\n");
    for (number, passage) in (1..).zip(&answer.passages) {
        let quote = without_markdown(&passage.source.quote);
        let quote: String = quote.trim().chars().take(MAX_QUOTE).collect();
        let _ = writeln!(text, "\n{number}. {}: “{quote}”", location(&passage.source));
    }
    text
}

/// The claims that no passage supports.
fn unsupported(full: &FullAnswer) -> Vec<String> {
    let claims = full.claims.iter().filter(|claim| !claim.supported);
    // Claims follow one another, so that the text is read once.
    let (mut at, mut rest) = (0, full.text.chars());
    let mut texts = vec![];
    for claim in claims {
        if claim.start < at {
            (at, rest) = (0, full.text.chars());
        }
        rest.by_ref().take(claim.start - at).for_each(drop);
        texts.push(rest.by_ref().take(claim.end - claim.start).collect());
        at = claim.end;
    }
    texts
}

/// Marks such as `[3]`: their numbers, and the characters that they take up.
fn find_marks(text: &str) -> Vec<(usize, Span)> {
    let mut marks = vec![];
    for (start, (at, c)) in text.char_indices().enumerate() {
        let inside = &text[at + c.len_utf8()..];
        if c == '['
            && let Some((number, after)) = split_mark(inside)
        {
            // A mark is ASCII: its bytes are its characters.
            marks.push((number, Span { start, end: start + 1 + inside.len() - after.len() }));
        }
    }
    marks
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
    format!("/api/v1/documents/{}/text", utf8_percent_encode(document, IN_NAMES))
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
    use halma_core::{Claim, NearestPassage};

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
    fn brackets_without_end_are_no_marks() {
        let text = format!("{}[7] {}", "[".repeat(100_000), "[1".repeat(100_000));
        assert_eq!(find_marks(&text), [(7, Span { start: 100_000, end: 100_003 })]);
        assert!(find_marks("[] [x] [1").is_empty());
    }

    #[test]
    fn a_full_answer_has_its_marks_where_they_stand_and_names_what_is_unsupported() {
        let claim = |start, end, supported| Claim { start, end, citations: vec![], supported };
        let full = FullAnswer {
            text: "Ein Riff [2]. Es ist grün. So [x] [7].".into(),
            claims: vec![claim(0, 13, true), claim(14, 26, false)],
        };
        let citations = vec![citation("a.md"), citation("b.md")];
        let answer =
            Answer { text: "Riff".into(), citations, full: Some(full), ..Answer::default() };
        let Rendered { text, annotations } = render(&answer);
        assert!(
            text.contains("\n\nNot found in the documents: “Es ist grün.”\n\nSources:\n[1] a.md")
        );
        assert_eq!(annotations.len(), 1);
        assert_eq!(annotations[0]["url_citation"]["start_index"], 9);
        assert_eq!(annotations[0]["halma"]["document"], "b.md");
    }

    #[test]
    fn a_computed_answer_lists_the_first_of_its_rows() {
        let row = |number| Citation { page: None, ..citation(&format!("{number}.csv")) };
        let citations = (1..=9).map(row).collect();
        let (computation, limitation) = (Some("By a query.".into()), Some("Read by eye.".into()));
        let text = "9".into();
        let answer = Answer { text, citations, computation, limitation, ..Answer::default() };
        assert_eq!(
            render(&answer).text,
            "9 [1][2][3]\n\nRead by eye.\n\nSources:\n[1] 1.csv\n[2] 2.csv\n[3] 3.csv\n\
             and 6 more rows"
        );
    }

    #[test]
    fn an_abstention_says_why() {
        let answer =
            Answer { abstained: true, reason: "no near passage".into(), ..Answer::default() };
        assert_eq!(render(&answer).text, "I cannot answer that: no near passage");
    }
    #[test]
    fn passages_are_no_answer() {
        let passage = |document| NearestPassage {
            text: "A reef is near.".into(),
            source: citation(document),
        };
        let passages = vec![passage("a.md"), passage("b.md")];
        let (kind, abstained) = (ResultKind::Passages, true);
        let answer = Answer { kind, abstained, passages, ..Answer::default() };
        let listed = "Nearest passages:\n\n1. a.md, page 3: “reef”\n\n2. b.md, page 3: “reef”";
        let Rendered { text, annotations } = render(&answer);
        assert_eq!(text, format!("No answer was found.\n\n{listed}"));
        assert!(annotations.is_empty());

        let answer = Answer { limitation: Some("There is no model.".into()), ..answer };
        let text = format!("No answer was found. There is no model.\n\n{listed}");
        assert_eq!(render(&answer).text, text);
    }
}
