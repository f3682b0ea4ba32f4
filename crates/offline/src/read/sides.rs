//! The two sides of a comparison, where they are told of, and what is told of them.
use std::collections::HashSet;

use super::super::lexicon::Lexicon;
use super::super::links::{mentions, plain_title};
use super::super::names::names;
use super::super::spans::{Kind, Span, spans};
use super::super::words::{Sentence, Shape};
use super::score::Query;
use super::text::{Line, Text};

/// Stems of what somebody did for a work; a question that uses one of a side that is a work asks
/// about the person, not about the work.
const ROLES: &[&str] =
    &["direct", "perform", "compose", "write", "produce", "father", "mother", "spouse", "found"];

/// One side of a comparison.
pub(crate) struct Side {
    /// As the question names it, without brackets.
    pub(crate) name: String,
    /// Indices of the passages that tell of it, the most telling first.
    pub(crate) passages: Vec<usize>,
}

/// The sides of `… A or B?`; `None` where the question has no such form.
pub(crate) fn either_or(query: &Query<'_>, text: &Text, lexicon: &Lexicon) -> Option<[Side; 2]> {
    let question = query.text.trim().trim_end_matches(['?', ' ', '.']);
    let (left, right) = match question.rsplit_once(" or ") {
        Some(parts) => parts,
        None => question
            .split_once(" out of ")
            .or_else(|| question.split_once("etween "))?
            .1
            .split_once(" and ")?,
    };
    let opens = right.trim_start_matches("the ").chars().next()?;
    if opens.is_lowercase() && !right.starts_with("the ") {
        return None;
    }
    let told = |holds: &dyn Fn(&str) -> bool| {
        let plain = text.titles.iter().map(|title| title.plain.as_str());
        plain.filter(|title| holds(&title.to_lowercase())).max_by_key(|title| title.len())
    };
    let (before, after) = (left.to_lowercase(), right.to_lowercase());
    let first = told(&|title| before.ends_with(title)).map(str::to_owned);
    let second = told(&|title| after.starts_with(title)).map(str::to_owned);
    let names = [
        first.or_else(|| last_name(left, lexicon))?,
        second.or_else(|| first_name(right, lexicon))?,
    ];
    Some(names.map(|name| side(name, query, text, lexicon)))
}

/// The sides of `Are both A and B …?`: the things of the question that passages are titled by,
/// else what stands around its `and`.
pub(crate) fn both(query: &Query<'_>, text: &Text, lexicon: &Lexicon) -> Vec<Side> {
    let mut titled: Vec<(usize, &str)> = vec![];
    for title in text.titles.iter().filter(|title| mentions(query.text, &title.plain)) {
        let lower = query.text.to_lowercase();
        let at = lower.find(&title.plain.to_lowercase()).unwrap_or(lower.len());
        if !titled.iter().any(|(_, plain)| *plain == title.plain) {
            titled.push((at, &title.plain));
        }
    }
    titled.sort_unstable();
    let mut names: Vec<String> = titled.into_iter().map(|(_, name)| name.to_owned()).collect();
    if names.len() < 2 {
        let question = query.text.trim_end_matches(['?', ' ', '.']);
        let parts = question.split_once(" and ");
        let around =
            parts.and_then(|(a, b)| Some([last_name(a, lexicon)?, first_name(b, lexicon)?]));
        names = around.map_or(names, Vec::from);
    }
    names.into_iter().take(2).map(|name| side(name, query, text, lexicon)).collect()
}

/// What stands after the last comma or colon, else the name that ends the text.
fn last_name(left: &str, lexicon: &Lexicon) -> Option<String> {
    let cut = |cut: &str| left.rfind(cut).map(|at| at + cut.len());
    if let Some(at) = [", ", " between ", ": "].iter().find_map(|mark| cut(mark)) {
        return Some(plain_title(left[at..].trim_end_matches(',')).to_owned());
    }
    let sentence = Sentence::new(left, lexicon);
    let end = sentence.words.len();
    let found = names(&sentence, lexicon);
    let last =
        found.iter().filter(|span| span.words.end == end).min_by_key(|span| span.words.start);
    let words = last.map_or(end.checked_sub(1)?..end, |span| span.words.clone());
    Some(sentence.slice(&words).to_owned())
}

