//! Descriptions by a relation: `the director of X`, `X's director`.
use super::Description;
use super::grammar::{is_noun, phrase_start, verb_form};
use super::tokens::{Tag, Token, join};
use crate::lexicon::Lexicon;
use crate::lists::{Leads, is_listed, leads};
use crate::verbs::Form;

fn described(tokens: &[Token], words: std::ops::Range<usize>, question: String) -> Description {
    Description { text: join(&tokens[words.clone()]), words, question }
}

/// `Who is the wife of #1?`; `None` where the noun does not name a relation.
fn question_for(noun: &Token, phrase: &str) -> Option<String> {
    let target = leads(&noun.lower).filter(|_| noun.tag == Tag::Word)?;
    let is_plural = noun.lower.strip_suffix('s').is_some_and(|one| leads(one).is_some());
    Some(match target {
        Leads::Person if is_plural => format!("Who are {phrase}?"),
        Leads::Person => format!("Who is {phrase}?"),
        _ => format!("What is {phrase}?"),
    })
}

/// `the first director of the film X`
pub(super) fn role_of(tokens: &[Token], at: usize, lexicon: &Lexicon) -> Option<Description> {
    let noun = &tokens[at];
    // `a book of English cooking` does not name its author.
    if tokens.get(at + 1)?.lower != "of" || is_listed("works", &noun.lower) || noun.breaks() {
        return None;
    }
    let owner = object(tokens, at + 2, lexicon)?;
    let start = phrase_start(tokens, at, &lexicon.verbs)?;
    let phrase = join(&tokens[start..owner]);
    let bare = ["The ", "the ", "A ", "a "].iter().find_map(|article| phrase.strip_prefix(article));
    let phrase = format!("the {}", bare.unwrap_or(&phrase));
    let question = question_for(noun, &phrase)?;
    Some(described(tokens, start..owner, question))
}

/// The end of an object that contains a name within a few words: `the 1974 film X`.
fn object(tokens: &[Token], from: usize, lexicon: &Lexicon) -> Option<usize> {
    for at in from..tokens.len().min(from + 6) {
        let token = &tokens[at];
        if token.names() {
            // `the mother of Quill's wife`: the wife comes first.
            return (!token.is_possessive()).then_some(at + 1);
        }
        let small = ["the", "a", "an", "both"].contains(&token.lower.as_str());
        let describes = is_noun(token) || small || token.tag == Tag::Number;
        if is_listed("prepositions", &token.lower)
            || !describes
            || token.breaks()
            || token.is_possessive()
            || verb_form(tokens, at, &lexicon.verbs).is_some_and(|form| form != Form::Base)
        {
            return None;
        }
    }
    None
}

/// `X's first director`
pub(super) fn owned(tokens: &[Token], at: usize) -> Option<Description> {
    if !tokens[at].names() || !tokens[at].is_possessive() {
        return None;
    }
    for head in at + 1..tokens.len().min(at + 4) {
        let phrase = format!("{}'s {}", tokens[at].text, join(&tokens[at + 1..=head]));
        if let Some(question) = question_for(&tokens[head], &phrase) {
            return Some(described(tokens, at..head + 1, question));
        }
        if !is_noun(&tokens[head]) && tokens[head].lower != "first" || tokens[head].breaks() {
            return None;
        }
    }
    None
}
