//! Descriptions by a relation: `the director of X`, `X's director`.
use super::Description;
use super::grammar::{is_noun, phrase_start, verb_form};
use super::tokens::{Tag, Token, join};
use crate::lexicon::Lexicon;
use crate::lists::{Leads, is_listed, leads};
use crate::verbs::Form;

/// Events that `place of` or `date of` precedes; they are not things themselves.
const EVENTS: &[&str] =
    &["birth", "death", "burial", "citizenship", "origin", "residence", "formation"];

/// The words of a description that name a relation: `president`, `place of birth`.
struct Relation {
    /// Index after its last word.
    end: usize,
    leads: Leads,
    /// Whether the noun is a plural.
    many: bool,
    /// `birth` or `death`, with the word before: `place of birth`, `birthplace`.
    event: Option<(&'static str, Ask)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ask {
    Where,
    When,
}

/// The relation whose noun stands at `at`.
fn parse_relation(tokens: &[Token], at: usize) -> Option<Relation> {
    let noun = tokens.get(at).filter(|token| token.tag == Tag::Word)?.lower.as_str();
    let next = |i: usize| tokens.get(at + i).map_or("", |token| token.lower.as_str());
    let event = |word: &str| match word {
        "birth" | "born" => Some("birth"),
        "death" => Some("death"),
        _ => None,
    };
    let placed = ["place", "city", "town", "country", "state", "location"].contains(&noun);
    let dated = ["date", "year", "day"].contains(&noun);
    if next(1) == "of" && EVENTS.contains(&next(2)) && (placed || dated || noun == "cause") {
        let ask = if placed { Some(Ask::Where) } else { dated.then_some(Ask::When) };
        let event = event(next(2)).zip(ask);
        return Some(Relation { end: at + 3, leads: Leads::Thing, many: false, event });
    }
    let event = match noun {
        "birthplace" => Some(("birth", Ask::Where)),
        "birthday" => Some(("birth", Ask::When)),
        "deathplace" => Some(("death", Ask::Where)),
        _ => None,
    };
    let many = noun.strip_suffix('s').is_some_and(|one| leads(one).is_some());
    leads(noun).map(|leads| Relation { end: at + 1, leads, many, event })
}

fn described(tokens: &[Token], words: std::ops::Range<usize>, question: String) -> Description {
    Description { text: join(&tokens[words.clone()]), words, question }
}

/// `Who is the wife of #1?`, `Where was #1 born?`
fn question_for(relation: &Relation, owner: &str, phrase: &str) -> String {
    match relation.event {
        Some(("birth", Ask::Where)) => format!("Where was {owner} born?"),
        Some(("birth", Ask::When)) => format!("When was {owner} born?"),
        Some((_, Ask::Where)) => format!("Where did {owner} die?"),
        Some((_, Ask::When)) => format!("When did {owner} die?"),
        None if relation.leads == Leads::Person => {
            format!("Who {} {phrase}?", if relation.many { "are" } else { "is" })
        }
        None => format!("What is {phrase}?"),
    }
}

/// `the first director of the film X`
pub(super) fn role_of(tokens: &[Token], at: usize, lexicon: &Lexicon) -> Option<Description> {
    let relation = parse_relation(tokens, at)?;
    let of = relation.end;
    // `a book of English cooking` does not name its author.
    let work = is_listed("works", &tokens[at].lower);
    if tokens.get(of)?.lower != "of" || work || tokens[at..of].iter().any(Token::breaks) {
        return None;
    }
    let owner = object(tokens, of + 1, lexicon)?;
    let start = phrase_start(tokens, at, &lexicon.verbs)?;
    let phrase = join(&tokens[start..owner]);
    let bare = ["The ", "the ", "A ", "a "].iter().find_map(|article| phrase.strip_prefix(article));
    let phrase = format!("the {}", bare.unwrap_or(&phrase));
    let question = question_for(&relation, &join(&tokens[of + 1..owner]), &phrase);
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
        if let Some(relation) = parse_relation(tokens, head) {
            let owner = &tokens[at].text;
            let rest = join(&tokens[at + 1..relation.end]);
            let question = question_for(&relation, owner, &format!("{owner}'s {rest}"));
            let words = at..relation.end;
            return Some(described(tokens, words, question));
        }
        if !is_noun(&tokens[head]) && tokens[head].lower != "first" || tokens[head].breaks() {
            return None;
        }
    }
    None
}
