//! Task `sub_queries`: single questions that each name their subject.
use halma_core::Question;
use serde::Deserialize;
use serde_json::json;

use crate::decompose::chain;
use crate::decompose::sides::comparison;
use crate::lexicon::Lexicon;
use crate::links::{mentions, named_things};
use crate::references::references;
use crate::words::split;

#[derive(Debug, Deserialize)]
pub(crate) struct SubQueriesInput {
    question: Question,
    #[serde(default)]
    entities: Vec<Entity>,
    /// Earlier queries, which are not repeated.
    #[serde(default)]
    used: Vec<String>,
    #[serde(default = "default_number")]
    number: usize,
}

#[derive(Debug, Deserialize)]
struct Entity {
    text: String,
}

fn default_number() -> usize {
    8
}

pub(crate) fn reply(lexicon: &Lexicon, input: &SubQueriesInput) -> String {
    let question = input.question.text.trim();
    let mut found: Vec<String> = vec![];
    let mut add = |query: String| {
        let same = |other: &String| folded(other) == folded(&query);
        let new = !input.used.iter().any(same) && !found.iter().any(same);
        if new && !folded(&query).is_empty() && found.len() < input.number {
            found.push(query);
        }
    };
    let steps = chain(question, lexicon);
    for step in &steps {
        if references(&step.question).is_empty() {
            add(step.question.clone());
        }
    }
    let sides = comparison(question, lexicon).map(|found| found.things);
    let mut things: Vec<String> = input.entities.iter().map(|e| e.text.trim().to_owned()).collect();
    things.extend(sides.into_iter().flatten());
    things.extend(named_things(question, lexicon));
    things.retain(|thing| !thing.is_empty());
    let rest = other_words(question, &things, lexicon);
    for thing in &things {
        // A name within a longer one is redundant.
        let within = things.iter().any(|other| other.len() > thing.len() && mentions(other, thing));
        if !within {
            add(format!("{thing} {rest}").trim_end().to_owned());
        }
    }
    for thing in &things {
        add(format!("What is {thing}?"));
    }
    add(question.to_owned());
    json!({ "sub_queries": found }).to_string()
}

/// The words of the question that name none of the things.
fn other_words(question: &str, things: &[String], lexicon: &Lexicon) -> String {
    let named: Vec<String> = things.iter().flat_map(|thing| lexicon.content(thing)).collect();
    let words = split(question).into_iter().map(|range| &question[range]);
    let others = words.filter(|word| {
        let stems = lexicon.content(word);
        !stems.is_empty() && !stems.iter().any(|stem| named.contains(stem))
    });
    others.collect::<Vec<_>>().join(" ")
}

/// Queries that differ only in punctuation and capitals are equal.
fn folded(query: &str) -> Vec<String> {
    split(query).into_iter().map(|range| query[range].to_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queries(question: &str, entities: &[&str], used: &[&str], number: usize) -> Vec<String> {
        let input = SubQueriesInput {
            question: Question::new(question),
            entities: entities.iter().map(|text| Entity { text: (*text).into() }).collect(),
            used: used.iter().map(|text| (*text).into()).collect(),
            number,
        };
        let reply: serde_json::Value =
            serde_json::from_str(&reply(&Lexicon::new(), &input)).unwrap();
        serde_json::from_value(reply["sub_queries"].clone()).unwrap()
    }

    const QUESTION: &str = "Where was the director of the film Low Tide born?";

    #[test]
    fn each_query_names_its_subject() {
        assert_eq!(
            queries(QUESTION, &["Low Tide"], &[], 3),
            [
                "Who is the director of the film Low Tide?",
                "Low Tide director film born",
                "What is Low Tide?"
            ]
        );
        assert_eq!(
            queries("Who is older, Mara Quill or Orla Finch?", &[], &[], 2),
            ["When was Mara Quill born?", "When was Orla Finch born?"]
        );
    }

    #[test]
    fn what_was_used_is_not_asked_again() {
        let used = ["who is the director of the film Low Tide", "Low tide director film born"];
        assert_eq!(queries(QUESTION, &["Low Tide"], &used, 8), ["What is Low Tide?", QUESTION]);
        assert!(queries(QUESTION, &[], &[], 0).is_empty());
        assert!(queries("", &[""], &[], 8).is_empty());
    }
}
