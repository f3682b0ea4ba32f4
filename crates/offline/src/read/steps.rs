//! Questions of several steps, read step by step with a trained reader: it has learned to read what
//! one sentence says.
use halma_core::Question;

use super::{Answer, ReadInput, Reader};
use crate::decompose::{chain, follow_up};
use crate::input::Exchange;

/// Longer chains are read in one go.
const MAX_STEPS: usize = 4;

/// `None` without a trained reader, for questions of one step, and where a step has no answer.
pub(super) fn by_steps(reader: &Reader<'_>, input: &ReadInput) -> Option<Answer> {
    reader.trained?;
    let question = &input.question;
    let steps = chain(&question.text, reader.lexicon);
    if !input.history.is_empty() || !(2..=MAX_STEPS).contains(&steps.len()) {
        return None;
    }
    let mut history: Vec<Exchange> = vec![];
    while let Some(next) = follow_up::next(&question.text, &history, reader.lexicon) {
        let step = ReadInput::new(Question::new(&next), input.context.clone());
        let answer = reader.read_step(&step).text;
        if answer.is_empty() || history.len() == MAX_STEPS {
            return None;
        }
        history.push(Exchange { question: next, answer });
    }
    let closing = ReadInput { history, ..ReadInput::new(question.clone(), vec![]) };
    Some(reader.read_step(&closing)).filter(|found| !found.text.is_empty())
}
