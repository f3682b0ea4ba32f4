//! Yes/no questions: what two sides share, or whether the context supports the statement.
use std::collections::{BTreeSet, HashSet};

use super::Answer;
use super::score::Query;
use super::sides::{Side, compared, country};
use super::text::{Line, Text};
use crate::decompose::sides::ComparisonKind;
use crate::lexicon::Lexicon;
use crate::lists::list;
use crate::names::names;
use crate::weights::covered;

/// The share of the statement that the passages of every side must hold for a yes.
const MIN_COVERED: f32 = 0.5;

pub(crate) fn judge(query: &Query<'_>, text: &Text, lexicon: &Lexicon) -> Answer {
    let sides: Vec<Side> =
        compared(query, ComparisonKind::Both, text, lexicon).into_iter().flatten().collect();
    let stem = |wanted: &str| query.sentence.words.iter().any(|word| word.stem == wanted);
    let same = ["same", "both", "share"].iter().any(|word| stem(&lexicon.stem(word)));
    if let ([a, b], true) = (sides.as_slice(), same && stem("country")) {
        let told = [a, b].map(|side| country(side, text, lexicon));
        if let [Some(one), Some(other)] = told {
            return found(one == other, format!("`{}`: {one}; `{}`: {other}.", a.name, b.name));
        }
    }
    let place = list("place").any(|place| stem(&lexicon.stem(place)));
    if let ([a, b], true) = (sides.as_slice(), same && place) {
        let told = [a, b].map(|side| seats(side, query, text, lexicon));
        if told.iter().all(|seats| !seats.is_empty()) {
            let shared = told[0].intersection(&told[1]).next();
            let why = format!("`{}`: {:?}; `{}`: {:?}.", a.name, told[0], b.name, told[1]);
            return found(shared.is_some(), why);
        }
    }
    let named: HashSet<String> =
        sides.iter().flat_map(|side| lexicon.content(&side.name)).collect();
    let mut rest = query.mass.clone();
    rest.retain(|(stem, _)| !named.contains(stem));
    if sides.len() < 2 {
        return is_in_one_sentence(query, text);
    }
    let least = sides
        .iter()
        .map(|side| (covered(&rest, &held(side, text)), &side.name))
        .min_by(|a, b| a.0.total_cmp(&b.0));
    let (share, name) = least.expect("there are two sides");
    found(share >= MIN_COVERED, format!("Of `{name}` {share:.2} of what is asked is said."))
}

/// The names after `in`, `at`, `near` or `from` in the sentence of a side that says most of what
/// the question.
fn seats(side: &Side, query: &Query<'_>, text: &Text, lexicon: &Lexicon) -> BTreeSet<String> {
    let own = lexicon.content(&side.name);
    let mut rest = query.mass.clone();
    rest.retain(|(stem, _)| !own.contains(stem));
    let placed = |line: &Line| -> BTreeSet<String> {
        let sentence = &line.sentence;
        let leads = |at: usize| ["in", "at", "near", "from"].contains(&sentence.word(at));
        names(sentence, lexicon)
            .into_iter()
            .filter(|span| span.words.start.checked_sub(1).is_some_and(leads))
            .map(|span| sentence.slice(&span.words).to_owned())
            .collect()
    };
    let lines = side.passages.iter().flat_map(|&passage| text.lines_of(passage));
    let told = lines.map(|line| (covered(&rest, &line.stems()), placed(line)));
    told.filter(|(share, seats)| *share > 0.0 && !seats.is_empty())
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, seats)| seats)
        .unwrap_or_default()
}

/// The stems that the passages of a side hold.
fn held(side: &Side, text: &Text) -> HashSet<String> {
    let lines = side.passages.iter().flat_map(|&passage| text.lines_of(passage));
    lines.flat_map(Line::stems).collect()
}

/// Whether one sentence holds most of the question, with a `not` if and only if the question has one.
fn is_in_one_sentence(query: &Query<'_>, text: &Text) -> Answer {
    let mut best = (0.0_f32, String::new(), false);
    for line in &text.lines {
        let mut held = line.stems();
        held.extend(text.titles[line.passage].stems.iter().cloned());
        let share = covered(&query.mass, &held);
        if share > best.0 {
            let denies = (0..line.sentence.words.len())
                .any(|i| ["not", "never", "no"].contains(&line.sentence.word(i)));
            best = (share, line.sentence.text.clone(), denies);
        }
    }
    let (share, line, denies) = best;
    let asks_not = (0..query.sentence.words.len())
        .any(|i| ["not", "never", "no"].contains(&query.sentence.word(i)));
    found(share >= MIN_COVERED && denies == asks_not, format!("The nearest sentence is “{line}”"))
}

fn found(yes: bool, rationale: String) -> Answer {
    Answer { text: if yes { "yes" } else { "no" }.to_owned(), rationale }
}
