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
use crate::read::{ReadInput, Reader};
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

/// The share of the question that the thoughts must cover before the conclusion.
const MIN_COVERED: f32 = 0.8;

/// The bonus of a sentence in a passage whose title a thought names.
const LINK: f32 = 0.3;

pub(crate) fn reply(reader: &Reader<'_>, input: &ThinkInput) -> String {
    let (thought, concludes) = next(reader, input);
    json!({ "thought": thought, "concludes": concludes }).to_string()
}

fn next(reader: &Reader<'_>, input: &ThinkInput) -> (String, bool) {
    let lexicon = reader.lexicon;
    let text = Text::new(&input.context, lexicon);
    let question = Sentence::new(&input.question.text, lexicon);
    let question_mass = mass(&question, &Weights::default());
    let thought: Vec<HashSet<String>> = input
        .thoughts
        .iter()
        .map(|thought| lexicon.content(thought).into_iter().collect())
        .collect();
    let known: HashSet<String> = thought.iter().flatten().cloned().collect();
    if text.lines.is_empty() {
        return nothing_found(lexicon, input);
    }
    if covered(&question_mass, &known) >= MIN_COVERED {
        return conclusion(reader, input);
    }
    let mut best: Option<(f32, String)> = None;
    for line in &text.lines {
        let sentence = with_subject(line, &text);
        let held: HashSet<String> = lexicon.content(&sentence).into_iter().collect();
        if thought.iter().any(|thought| are_similar(thought, &held)) {
            continue;
        }
        let title = &text.titles[line.passage].plain;
        let led = input.thoughts.iter().any(|thought| mentions(thought, title));
        let open: Vec<_> =
            question_mass.iter().filter(|(stem, _)| !known.contains(stem)).cloned().collect();
        let gain = covered(&open, &held);
        let score = gain + covered(&question_mass, &held) / 4.0 + if led { LINK } else { 0.0 };
        if gain > 0.0 && best.as_ref().is_none_or(|(most, _)| score > *most) {
            best = Some((score, sentence));
        }
    }
    match best {
        Some((_, sentence)) => (sentence, false),
        None => conclusion(reader, input),
    }
}

/// The first look-up is a thought too, because a search follows from it; once is enough.
fn nothing_found(lexicon: &Lexicon, input: &ThinkInput) -> (String, bool) {
    let first = chain(&input.question.text, lexicon).into_iter().next();
    match first.map(|step| step.question) {
        Some(question) if !input.thoughts.contains(&question) => (question, false),
        _ => ("Nothing was found to answer from.".to_owned(), true),
    }
}

fn conclusion(reader: &Reader<'_>, input: &ThinkInput) -> (String, bool) {
    let again = ReadInput::new(input.question.clone(), input.context.clone());
    let thought = match reader.read(&again).text.as_str() {
        "" => "The passages do not say it.".to_owned(),
        answer => format!("So the answer is: {answer}."),
    };
    (thought, true)
}

/// The sentence, with the title before it unless it names the title.
fn with_subject(line: &Line, text: &Text) -> String {
    let title = &text.titles[line.passage].plain;
    let sentence = &line.sentence.text;
    if title.is_empty() || mentions(sentence, title) {
        sentence.clone()
    } else {
        format!("{title}: {sentence}")
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
            let (thought, concludes) = next(&Reader::by_rules(&Lexicon::new()), &input);
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
