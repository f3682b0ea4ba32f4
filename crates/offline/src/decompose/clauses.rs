//! Descriptions with a clause: `the city where X was born`, `the person who made X`, `the state X
//! is in`, `the book named after X`.
use super::super::lexicon::Lexicon;
use super::super::verbs::Form;
use super::Description;
use super::asking::{Clause, PLACES, asked};
use super::nouns::{is_noun, phrase_start};
use super::scan::{Pending, clause_end, pending, verb};
use super::tail::asks;
use super::tokens::{Token, said};

/// Nouns beside those of places that a clause may follow without a relative word: `the band X was
/// a member of`.
const GROUPS: &[&str] = &[
    "company",
    "team",
    "party",
    "university",
    "school",
    "college",
    "organisation",
    "organization",
    "club",
    "band",
    "group",
    "river",
];

/// Whether a clause may follow a noun without a relative word: `the city X was born in`.
fn heads(noun: &str) -> bool {
    PLACES.contains(&noun) || GROUPS.contains(&noun)
}

/// `the NOUN where …`, with the relative word at `at`.
pub(super) fn relative(tokens: &[Token], at: usize, lexicon: &Lexicon) -> Option<Description> {
    let word = tokens[at].lower.as_str();
    if !["where", "which", "who", "that", "whose", "whom", "when"].contains(&word) {
        return None;
    }
    let mut head = at.checked_sub(1)?;
    let preposition = ["in", "at", "on", "under", "from", "for", "by", "to", "through"]
        .contains(&tokens[head].lower.as_str())
        && ["which", "whom"].contains(&word);
    if preposition {
        head = head.checked_sub(1)?;
    }
    let dated = ["year", "day", "month", "decade", "century"].contains(&&*tokens[head].lower);
    let cut = tokens[head].breaks() && !preposition;
    if !is_noun(&tokens[head]) || cut || tokens[head].owns() || (word == "when" && !dated) {
        return None;
    }
    if verb(tokens, head, true, &lexicon.verbs).is_some_and(|form| form != Form::Base) {
        return None;
    }
    let start = phrase_start(tokens, head, &lexicon.verbs)?;
    let from = at + 1;
    let end = clause_end(tokens, from, pending(tokens, start, &lexicon.verbs), &lexicon.verbs)?;
    let lead = preposition.then(|| tokens[at - 1].lower.as_str());
    described(tokens, start..end, head, &Clause { relative: word, lead, words: from..end }, lexicon)
}

/// `the NOUN X was born in`, with the noun at `head`.
pub(super) fn bare(tokens: &[Token], head: usize, lexicon: &Lexicon) -> Option<Description> {
    let noun = &tokens[head];
    if !heads(&noun.lower) || noun.after != " " {
        return None;
    }
    let from = head + 1;
    let subject = tokens.get(from)?;
    if !subject.names() && subject.lower != "the" {
        return None;
    }
    let start = phrase_start(tokens, head, &lexicon.verbs)?;
    let open = pending(tokens, start, &lexicon.verbs);
    let first = (from..tokens.len().min(from + 7))
        .find_map(|at| Some((at, verb(tokens, at, false, &lexicon.verbs)?)));
    let (at, form) = first?;
    let own = match form {
        Form::Auxiliary | Form::Past | Form::Third => true,
        Form::Done => open != Pending::Done,
        Form::Base | Form::Going => false,
    };
    if !own || at == from || tokens[from..at].iter().any(Token::breaks) {
        return None;
    }
    let end = clause_end(tokens, from, open, &lexicon.verbs)?;
    // `The city Saxby is large.` tells of a city by its name.
    let told = tokens[..start]
        .iter()
        .chain(&tokens[end..])
        .any(|token| lexicon.verbs.form(&token.lower).is_some_and(Form::stands_alone));
    let lead = None;
    let clause = Clause { relative: "", lead, words: from..end };
    described(tokens, start..end, head, &clause, lexicon).filter(|_| told)
}

/// `the NOUN named after X`, `the NOUN containing X`, `the NOUN with X`, with the noun at `head`.
pub(super) fn reduced(tokens: &[Token], head: usize, lexicon: &Lexicon) -> Option<Description> {
    let from = head + 1;
    if !is_noun(&tokens[head]) || tokens[head].after != " " || from >= tokens.len() {
        return None;
    }
    let start = phrase_start(tokens, head, &lexicon.verbs)?;
    let article = ["the", "a", "an"].contains(&tokens[start].lower.as_str());
    if !article || verb(tokens, head, true, &lexicon.verbs) == Some(Form::Done) {
        return None;
    }
    let open = pending(tokens, start, &lexicon.verbs);
    let place = heads(&tokens[head].lower);
    let (word, end) = match verb(tokens, from, false, &lexicon.verbs) {
        Some(Form::Going) if tokens[from].lower != "including" => {
            ("-ing", clause_end(tokens, from, open, &lexicon.verbs)?)
        }
        Some(Form::Done) if open != Pending::Done => {
            ("-ed", clause_end(tokens, from, open, &lexicon.verbs)?)
        }
        None if place && tokens[from].lower == "with" => {
            let ends =
                |at: &usize| verb(tokens, *at, open == Pending::Base, &lexicon.verbs).is_some();
            let verb = (from + 1..tokens.len()).find(ends).unwrap_or(tokens.len());
            let stop = (from..verb).find(|&at| tokens[at].breaks()).map_or(verb, |at| at + 1);
            ("with", stop)
        }
        _ => return None,
    };
    if !tokens[from..end].iter().any(Token::names) && word != "with" {
        return None;
    }
    let clause = Clause { relative: word, lead: None, words: from..end };
    described(tokens, start..end, head, &clause, lexicon)
}

fn described(
    tokens: &[Token],
    words: std::ops::Range<usize>,
    head: usize,
    clause: &Clause<'_>,
    lexicon: &Lexicon,
) -> Option<Description> {
    // A clause of one or two small words describes nothing that could be looked up.
    let inside = &tokens[clause.words.clone()];
    let told = inside.iter().filter(|token| is_noun(token)).count();
    if told < 2 && !inside.iter().any(Token::names) || asks(inside, &lexicon.verbs) {
        return None;
    }
    let article = ["the", "a", "an"].contains(&tokens[words.start].lower.as_str());
    let noun = said(&tokens[words.start + usize::from(article)..=head]);
    let question = asked(tokens, &noun, clause, lexicon);
    Some(Description { text: said(&tokens[words.clone()]), words, question })
}
