//! Task `compare`: the things that a question compares, their attributes, and a question for each.
use serde_json::json;

use crate::decompose::sides::{Comparison, comparison};
use crate::input::QuestionInput;
use crate::lexicon::Lexicon;
use crate::links::named_things;

/// The most things that are compared.
const MAX_THINGS: usize = 8;

pub(crate) fn reply(lexicon: &Lexicon, input: &QuestionInput) -> String {
    let question = input.question.text.trim();
    let found = match comparison(question, lexicon) {
        Some(found) => pair(&found, lexicon),
        None => several(question, lexicon),
    };
    json!({
        "things": found.things, "attributes": found.attributes, "questions": found.questions
    })
    .to_string()
}

/// The reply: `questions` has one row for each thing, with one question for each attribute.
struct Table {
    things: Vec<String>,
    attributes: Vec<String>,
    questions: Vec<Vec<String>>,
}

fn pair(found: &Comparison, lexicon: &Lexicon) -> Table {
    let mut attributes = vec![];
    let mut questions = vec![];
    for thing in &found.things {
        let owner = match &found.role {
            Some(role) => format!("the {role} of {thing}"),
            None => thing.clone(),
        };
        let attribute = found.attribute(&owner, lexicon);
        let first = found.role.iter().map(|_| format!("Who is {owner}?"));
        questions.push(first.chain([attribute.question]).collect());
        attributes = found.role.iter().cloned().chain([attribute.name]).collect();
    }
    Table { things: found.things.to_vec(), attributes, questions }
}

/// Without a recognised comparison the question is asked of each thing that it names.
fn several(question: &str, lexicon: &Lexicon) -> Table {
    let mut things = named_things(question, lexicon);
    things.truncate(MAX_THINGS);
    if things.len() < 2 {
        return Table { things, attributes: vec![], questions: vec![] };
    }
    let questions = things.iter().map(|thing| vec![format!("{thing}: {question}")]).collect();
    Table { things, attributes: vec!["what is asked".to_owned()], questions }
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
        assert_eq!(reply["things"], json!(["Lake Varn", "Lake Oller"]));
        assert_eq!(reply["attributes"], json!(["deep"]));
        assert_eq!(
            reply["questions"],
            json!([["How deep is Lake Varn?"], ["How deep is Lake Oller?"]])
        );
    }

    #[test]
    fn a_role_is_asked_for_first() {
        let reply = compared("Which film has the older director, Low Tide or High Noon?");
        assert_eq!(reply["attributes"], json!(["director", "date of birth"]));
        assert_eq!(reply["questions"][1][0], "Who is the director of High Noon?");
    }

    #[test]
    fn nothing_to_compare_gives_nothing() {
        for question in ["", "Who painted it?", "?", "or"] {
            assert_eq!(compared(question)["questions"], json!([]), "{question}");
        }
    }
}
