//! Task `rewrite`: a self-contained sub-question, with earlier answers in place of references and
//! anaphora.

use halma_core::Question;
use halma_core::text::normalise_name;
use serde::Deserialize;
use serde_json::json;

use crate::decompose::chain;
use crate::input::Exchange;
use crate::lexicon::Lexicon;
use crate::links::{mentions, named_things};
use crate::lists::is_listed;
use crate::references::{references, replace_references};

#[derive(Debug, Deserialize)]
pub(crate) struct RewriteInput {
    /// What the sub-question is a step of; none where it is a turn of a conversation.
    #[serde(default)]
    question: Option<Question>,
    sub_question: String,
    #[serde(default)]
    history: Vec<Exchange>,
}

pub(crate) fn reply(lexicon: &Lexicon, input: &RewriteInput) -> String {
    let history: Vec<Exchange> = input.history.iter().map(|e| shorten(e, lexicon)).collect();
    let (mut dependency, mut question) = standing_alone(&input.sub_question, &history);
    if let Some(next) = unused_step(&question, input, lexicon) {
        dependency = Some(format!("what answers “{next}”"));
        question = next;
    }
    json!({ "dependency": dependency, "question": question }).to_string()
}

/// The exchange with the name that its answer gives, where the answer is a sentence: people and
/// programs send back what they were shown.
fn shorten(exchange: &Exchange, lexicon: &Lexicon) -> Exchange {
    let Exchange { question, answer } = exchange;
    let mut given = named_things(answer, lexicon).into_iter();
    let name = given.find(|name| !mentions(question, name));
    let is_sentence = answer.trim().ends_with('.') && answer.split_whitespace().count() > 4;
    let answer = name.filter(|_| is_sentence).unwrap_or_else(|| answer.clone());
    Exchange { question: question.clone(), answer }
}

/// For a question that would only repeat an earlier one: the next look-up of its chain.
fn unused_step(question: &str, input: &RewriteInput, lexicon: &Lexicon) -> Option<String> {
    let whole = input.question.as_ref()?;
    let same = |a: &str, b: &str| normalise_name(a) == normalise_name(b);
    let before = |text: &str| input.history.iter().any(|e| same(&e.question, text));
    if !same(question, &whole.text) && !before(question) {
        return None;
    }
    let steps = chain(&whole.text, lexicon).into_iter().map(|step| step.question);
    steps
        .filter(|step| references(step).is_empty())
        .find(|step| !before(step) && !same(step, question))
}

/// The earlier question that this one depends on, and this one without that dependency.
pub(crate) fn standing_alone(question: &str, history: &[Exchange]) -> (Option<String>, String) {
    let references = references(question);
    if !references.is_empty() {
        let mut on: Vec<String> = references.iter().map(|r| format!("#{}", r.number)).collect();
        on.dedup();
        return (
            Some(on.join(", ")),
            replace_references(question, |number| stands_for(number, history, 0)),
        );
    }
    let last = history.iter().rev().find(|exchange| !exchange.answer.trim().is_empty());
    let pointed = last.and_then(|last| resolve_anaphora(question, last.answer.trim()));
    match (last, pointed) {
        (Some(last), Some(resolved)) => (Some(last.question.clone()), resolved),
        _ => (None, question.split_whitespace().collect::<Vec<_>>().join(" ")),
    }
}

/// How deep a description may rest on others that were not found either.
const MAX_DEPTH: usize = 3;

/// The answer, else the phrase that describes it, else `it`.
fn stands_for(number: usize, history: &[Exchange], depth: usize) -> String {
    let exchange = number.checked_sub(1).and_then(|i| history.get(i));
    let Some(exchange) = exchange.filter(|_| depth < MAX_DEPTH) else {
        return "it".to_owned();
    };
    let answer = exchange.answer.trim();
    if !answer.is_empty() {
        return answer.to_owned();
    }
    described(&replace_references(&exchange.question, |earlier| {
        stands_for(earlier, history, depth + 1)
    }))
}

