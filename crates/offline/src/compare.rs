//! Task `compare`: the things that a question compares, their attributes, and a question for each.
use serde::Serialize;
use serde_json::json;

use crate::decompose::sides::{Comparison, comparison};
use crate::input::QuestionInput;
use crate::lexicon::Lexicon;
use crate::links::named_things;

/// The most things that are compared.
const MAX_THINGS: usize = 8;

pub(crate) fn reply(lexicon: &Lexicon, input: &QuestionInput) -> String {
    let question = input.question.text.trim();
    let cells = match comparison(question, lexicon) {
        Some(comparison) => pair(&comparison, lexicon),
        None => several(question, lexicon),
    };
    json!({ "thinking": "What is compared is named in the question.", "cells": cells }).to_string()
}

/// One fact to look up.
#[derive(Serialize)]
struct Cell {
    thing: String,
    attribute: String,
    question: String,
}

fn pair(comparison: &Comparison, lexicon: &Lexicon) -> Vec<Cell> {
    let mut cells = vec![];
    for thing in &comparison.things {
        let owner = match &comparison.role {
            Some(role) => format!("the {role} of {thing}"),
            None => thing.clone(),
        };
        let cell = |attribute: String, question: String| Cell {
            thing: thing.clone(),
            attribute,
            question,
        };
        cells.extend(
            comparison.role.iter().map(|role| cell(role.clone(), format!("Who is {owner}?"))),
        );
        let attribute = comparison.attribute(&owner, lexicon);
        cells.push(cell(attribute.name, attribute.question));
    }
    cells
}

/// Without a recognised comparison the question is asked of each thing that it names.
fn several(question: &str, lexicon: &Lexicon) -> Vec<Cell> {
    let mut things = named_things(question, lexicon);
    things.truncate(MAX_THINGS);
    if things.len() < 2 {
        return vec![];
    }
    let cell = |thing: String| Cell {
        question: format!("{thing}: {question}"),
        attribute: "what is asked".to_owned(),
        thing,
    };
    things.into_iter().map(cell).collect()
}

#[cfg(test)]
mod tests {
    use halma_core::Question;
    use serde_json::Value;

    use super::*;

    fn compared(question: &str) -> Value {
        let input = QuestionInput { question: Question::new(question) };
        serde_json::from_str(&reply(&Lexicon::new(), &input)).unwrap()
    }

    #[test]
    fn each_thing_gets_its_question() {
        let reply = compared("Which lake is deeper, Lake Varn or Lake Oller?");
        assert_eq!(
            reply["cells"],
            json!([
                { "thing": "Lake Varn", "attribute": "deep", "question": "How deep is Lake Varn?" },
                { "thing": "Lake Oller", "attribute": "deep", "question": "How deep is Lake Oller?" }
            ])
        );
    }

    #[test]
    fn a_role_is_asked_for_first() {
        let reply = compared("Which film has the older director, Low Tide or High Noon?");
        assert_eq!(reply["cells"][0]["attribute"], "director");
        assert_eq!(reply["cells"][1]["attribute"], "date of birth");
        assert_eq!(reply["cells"][2]["question"], "Who is the director of High Noon?");
    }

    #[test]
    fn nothing_to_compare_gives_nothing() {
        for question in ["", "Who painted it?", "?", "or"] {
            assert_eq!(compared(question)["cells"], json!([]), "{question}");
        }
    }
}
