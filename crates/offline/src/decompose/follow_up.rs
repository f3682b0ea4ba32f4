//! Task `follow_up`: the next question of the chain, with the answers found so far in it.
use halma_core::{NextQuestion, Question};
use serde::Deserialize;
use serde_json::json;

use super::{Step, chain};
use crate::input::Exchange;
use crate::lexicon::Lexicon;
use crate::references::replace_references;

#[derive(Debug, Deserialize)]
pub(crate) struct FollowUpInput {
    question: Question,
    #[serde(default)]
    history: Vec<Exchange>,
}

pub(crate) fn reply(lexicon: &Lexicon, input: &FollowUpInput) -> String {
    let next = next(&input.question.text, &input.history, lexicon).unwrap_or_default();
    json!({ "follow_up": next }).to_string()
}

/// The same in the tags of a proposer that was trained to decompose.
pub(crate) fn tagged(lexicon: &Lexicon, input: &FollowUpInput) -> String {
    let next = next(&input.question.text, &input.history, lexicon);
    // A question that is not divided is looked up as it is, once.
    let next = next.or_else(|| input.history.is_empty().then(|| input.question.text.clone()));
    next.map_or(NextQuestion::Stop, NextQuestion::Ask).to_string()
}

/// `None` after the last step, or when the next step would repeat a question without an answer.
pub(crate) fn next(question: &str, history: &[Exchange], lexicon: &Lexicon) -> Option<String> {
    let steps = chain(question, lexicon);
    let step = steps.get(history.len())?;
    let follow_up = resolve(&step.question, &steps, history, 0);
    let repeated = history.iter().any(|exchange| exchange.question.trim() == follow_up);
    (!repeated).then_some(follow_up)
}

/// References become answers; a step without an answer becomes its description.
fn resolve(text: &str, steps: &[Step], history: &[Exchange], depth: usize) -> String {
    replace_references(text, |number| {
        let answer = history.get(number - 1).map(|exchange| exchange.answer.trim());
        match (answer, steps.get(number - 1)) {
            (Some(answer), _) if !answer.is_empty() => answer.to_owned(),
            (_, Some(step)) if depth < steps.len() && !step.stands_for.is_empty() => {
                resolve(&step.stands_for, steps, history, depth + 1)
            }
            _ => "it".to_owned(),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUESTION: &str = "Where was the wife of the director of the film Low Tide born?";

    fn next(question: &str, answers: &[&str]) -> String {
        let lexicon = Lexicon::new();
        let mut history: Vec<Exchange> = vec![];
        for answer in answers {
            let question = super::next(question, &history, &lexicon).unwrap_or_default();
            history.push(Exchange { question, answer: (*answer).to_owned() });
        }
        super::next(question, &history, &lexicon).unwrap_or_default()
    }

    #[test]
    fn one_question_follows_from_the_other() {
        assert_eq!(next(QUESTION, &[]), "Who is the director of the film Low Tide?");
        assert_eq!(next(QUESTION, &["Jon Quill"]), "Who is the wife of Jon Quill?");
        assert_eq!(next(QUESTION, &["Jon Quill", "Mara"]), "Where was Mara born?");
        assert_eq!(next(QUESTION, &["Jon Quill", "Mara", "Varn"]), "");
    }

    #[test]
    fn a_missing_answer_becomes_its_description() {
        assert_eq!(next(QUESTION, &[""]), "Who is the wife of the director of the film Low Tide?");
        assert_eq!(
            next(QUESTION, &["", ""]),
            "Where was the wife of the director of the film Low Tide born?"
        );
        assert_eq!(next(QUESTION, &["", "", ""]), "");
    }

    #[test]
    fn a_simple_question_is_asked_once() {
        assert_eq!(next("Who painted Low Tide?", &[]), "Who painted Low Tide?");
        assert_eq!(next("Who painted Low Tide?", &[""]), "");
        assert_eq!(next("", &[]), "");
    }
}
