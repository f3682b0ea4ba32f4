//! Task `explain`: an answer in sentences, quoted from the passages that lead to it.
use halma_core::Question;
use halma_core::text::support::{Explained, TitledText, compose};
use serde::Deserialize;
use serde_json::json;

use crate::input;

#[derive(Debug, Deserialize)]
pub(crate) struct ExplainInput {
    question: Question,
    answer: String,
    #[serde(default)]
    reason: String,
    #[serde(default)]
    passages: Vec<input::Passage>,
}

/// JSON of `answer`.
pub(crate) fn reply(input: &ExplainInput) -> String {
    let passages: Vec<TitledText<'_>> = input
        .passages
        .iter()
        .map(|passage| TitledText { title: &passage.title, text: &passage.text })
        .collect();
    let explained =
        Explained { question: &input.question.text, answer: &input.answer, reason: &input.reason };
    json!({ "answer": compose(explained, &passages) }).to_string()
}
