//! Descriptions without a clause: `the director of X`, `X's director`, `the X director`.
use super::super::lexicon::Lexicon;
use super::super::relations::{Leads, leads};
use super::Description;
use super::nouns::{is_noun, phrase_start};
use super::scan::{PREPOSITIONS, verb};
use super::tokens::{Tag, Token, said};

/// What stands after `place of` or `date of` and is no thing itself.
const EVENTS: &[&str] =
    &["birth", "death", "burial", "citizenship", "origin", "residence", "formation"];

/// Works, which belong to those who made them, and are of what they tell.
const WORKS: &[&str] = &["album", "film", "movie", "book", "novel", "series", "opera", "song"];

/// Words of a description that name the thing's relation: `first president`, `place of birth`.
struct Relation {
    /// Index after its last word.
    end: usize,
    leads: Leads,
    /// Whether several are meant.
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
fn relation(tokens: &[Token], at: usize) -> Option<Relation> {
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
    if let Some(event) = event(noun).filter(|_| ["place", "city", "date"].contains(&next(1))) {
        let ask = if next(1) == "date" { Ask::When } else { Ask::Where };
        let event = Some((event, ask));
        return Some(Relation { end: at + 2, leads: Leads::Place, many: false, event });
    }
    let alma = noun == "alma" && next(1) == "mater";
    let known = if alma { Some(Leads::Thing) } else { leads(noun) };
    let event = match noun {
        "birthplace" => Some(("birth", Ask::Where)),
        "birthday" => Some(("birth", Ask::When)),
        "deathplace" => Some(("death", Ask::Where)),
        _ => None,
    };
    let many = noun.strip_suffix('s').is_some_and(|one| leads(one).is_some());
    known.map(|leads| Relation { end: at + 1 + usize::from(alma), leads, many, event })
}

fn described(tokens: &[Token], words: std::ops::Range<usize>, asked: String) -> Description {
    Description { text: said(&tokens[words.clone()]), words, question: asked }
}

/// `Who is the wife of #1?`, `Where was #1 born?`
fn asked(relation: &Relation, owner: &str, phrase: &str) -> String {
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
    let relation = relation(tokens, at)?;
    let of = relation.end;
    // `a book of English cooking` is no book that somebody wrote.
    let work = WORKS.contains(&tokens[at].lower.as_str());
    if tokens.get(of)?.lower != "of" || work || tokens[at..of].iter().any(Token::breaks) {
        return None;
    }
    let owner = object(tokens, of + 1, lexicon)?;
    let start = phrase_start(tokens, at, &lexicon.verbs)?;
    let phrase = said(&tokens[start..owner]);
    let bare = ["The ", "the ", "A ", "a "].iter().find_map(|article| phrase.strip_prefix(article));
    let phrase = format!("the {}", bare.unwrap_or(&phrase));
    let question = asked(&relation, &said(&tokens[of + 1..owner]), &phrase);
    Some(described(tokens, start..owner, question))
}

/// The end of an object that names something within a few words: `the 1974 film X`.
fn object(tokens: &[Token], from: usize, lexicon: &Lexicon) -> Option<usize> {
    for at in from..tokens.len().min(from + 6) {
        let token = &tokens[at];
        if token.names() {
            // `the mother of Quill's wife`: the wife comes first.
            return (!token.owns()).then(|| whole(tokens, at, lexicon));
        }
        let small = ["the", "a", "an", "both"].contains(&token.lower.as_str());
        let preposition = PREPOSITIONS.contains(&token.lower.as_str()) && token.lower != "behind";
        let told = is_noun(token) || small || token.tag == Tag::Number || token.lower == "behind";
        if preposition
            || !told
            || token.breaks()
            || token.owns()
            || verb(tokens, at, false, &lexicon.verbs).is_some()
        {
            return None;
        }
    }
    None
}

/// The end of a phrase that begins with the name at `at`: `the Danish painter Mara Quill`.
fn whole(tokens: &[Token], at: usize, lexicon: &Lexicon) -> usize {
    let mut end = at + 1;
    if lexicon.country(&tokens[at].text).is_none() {
        return end;
    }
    while end < tokens.len()
        && tokens[end - 1].after == " "
        && (is_noun(&tokens[end]) || tokens[end].names())
        && verb(tokens, end, true, &lexicon.verbs).is_none()
    {
        end += 1;
    }
    end
}

/// `X's first director`
pub(super) fn owned(tokens: &[Token], at: usize) -> Option<Description> {
    if !tokens[at].names() || !tokens[at].owns() {
        return None;
    }
    for head in at + 1..tokens.len().min(at + 4) {
        if let Some(relation) = relation(tokens, head) {
            // `X's father, the smith, …` is whole at the comma; `X's film prize` is no film.
            let last = &tokens[relation.end - 1];
            if self::relation(tokens, relation.end).is_some() && !last.breaks() && !last.owns() {
                continue;
            }
            let owner = &tokens[at].text;
            let rest = said(&tokens[at + 1..relation.end]);
            let question = asked(&relation, owner, &format!("{owner}'s {rest}"));
            let words = at..relation.end;
            return Some(described(tokens, words, question));
        }
        if !is_noun(&tokens[head]) && tokens[head].lower != "first" || tokens[head].breaks() {
            return None;
        }
    }
    None
}

/// `the X director`
pub(super) fn named_for(tokens: &[Token], at: usize, lexicon: &Lexicon) -> Option<Description> {
    let article = at.checked_sub(1).filter(|&i| tokens[i].lower == "the")?;
    let (name, relation) = (&tokens[at], relation(tokens, at + 1)?);
    let person = relation.leads == Leads::Person || relation.event.is_some();
    let apposed = tokens.get(relation.end).is_some_and(Token::names);
    let people = lexicon.country(&name.text).is_some() || name.text.ends_with("ish");
    if !name.names() || name.after != " " || !person || apposed || people {
        return None;
    }
    let noun = said(&tokens[at + 1..relation.end]);
    let question = asked(&relation, &name.text, &format!("the {noun} of {}", name.text));
    Some(described(tokens, article..relation.end, question))
}

/// `the same book as X`
pub(super) fn same_as(tokens: &[Token], at: usize) -> Option<Description> {
    let noun = tokens.get(at + 1).filter(|noun| is_noun(noun))?;
    let name = tokens.get(at + 3).filter(|name| name.names())?;
    let start = at.checked_sub(1).filter(|&i| tokens[i].lower == "the")?;
    if tokens[at].lower != "same" || tokens[at + 2].lower != "as" {
        return None;
    }
    let question = format!("Which {} is {} in?", noun.text, name.text);
    Some(described(tokens, start..at + 4, question))
}
