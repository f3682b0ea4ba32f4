//! Task `propose`: the next queries.
use std::collections::HashSet;

use halma_core::Question;
use serde::Deserialize;
use serde_json::json;

use crate::input::Passage;
use crate::lexicon::Lexicon;
use crate::links::{mentions, named_things, plain_title, things_near};
use crate::weights::{Weights, mass};
use crate::words::Sentence;

#[derive(Debug, Deserialize)]
pub(crate) struct ProposeInput {
    question: Question,
    context: Vec<Passage>,
}

const MAX_QUERIES: usize = 6;

/// JSON of `thinking` and `sub_questions`; no sub-questions when the context covers the question
/// and no name leads further.
pub(crate) fn reply(lexicon: &Lexicon, input: &ProposeInput) -> String {
    let question = input.question.text.trim();
    let (thinking, mut queries) = match input.context.last() {
        None => first(question, lexicon),
        Some(last) => next(question, &input.context, last, lexicon),
    };
    queries.truncate(MAX_QUERIES);
    json!({ "thinking": thinking, "sub_questions": queries }).to_string()
}

/// The question itself, and each thing it names when there are several.
fn first(question: &str, lexicon: &Lexicon) -> (String, Vec<String>) {
    let things = named_things(question, lexicon);
    let mut queries = vec![question.to_owned()];
    if things.len() > 1 {
        queries.extend(things);
    }
    ("Nothing is known yet: the question itself, and each thing it names.".into(), queries)
}

fn next(
    question: &str,
    context: &[Passage],
    last: &Passage,
    lexicon: &Lexicon,
) -> (String, Vec<String>) {
    let sentence = Sentence::new(question, lexicon);
    let texts = || context.iter().flat_map(|p| [p.title.as_str(), p.text.as_str()]);
    let covered: HashSet<String> = texts().flat_map(|text| lexicon.content(text)).collect();
    let open: Vec<String> = open_words(&sentence, &covered);
    let mut queries: Vec<String> = vec![];
    // Things of the question without a chosen passage come first: the second side of a comparison.
    for thing in named_things(question, lexicon) {
        let is_covered =
            context.iter().any(|p| mentions(&p.title, &thing) || mentions(&thing, &p.title));
        if !is_covered {
            queries.push(thing);
        }
    }
    let left = open.join(" ");
    for thing in leads(&sentence, context, lexicon) {
        let is_covered =
            context.iter().any(|p| plain_title(&p.title) == thing && p.title != last.title);
        if mentions(question, &thing) || is_covered {
            continue;
        }
        let query = if left.is_empty() { thing } else { format!("{thing} {left}") };
        if !queries.contains(&query) {
            queries.push(query);
        }
    }
    if !open.is_empty() {
        // The words still open may need none of the names in the chosen chunks.
        queries.truncate(MAX_QUERIES - 1);
        queries.push(question.to_owned());
    }
    if queries.is_empty() {
        return ("Every word of the question is covered and no name leads further.".into(), vec![]);
    }
    (format!("Not covered yet: {}.", if open.is_empty() { "nothing" } else { &left }), queries)
}

/// The names in the chunks, one of each in turn, the last chunk first; within a chunk those near
/// the question's words come first.
fn leads(question: &Sentence, context: &[Passage], lexicon: &Lexicon) -> Vec<String> {
    let words: HashSet<String> =
        mass(question, &Weights::default()).into_iter().map(|(stem, _)| stem).collect();
    let named: Vec<Vec<String>> = context
        .iter()
        .rev()
        .map(|chunk| {
            let mut things = things_near(&chunk.text, &words, lexicon);
            things.retain(|thing| thing != plain_title(&chunk.title));
            things
        })
        .collect();
    let longest = named.iter().map(Vec::len).max().unwrap_or_default();
    let mut leads: Vec<String> =
        context.last().map(|last| plain_title(&last.title).to_owned()).into_iter().collect();
    leads.extend(
        (0..longest).flat_map(|i| named.iter().filter_map(move |things| things.get(i).cloned())),
    );
    leads
}

/// The words of the question that are not in the context, as they are written.
fn open_words(question: &Sentence, covered: &HashSet<String>) -> Vec<String> {
    let words = mass(question, &Weights::default());
    let open = |stem: &String| words.iter().any(|(s, _)| s == stem) && !covered.contains(stem);
    let words = question.words.iter().enumerate().filter(|(_, word)| open(&word.stem));
    words.map(|(i, _)| question.word(i).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queries(question: &str, context: &[(&str, &str)]) -> Vec<String> {
        let passage = |(title, text): &(&str, &str)| Passage {
            title: (*title).into(),
            text: (*text).into(),
            ..Passage::default()
        };
        let input = ProposeInput {
            question: Question::new(question),
            context: context.iter().map(passage).collect(),
        };
        let reply: serde_json::Value =
            serde_json::from_str(&reply(&Lexicon::new(), &input)).unwrap();
        serde_json::from_value(reply["sub_questions"].clone()).unwrap()
    }

    const QUESTION: &str = "In which town was the painter of Low Tide born?";

    #[test]
    fn it_starts_with_the_question_and_the_sides_of_a_comparison() {
        assert_eq!(queries(QUESTION, &[]), [QUESTION]);
        let both = "Is Low Tide older than High Noon?";
        assert_eq!(queries(both, &[]), [both, "Low Tide", "High Noon"]);
    }

    #[test]
    fn it_follows_the_names_of_the_last_chunk() {
        let context = [("Low Tide", "Low Tide was painted by Mara Quill in 1974.")];
        assert_eq!(queries(QUESTION, &context), ["Mara Quill town born", QUESTION]);
    }

    #[test]
    fn it_asks_nothing_when_all_is_covered() {
        let context = [
            ("Low Tide", "Low Tide is by the painter Mara Quill."),
            ("Mara Quill", "Mara Quill was born in a town."),
        ];
        let proposals = queries("Was the painter Mara Quill of Low Tide born in a town?", &context);
        assert!(proposals.is_empty(), "{proposals:?}");
    }
}