/// What a question asks for, as a phrase: `the wife of X` for `Who is the wife of X?`
pub(super) fn described(question: &str) -> String {
    let text = question.trim().trim_end_matches(['?', '.', ' ']);
    let (asking, rest) = text.split_once(' ').unwrap_or((text, ""));
    let noun = rest.split_once(' ');
    match (asking, noun) {
        ("Who" | "What", Some(("is" | "was" | "are" | "were", phrase))) => phrase.to_owned(),
        ("Who", _) => format!("the person who {rest}"),
        ("Which" | "What", Some((noun, rest))) => format!("the {noun} that {rest}"),
        ("Where", _) => format!("the place where {}", turned(rest)),
        ("When", _) => format!("the time when {}", turned(rest)),
        // `In which city was X born?`
        (preposition, Some(("which", rest))) => match rest.split_once(' ') {
            Some((noun, rest)) => {
                format!("the {noun} {} which {}", preposition.to_lowercase(), turned(rest))
            }
            None => "it".to_owned(),
        },
        _ => "it".to_owned(),
    }
}

/// `X was born` for `was X born`: the verb goes behind the subject, which is taken to end before
/// the last word.
fn turned(clause: &str) -> String {
    let words: Vec<&str> = clause.split(' ').collect();
    match words.as_slice() {
        [verb, subject @ .., last] if ["is", "was", "are", "were"].contains(verb) => {
            if subject.is_empty() {
                return format!("{last} {verb}");
            }
            format!("{} {verb} {last}", subject.join(" "))
        }
        [verb, rest @ ..] if ["did", "does", "do"].contains(verb) => rest.join(" "),
        _ => clause.to_owned(),
    }
}

const PRONOUNS: &[&str] = &["he", "she", "it", "they", "him", "them"];
const POSSESSIVES: &[&str] = &["his", "its", "their"];

