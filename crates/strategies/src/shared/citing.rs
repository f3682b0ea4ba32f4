//! Carrying up what several partial answers rest on.
use std::fmt::Write as _;

use halma_core::text::marks::split_mark;
use halma_core::{Answer, Citation, Hit};
use serde::Serialize;

use crate::shared::steps::{Reading, answer_from};

/// Citations of several partial answers, each passage once: a sentence takes the place of the
/// passage it stands in, and two sentences of one passage are both kept.
pub(crate) fn joined(citations: impl IntoIterator<Item = Citation>) -> Vec<Citation> {
    let mut kept: Vec<Citation> = vec![];
    for citation in citations {
        if kept.iter().any(|other| lies_in(other, &citation)) {
            continue;
        }
        match kept.iter_mut().find(|other| lies_in(&citation, other)) {
            Some(wider) => *wider = citation,
            None => kept.push(citation),
        }
    }
    kept
}

/// A text with each mark such as `[3]` under another number; a mark that has none is left out.
pub(crate) fn renumbered(text: &str, mut number: impl FnMut(usize) -> Option<usize>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('[') {
        let Some((marked, tail)) = split_mark(after) else {
            out.push_str(before);
            out.push('[');
            rest = after;
            continue;
        };
        if let Some(number) = number(marked) {
            let _ = write!(out, "{before}[{number}]");
        } else {
            // No space is left before a full stop.
            out.push_str(before.trim_end_matches(' '));
        }
        rest = tail;
    }
    out + rest
}

fn lies_in(part: &Citation, whole: &Citation) -> bool {
    part.node == whole.node && whole.start <= part.start && part.end <= whole.end
}

/// A sub-question with its answer, which is empty where none was found. Prompts are given the two
/// as `history`.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Solved {
    pub(crate) question: String,
    pub(crate) answer: String,
    /// What the answer rests on; nothing where there is none.
    #[serde(skip)]
    pub(crate) citations: Vec<Citation>,
}

impl Solved {
    pub(crate) fn unanswered(question: String) -> Self {
        Self { question, answer: String::new(), citations: vec![] }
    }

    /// A sub-question as it was read from passages.
    pub(crate) fn read(question: String, reading: Reading, passages: &[Hit]) -> Self {
        let Answer { text, citations, abstained, .. } = answer_from(reading, passages);
        // Passages that hold no answer are nothing to cite.
        let citations = if abstained { vec![] } else { citations };
        Self { question, answer: text, citations }
    }
}

/// What the answers in a history rest on.
pub(crate) fn citations(history: &[Solved]) -> Vec<Citation> {
    joined(history.iter().flat_map(|solved| solved.citations.clone()))
}

/// The answer that a reading of the history gives: it rests on what the answers in it rest on.
pub(crate) fn closing(reading: Reading, history: &[Solved]) -> Answer {
    Answer { citations: citations(history), ..answer_from(reading, &[]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn citation(node: &str, start: usize, end: usize) -> Citation {
        Citation {
            node: node.into(),
            document: "notes.md".into(),
            title: "Notes".into(),
            section: None,
            page: None,
            start,
            end,
            quote: String::new(),
        }
    }

    #[test]
    fn marks_get_other_numbers_or_go() {
        let number = |number: usize| (number < 3).then_some(number + 10);
        assert_eq!(renumbered("A [1][2]. B [9]. [c] [d", number), "A [11][12]. B. [c] [d");
    }

    #[test]
    fn a_sentence_takes_the_place_of_its_passage_in_either_order() {
        let (whole, first, second) =
            (citation("a", 0, 90), citation("a", 0, 20), citation("a", 30, 60));
        let other = citation("b", 0, 90);
        let kept = joined([whole.clone(), other.clone(), first.clone(), second.clone()]);
        assert_eq!(kept, [first.clone(), other.clone(), second.clone()]);
        assert_eq!(joined([first.clone(), whole, first.clone(), other.clone()]), [first, other]);
    }
}
