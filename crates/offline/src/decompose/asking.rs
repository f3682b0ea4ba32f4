//! The question that a description with a clause answers.
use std::ops::Range;

use super::super::lexicon::Lexicon;
use super::super::verbs::{Form, third};
use super::scan::verb;
use super::tokens::{Token, said};

/// A clause that tells which one a noun means.
pub(super) struct Clause<'a> {
    /// `where`, `who`, …; `-ed`, `-ing` or `with` where no such word is said, empty where the
    /// subject follows at once.
    pub(super) relative: &'a str,
    /// The preposition before the relative word.
    pub(super) lead: Option<&'a str>,
    pub(super) words: Range<usize>,
}

/// Nouns for which `who` stands.
const PERSONS: &[&str] = &["person", "individual", "man", "woman", "people", "someone"];

/// Nouns that something is in, if no preposition says otherwise.
pub(super) const PLACES: &[&str] = &[
    "country",
    "nation",
    "state",
    "city",
    "town",
    "village",
    "county",
    "province",
    "continent",
    "region",
    "area",
    "place",
    "location",
    "district",
    "island",
    "territory",
    "year",
];

/// Words that end a clause whose place they ask for.
const STRANDED: &[&str] = &["in", "from", "of", "at", "to", "by", "for", "on", "with", "into"];

pub(super) fn asked(
    tokens: &[Token],
    noun: &str,
    clause: &Clause<'_>,
    lexicon: &Lexicon,
) -> String {
    let inside = &tokens[clause.words.clone()];
    let which = if PERSONS.contains(&noun) { "Who".to_owned() } else { format!("Which {noun}") };
    let rest = said(inside.get(1..).unwrap_or_default());
    match clause.relative {
        "whose" => format!("{which}'s {}?", said(inside)).replace("Who's", "Whose"),
        "-ed" => format!("{which} was {}?", said(inside)),
        "with" => format!("{which} has {rest}?"),
        "-ing" => {
            let base = lexicon.verbs.base(&inside[0].lower);
            let does = base.map_or_else(|| format!("is {}", inside[0].text), third);
            format!("{which} {does} {rest}?")
        }
        word => turned(tokens, noun, clause, lexicon)
            .unwrap_or_else(|| format!("What is the {noun} {word} {}?", said(inside))),
    }
}

/// The clause as a question: `In which city was X born?` for `where X was born`.
fn turned(tokens: &[Token], noun: &str, clause: &Clause<'_>, lexicon: &Lexicon) -> Option<String> {
    let which = if PERSONS.contains(&noun) { "Who".to_owned() } else { format!("Which {noun}") };
    let first = |at: &usize| {
        let form = verb(tokens, *at, *at == clause.words.start, &lexicon.verbs);
        form.is_some_and(|form| form != Form::Going)
    };
    let at = clause.words.clone().find(first)?;
    let adverb = |token: &Token| token.lower == "also" || token.lower.ends_with("ly");
    let adverbial = ["where", "when"].contains(&clause.relative);
    if tokens[clause.words.start..at].iter().all(adverb) && !adverbial {
        return Some(format!("{which} {}?", said(&tokens[clause.words.clone()])));
    }
    let subject = said(&tokens[clause.words.start..at]);
    let rest = said(&tokens[at + 1..clause.words.end]);
    let word = &tokens[at];
    let moved = match (lexicon.verbs.form(&word.lower)?, lexicon.verbs.base(&word.lower)) {
        (Form::Auxiliary, _) => format!("{} {subject} {rest}", word.text),
        (Form::Third, Some(base)) => format!("does {subject} {base} {rest}"),
        (_, base) => format!("did {subject} {} {rest}", base?),
    };
    let stranded = STRANDED.contains(&tokens[clause.words.end - 1].lower.as_str());
    let placed = adverbial || PLACES.contains(&noun.rsplit(' ').next().unwrap_or(noun));
    let lead = clause.lead.or((placed && !stranded).then_some("in"));
    Some(match lead {
        Some(lead) => format!("{} which {noun} {}?", capital(lead), moved.trim_end()),
        None => format!("{which} {}?", moved.trim_end()),
    })
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default() + letters.as_str()
}