/// The question with the answer in place of its first anaphoric word, if it has one.
pub(super) fn resolve_anaphora(question: &str, answer: &str) -> Option<String> {
    let words: Vec<&str> = question.split_whitespace().collect();
    for (at, word) in words.iter().enumerate() {
        // After a name the word refers to that name.
        if at > 1 && words[at - 1].starts_with(char::is_uppercase) {
            return None;
        }
        let bare = word.trim_end_matches(|c: char| !c.is_alphanumeric());
        let (bare, owned) = match bare.strip_suffix("'s").or_else(|| bare.strip_suffix("’s")) {
            Some(bare) => (bare, true),
            None => (bare, false),
        };
        let tail = &word[bare.len()..];
        let lower = bare.to_lowercase();
        let next =
            words.get(at + 1).map(|next| next.trim_end_matches(|c: char| !c.is_alphanumeric()));
        let noun =
            next.map(|next| next.trim_end_matches("'s").trim_end_matches("’s").to_lowercase());
        let named = ["that", "this"].contains(&lower.as_str())
            && noun.as_ref().is_some_and(|noun| is_listed("anaphoric", noun));
        // `What is her name` and `What happened to her`.
        let possessive_her = lower == "her" && !tail.contains(['?', '.', ',']) && next.is_some();
        let replaced = if named {
            let noun_tail = words[at + 1].get(noun.as_ref().map_or(0, String::len)..).unwrap_or("");
            Some((format!("{answer}{noun_tail}"), at + 2))
        } else if POSSESSIVES.contains(&lower.as_str()) || possessive_her {
            Some((format!("{answer}'s"), at + 1))
        } else if PRONOUNS.contains(&lower.as_str()) || lower == "her" {
            let tail = if owned { "'s" } else { tail };
            Some((format!("{answer}{tail}"), at + 1))
        } else {
            None
        };
        if let Some((replacement, rest)) = replaced {
            let all = [&words[..at], &[replacement.as_str()], &words[rest..]].concat();
            return Some(all.join(" "));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(exchanges: &[(&str, &str)]) -> Vec<Exchange> {
        let exchange = |(question, answer): &(&str, &str)| Exchange {
            question: (*question).into(),
            answer: (*answer).into(),
        };
        exchanges.iter().map(exchange).collect()
    }

    fn rewritten(question: &str, exchanges: &[(&str, &str)]) -> String {
        standing_alone(question, &history(exchanges)).1
    }

    #[test]
    fn of_an_answer_in_sentences_its_name_is_taken() {
        let history = history(&[("Who makes Low Tide?", "Low Tide is made by Mara Quill.")]);
        let sub_question = "When was she born?".to_owned();
        let input = RewriteInput { question: None, sub_question, history };
        let reply = reply(&Lexicon::new(), &input);
        assert!(reply.contains("When was Mara Quill born?"), "{reply}");
    }

    #[test]
    fn references_become_answers() {
        let answers = [("Who is the director of Low Tide?", "Mara Quill"), ("Where?", "Varn")];
        assert_eq!(
            rewritten("When did #1 leave [2]?", &answers),
            "When did Mara Quill leave Varn?"
        );
        assert_eq!(rewritten("Where is <2>?", &answers), "Where is Varn?");
        assert_eq!(standing_alone("Where is #2?", &history(&answers)).0.unwrap(), "#2");
    }

    #[test]
    fn what_was_not_found_is_described() {
        for (question, expected) in [
            ("Who is the director of Low Tide?", "When was the director of Low Tide born?"),
            ("Who built the mill?", "When was the person who built the mill born?"),
            ("Which band recorded it?", "When was the band that recorded it born?"),
            ("In which city was Quill born?", "When was the city in which Quill was born born?"),
            ("Where did Quill die?", "When was the place where Quill die born?"),
            ("Is it so?", "When was it born?"),
        ] {
            assert_eq!(rewritten("When was #1 born?", &[(question, "")]), expected);
        }
        assert_eq!(rewritten("When was #7 born?", &[]), "When was it born?");
        let circle = [("Who is the wife of #2?", ""), ("Who is the son of #1?", " ")];
        assert_eq!(rewritten("Is it #2?", &circle), "Is it the son of the wife of the son of it?");
    }

    #[test]
    fn a_question_that_was_asked_gives_way_to_its_parts() {
        let whole = "Where was the director of Low Tide born?";
        let again = |exchanges: &[(&str, &str)]| {
            let question = Question::new(whole);
            let question = Some(question);
            let input =
                RewriteInput { question, sub_question: whole.into(), history: history(exchanges) };
            let reply: serde_json::Value =
                serde_json::from_str(&reply(&Lexicon::new(), &input)).unwrap();
            reply["question"].as_str().unwrap().to_owned()
        };
        let part = "Who is the director of Low Tide?";
        assert_eq!(again(&[(whole, "Varn")]), part);
        assert_eq!(again(&[(whole, "Varn"), (part, "")]), whole);
    }

    #[test]
    fn what_points_back_becomes_the_last_answer() {
        let answers = [("Who painted it?", "Mara Quill"), ("Is that all?", "")];
        assert_eq!(rewritten("Where was she born?", &answers), "Where was Mara Quill born?");
        assert_eq!(rewritten("Who is her father?", &answers), "Who is Mara Quill's father?");
        assert_eq!(rewritten("Who met her?", &answers), "Who met Mara Quill?");
        assert_eq!(rewritten("When did that person die?", &answers), "When did Mara Quill die?");
        assert_eq!(rewritten("Where is  Varn?", &answers), "Where is Varn?");
        assert_eq!(rewritten("Where was she born?", &[]), "Where was she born?");
        let named = "When did Orla Finch paint it?";
        assert_eq!(rewritten(named, &answers), named);
        assert_eq!(rewritten("", &answers), "");
    }
}
