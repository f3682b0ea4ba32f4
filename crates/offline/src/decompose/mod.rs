//! Tasks `decompose` and `follow_up`: a question as a chain of simpler ones, split by its grammar.
//!
//! The innermost description of something unnamed (`the director of X`) is asked for first and is
//! replaced by `#1`, and so on until only the question's own target is left.
mod clauses;
pub(crate) mod follow_up;
mod grammar;
mod phrases;
pub(crate) mod sides;
pub(crate) mod tokens;

use std::ops::Range;

use crate::input::QuestionInput;
use halma_core::text::is_stop_word;
use serde_json::json;

use self::tokens::{Tag, Token, join, tokens};
use crate::lexicon::Lexicon;

/// A phrase that describes what it does not name.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Description {
    words: Range<usize>,
    text: String,
    question: String,
}

/// One question of a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) question: String,
    /// What the answer stands for, as the question describes it; empty for the last one.
    pub(crate) stands_for: String,
}

/// The longest chain, and the longest question in tokens that is decomposed at all.
const MAX_STEPS: usize = 12;
const MAX_TOKENS: usize = 400;

pub(crate) fn reply(lexicon: &Lexicon, input: &QuestionInput) -> String {
    let steps = chain(&input.question.text, lexicon);
    let questions: Vec<String> = steps.into_iter().map(|step| step.question).collect();
    json!({ "sub_questions": questions }).to_string()
}

/// The questions in the order in which they can be answered; the question alone where it cannot
/// be decomposed, none where it has no letter or digit.
pub(crate) fn chain(question: &str, lexicon: &Lexicon) -> Vec<Step> {
    let question = question.trim();
    if !question.chars().any(char::is_alphanumeric) {
        return vec![];
    }
    let whole = || Step { question: question.to_owned(), stands_for: String::new() };
    if question.len() > 20 * MAX_TOKENS {
        return vec![whole()];
    }
    let mut steps = sides::steps(question, lexicon);
    if !steps.is_empty() {
        return steps;
    }
    let mut left = tokens(question, lexicon);
    if left.len() > MAX_TOKENS {
        return vec![whole()];
    }
    while steps.len() + 1 < MAX_STEPS
        && let Some(inner) = innermost(&left, lexicon)
    {
        let after = left[inner.words.end - 1].after.clone();
        let text = format!("#{}", steps.len() + 1);
        let token = Token { lower: text.clone(), text, after, tag: Tag::Reference };
        left.splice(inner.words, [token]);
        steps.push(Step { question: inner.question, stands_for: inner.text });
    }
    if steps.is_empty() {
        return vec![whole()];
    }
    let last = format!("{}?", join(&left).trim_end_matches(['?', '.', ' ']));
    steps.push(Step { question: last, stands_for: String::new() });
    steps
}

/// The first of the shortest descriptions that leave something to ask.
fn innermost(tokens: &[Token], lexicon: &Lexicon) -> Option<Description> {
    let mut best: Option<Description> = None;
    for at in 0..tokens.len() {
        let descriptions = [
            phrases::role_of(tokens, at, lexicon),
            phrases::owned(tokens, at),
            clauses::relative(tokens, at, lexicon),
        ];
        for description in descriptions.into_iter().flatten() {
            let shorter =
                best.as_ref().is_none_or(|best| description.words.len() < best.words.len());
            if shorter
                && asks_more(tokens, &description)
                && still_asks(tokens, &description, lexicon)
            {
                best = Some(description);
            }
        }
    }
    best
}

/// Whether a `did` before the description keeps its verb: `When did #1?` asks nothing.
fn still_asks(tokens: &[Token], description: &Description, lexicon: &Lexicon) -> bool {
    !grammar::awaits_verb(tokens, description.words.start, &lexicon.verbs)
        || tokens[description.words.end..].iter().any(grammar::is_noun)
}

/// Whether the question asks for more than who or what the described thing is.
fn asks_more(tokens: &[Token], description: &Description) -> bool {
    let described = &description.words;
    let around = tokens[..described.start].iter().chain(&tokens[described.end..]);
    let empty = ["name", "names", "named", "called", "title", "known", "person", "list"];
    let mut around = around.filter(|token| !empty.contains(&token.lower.as_str()));
    around.any(|token| {
        let asking = ["how", "why", "when", "where"].contains(&token.lower.as_str());
        asking || token.tag != Tag::Word || !is_stop_word(&token.lower)
    })
}
