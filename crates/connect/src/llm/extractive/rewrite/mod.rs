//! Task `rewrite`: a sub-question that stands alone, with earlier answers in the place of
//! references and of what points back.
mod described;

use halma_core::Question;
use serde::Deserialize;
use serde_json::json;

use self::described::described;
use super::input::Exchange;
use super::references::{references, replaced};

#[derive(Debug, Deserialize)]
pub(crate) struct Asked {
    /// Part of the contract; earlier answers say all that is needed.
    #[expect(dead_code, reason = "the variables of the task")]
    question: Question,
    sub_question: String,
    #[serde(default)]
    history: Vec<Exchange>,
}

const PRONOUNS: &[&str] = &["he", "she", "it", "they", "him", "them"];
const POSSESSIVES: &[&str] = &["his", "its", "their"];

/// Nouns that point back with `that` or `this` before them.
const POINTS_BACK: &[&str] = &[
    "person",
    "man",
    "woman",
    "film",
    "movie",
    "song",
    "album",
    "book",
    "novel",
    "city",
    "town",
    "country",
    "state",
    "place",
    "company",
    "band",
    "team",
    "group",
    "actor",
    "actress",
    "director",
    "author",
    "singer",
    "river",
    "school",
    "university",
    "party",
    "year",
    "event",
    "work",
    "one",
];

pub(crate) fn reply(asked: &Asked) -> String {
    let (dependency, question) = standing_alone(&asked.sub_question, &asked.history);
    json!({ "dependency": dependency, "question": question }).to_string()
}

/// What of the history the question rests on, and the question that needs none of it.
pub(crate) fn standing_alone(asked: &str, history: &[Exchange]) -> (Option<String>, String) {
    let found = references(asked);
    if !found.is_empty() {
        let mut on: Vec<String> = found.iter().map(|r| format!("#{}", r.number)).collect();
        on.dedup();
        return (Some(on.join(", ")), replaced(asked, |number| stands_for(number, history, 0)));
    }
    let last = history.iter().rev().find(|exchange| !exchange.answer.trim().is_empty());
    let pointed = last.and_then(|last| pointing(asked, last.answer.trim()));
    match (last, pointed) {
        (Some(last), Some(question)) => (Some(last.question.clone()), question),
        _ => (None, asked.split_whitespace().collect::<Vec<_>>().join(" ")),
    }
}

/// How deep a description may rest on others that were not found either.
const DEEPEST: usize = 3;

/// The answer, else the phrase that describes it, else a word that at least leaves a question.
fn stands_for(number: usize, history: &[Exchange], depth: usize) -> String {
    let exchange = number.checked_sub(1).and_then(|i| history.get(i));
    let Some(exchange) = exchange.filter(|_| depth < DEEPEST) else {
        return "it".to_owned();
    };
    let answer = exchange.answer.trim();
    if !answer.is_empty() {
        return answer.to_owned();
    }
    described(&replaced(&exchange.question, |earlier| stands_for(earlier, history, depth + 1)))
}

/// The question with the answer for its first word that points back; `None` where none does.
fn pointing(asked: &str, answer: &str) -> Option<String> {
    let words: Vec<&str> = asked.split_whitespace().collect();
    for (at, word) in words.iter().enumerate() {
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
            && noun.as_ref().is_some_and(|noun| POINTS_BACK.contains(&noun.as_str()));
        // `What is her name` and `What happened to her`.
        let hers = lower == "her" && !tail.contains(['?', '.', ',']) && next.is_some();
        let replaced = if named {
            let noun_tail = words[at + 1].get(noun.as_ref().map_or(0, String::len)..).unwrap_or("");
            Some((format!("{answer}{noun_tail}"), at + 2))
        } else if POSSESSIVES.contains(&lower.as_str()) || hers {
            Some((format!("{answer}'s"), at + 1))
        } else if PRONOUNS.contains(&lower.as_str()) || lower == "her" {
            let tail = if owned { "'s" } else { tail };
            Some((format!("{answer}{tail}"), at + 1))
        } else {
            None
        };
        if let Some((said, rest)) = replaced {
            let all = [&words[..at], &[said.as_str()], &words[rest..]].concat();
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

    fn rewritten(asked: &str, exchanges: &[(&str, &str)]) -> String {
        standing_alone(asked, &history(exchanges)).1
    }

    #[test]
    fn references_become_answers() {
        let found = [("Who is the director of Low Tide?", "Mara Quill"), ("Where?", "Varn")];
        assert_eq!(rewritten("When did #1 leave [2]?", &found), "When did Mara Quill leave Varn?");
        assert_eq!(rewritten("Where is <2>?", &found), "Where is Varn?");
        assert_eq!(standing_alone("Where is #2?", &history(&found)).0.unwrap(), "#2");
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
    fn what_points_back_becomes_the_last_answer() {
        let found = [("Who painted it?", "Mara Quill"), ("Is that all?", "")];
        assert_eq!(rewritten("Where was she born?", &found), "Where was Mara Quill born?");
        assert_eq!(rewritten("Who is her father?", &found), "Who is Mara Quill's father?");
        assert_eq!(rewritten("Who met her?", &found), "Who met Mara Quill?");
        assert_eq!(rewritten("When did that person die?", &found), "When did Mara Quill die?");
        assert_eq!(rewritten("Where is  Varn?", &found), "Where is Varn?");
        assert_eq!(rewritten("Where was she born?", &[]), "Where was she born?");
        assert_eq!(rewritten("", &found), "");
    }
}
