//! Sub-questions with the answers that were found, and the answer that is read from them.
use halma_core::{Answer, Citation, Hit};
use serde::Serialize;

use crate::shared::citing::joined;
use crate::shared::steps::{Reading, answer_from};

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
