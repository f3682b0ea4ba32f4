//! Task `think`: the next sentence of a chain of reasoning, taken from the passages.
use std::collections::HashSet;

use halma_core::Question;
use serde::Deserialize;
use serde_json::json;

use super::are_similar;
use crate::decompose::chain;
use crate::input::Passage;
use crate::lexicon::Lexicon;
use crate::links::mentions;
use crate::read::text::{Line, Text};
use crate::read::{ReadInput, read};
use crate::weights::{Weights, covered, mass};
use crate::words::Sentence;

#[derive(Debug, Deserialize)]
pub(crate) struct ThinkInput {
    question: Question,
    #[serde(default)]
    context: Vec<Passage>,
    #[serde(default)]
    thoughts: Vec<String>,
}

/// The share of the question that the thoughts must cover before they settle it.
const SETTLED: f32 = 0.8;

/// What a sentence gains that tells of something a thought names.
const LED_TO: f32 = 0.3;

pub(crate) fn reply(lexicon: &Lexicon, input: &ThinkInput) -> String {
    let (thought, concludes) = next(lexicon, input);
    json!({ "thought": thought, "concludes": concludes }).to_string()
}

fn next(lexicon: &Lexicon, input: &ThinkInput) -> (String, bool) {
    let text = Text::new(&input.context, lexicon);
    let question = Sentence::new(&input.question.text, lexicon);
    let wanted = mass(&question, &Weights::default());
    let thought: Vec<HashSet<String>> = input
        .thoughts
        .iter()
        .map(|thought| lexicon.content(thought).into_iter().collect())
        .collect();
    let known: HashSet<String> = thought.iter().flatten().cloned().collect();
    if text.lines.is_empty() {
        return nothing_found(lexicon, input);
    }
    if covered(&wanted, &known) >= SETTLED {
        return conclusion(lexicon, input);
    }
    let mut best: Option<(f32, String)> = None;
    for line in &text.lines {
        let said = with_subject(line, &text);
        let held: HashSet<String> = lexicon.content(&said).into_iter().collect();
        if thought.iter().any(|thought| are_similar(thought, &held)) {
            continue;
        }
        let title = &text.titles[line.passage].plain;
        let led = input.thoughts.iter().any(|thought| mentions(thought, title));
        let open: Vec<_> =
            wanted.iter().filter(|(stem, _)| !known.contains(stem)).cloned().collect();
        let gain = covered(&open, &held);
        let score = gain + covered(&wanted, &held) / 4.0 + if led { LED_TO } else { 0.0 };
        if gain > 0.0 && best.as_ref().is_none_or(|(most, _)| score > *most) {
            best = Some((score, said));
        }
    }
    match best {
        Some((_, said)) => (said, false),
        None => conclusion(lexicon, input),
    }
}

/// What has to be found is a thought, too: a search follows from it. Once is enough.
fn nothing_found(lexicon: &Lexicon, input: &ThinkInput) -> (String, bool) {
    let first = chain(&input.question.text, lexicon).into_iter().next();
    match first.map(|step| step.question) {
        Some(question) if !input.thoughts.contains(&question) => (question, false),
        _ => ("Nothing was found to answer from.".to_owned(), true),
    }
}

fn conclusion(lexicon: &Lexicon, input: &ThinkInput) -> (String, bool) {
    let again = ReadInput::new(input.question.clone(), input.context.clone());
    let thought = match read(lexicon, &again).text.as_str() {
        "" => "The passages do not say it.".to_owned(),
        answer => format!("So the answer is: {answer}."),
    };
    (thought, true)
}

/// The sentence, with the title before it where nothing in it says whom it is about.
fn with_subject(line: &Line, text: &Text) -> String {
    let title = &text.titles[line.passage].plain;
    let said = &line.sentence.text;
    if title.is_empty() || mentions(said, title) {
        said.clone()
    } else {
        format!("{title}: {said}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thoughts(question: &str, passages: &[(&str, &str)]) -> Vec<String> {
        let passage = |(title, text): &(&str, &str)| Passage {
            title: (*title).into(),
            text: (*text).into(),
            ..Passage::default()
        };
        let mut input = ThinkInput {
            question: Question::new(question),
            context: passages.iter().map(passage).collect(),
            thoughts: vec![],
        };
        for _ in 0..9 {
            let (thought, concludes) = next(&Lexicon::new(), &input);
            input.thoughts.push(thought);
            if concludes {
                break;
            }
        }
        input.thoughts
    }

    #[test]
    fn sentence_by_sentence_the_question_is_settled() {
        let passages = [
            ("Low Tide", "Low Tide is large. The painter of Low Tide is Mara Quill."),
            ("Mara Quill", "She was born in the town of Varn."),
        ];
        assert_eq!(
            thoughts("In which town was the painter of Low Tide born?", &passages),
            [
                "The painter of Low Tide is Mara Quill.",
                "Mara Quill: She was born in the town of Varn.",
                "So the answer is: Varn."
            ]
        );
    }

    #[test]
    fn it_always_ends() {
        assert_eq!(thoughts("Who painted Low Tide?", &[]).len(), 2);
        assert_eq!(thoughts("", &[("", "")]), ["Nothing was found to answer from."]);
        let far = thoughts("How deep is Lake Oller in winter?", &[("Gravel", "Gravel is loose.")]);
        assert_eq!(far, ["The passages do not say it."]);
    }
}
