//! Task `compare`: the things a question compares, by what, and what to ask of each.
use halma_core::Question;
use serde::Deserialize;
use serde_json::json;

use super::decompose::sides::{Comparison, comparison};
use super::lexicon::Lexicon;
use super::links::named_things;

#[derive(Debug, Deserialize)]
pub(crate) struct Asked {
    question: Question,
}

/// The most things that are told apart.
const MOST: usize = 8;

pub(crate) fn reply(lexicon: &Lexicon, asked: &Asked) -> String {
    let question = asked.question.text.trim();
    let found = match comparison(question) {
        Some(found) => sides(&found, lexicon),
        None => named(question, lexicon),
    };
    let (things, attributes, questions) = found;
    json!({ "things": things, "attributes": attributes, "questions": questions }).to_string()
}

type Compared = (Vec<String>, Vec<String>, Vec<Vec<String>>);

fn sides(found: &Comparison, lexicon: &Lexicon) -> Compared {
    let mut attributes = vec![];
    let mut questions = vec![];
    for thing in &found.things {
        let owner = match &found.role {
            Some(role) => format!("the {role} of {thing}"),
            None => thing.clone(),
        };
        let (attribute, asked) = found.asks(&owner, lexicon);
        let first = found.role.iter().map(|_| format!("Who is {owner}?"));
        questions.push(first.chain([asked]).collect());
        attributes = found.role.iter().cloned().chain([attribute]).collect();
    }
    (found.things.to_vec(), attributes, questions)
}

/// Without a comparison that can be told from its form, the question is asked of each thing that
/// it names.
fn named(question: &str, lexicon: &Lexicon) -> Compared {
    let mut things = named_things(question, lexicon);
    things.truncate(MOST);
    if things.len() < 2 {
        return (things, vec![], vec![]);
    }
    let asked = |thing: &String| vec![format!("{thing}: {question}")];
    let questions = things.iter().map(asked).collect();
    (things, vec!["what is asked".to_owned()], questions)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn compared(question: &str) -> Value {
        let asked = Asked { question: Question::new(question) };
        serde_json::from_str(&reply(&Lexicon::new(), &asked)).unwrap()
    }

    #[test]
    fn things_and_what_is_asked_of_them() {
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