/// The name that opens the text, else all of it up to a comma.
fn first_name(right: &str, lexicon: &Lexicon) -> Option<String> {
    let right = right.trim_start_matches("the ");
    let sentence = Sentence::new(right, lexicon);
    // A side that ends the question is taken whole: titles hold small words.
    let small = |at: usize| sentence.words[at].shape == Shape::Lower;
    let last = sentence.words.len().checked_sub(1)?;
    if !small(last) {
        return Some(plain_title(right).to_owned());
    }
    let found = names(&sentence, lexicon);
    let first = found.iter().filter(|span| span.words.start == 0).max_by_key(|span| span.words.end);
    Some(match first {
        Some(span) => sentence.slice(&span.words).to_owned(),
        None => right.split(',').next().unwrap_or(right).to_owned(),
    })
}

fn side(name: String, query: &Query<'_>, text: &Text, lexicon: &Lexicon) -> Side {
    let Some(own) = titled(&name, text, lexicon) else { return Side { name, passages: vec![] } };
    // Chunks of one document share their title; the first of them need not tell what is asked.
    let title = &text.titles[own].plain;
    let alike = |&i: &usize| i != own && text.titles[i].plain == *title;
    let mut passages: Vec<usize> =
        std::iter::once(own).chain((0..text.titles.len()).filter(alike)).collect();
    let role = query.mass.iter().find(|(stem, _)| ROLES.contains(&stem.as_str()));
    let person = role.and_then(|(role, _)| linked(own, role, text, lexicon));
    passages.splice(0..0, person);
    Side { name, passages }
}

/// The passage whose title shares most with the name, else one whose text names it.
fn titled(name: &str, text: &Text, lexicon: &Lexicon) -> Option<usize> {
    let wanted: HashSet<String> = lexicon.content(name).into_iter().collect();
    let mut best: Option<(usize, f32)> = None;
    for (i, title) in text.titles.iter().enumerate() {
        let held: HashSet<String> = lexicon.content(&title.plain).into_iter().collect();
        let all = wanted.union(&held).count().max(1);
        #[expect(clippy::cast_precision_loss, reason = "a title has few words")]
        let share = wanted.intersection(&held).count() as f32 / all as f32;
        if share >= 0.5 && best.is_none_or(|(_, most)| share > most) {
            best = Some((i, share));
        }
    }
    let named = || text.lines.iter().find(|line| mentions(&line.sentence.text, name));
    best.map(|(i, _)| i).or_else(|| named().map(|line| line.passage))
}

/// The passage about the person whom passage `own` names, nearest to a word of the role.
fn linked(own: usize, role: &str, text: &Text, lexicon: &Lexicon) -> Option<usize> {
    let mut best: Option<(usize, usize)> = None;
    for line in text.of(own) {
        for span in names(&line.sentence, lexicon) {
            let said = line.sentence.slice(&span.words);
            let about = text.titles.iter().position(|title| same_person(said, &title.plain));
            let Some(about) = about.filter(|i| *i != own) else { continue };
            let words = line.sentence.words.iter().enumerate();
            let cue = words.filter(|(_, word)| word.stem == *role);
            let distance = cue.map(|(i, _)| i.abs_diff(span.words.start)).min();
            let distance = distance.unwrap_or(100 + line.place);
            if best.is_none_or(|(_, least)| distance < least) {
                best = Some((about, distance));
            }
        }
    }
    best.map(|(i, _)| i)
}

/// Equal, or equal in the first and the last word.
fn same_person(a: &str, b: &str) -> bool {
    let ends = |name: &str| {
        let mut words = name.split_whitespace().map(str::to_lowercase);
        let first = words.next();
        (first, words.next_back())
    };
    a.eq_ignore_ascii_case(b) || (ends(a) == ends(b) && ends(a).1.is_some())
}

/// All values or countries told of a side, with the line each stands in.
pub(crate) fn told<'a>(
    side: &'a Side,
    text: &'a Text,
    lexicon: &'a Lexicon,
) -> impl Iterator<Item = (&'a Line, Span)> + 'a {
    let lines = side.passages.iter().flat_map(|&passage| text.of(passage));
    lines.flat_map(|line| spans(&line.sentence, lexicon).into_iter().map(move |span| (line, span)))
}

/// The first country told of a side.
pub(crate) fn country(side: &Side, text: &Text, lexicon: &Lexicon) -> Option<&'static str> {
    told(side, text, lexicon)
        .filter(|(_, span)| span.kind == Kind::Country)
        .find_map(|(line, span)| lexicon.country(line.sentence.slice(&span.words)))
}
