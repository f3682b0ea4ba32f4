//! Yes/no questions: what two sides share, or whether the context supports the statement.
use std::collections::HashSet;

use super::Answer;
use super::score::Query;
use super::sides::{Side, compared, country};
use super::text::{Line, Text};
use crate::decompose::sides::{ComparisonKind, comparison};
use crate::lexicon::Lexicon;
use crate::weights::covered;
use crate::words::Sentence;

/// The share of the statement that the passages of every side must hold for a yes.
const MIN_COVERED: f32 = 0.5;

/// Where one sentence says it: with the title of its passage it names both things, and it has the
/// `same` of the question with the word after it, with or without a `not`.
pub(crate) fn is_stated(query: &Query<'_>, text: &Text, lexicon: &Lexicon) -> Option<Answer> {
    let compared = comparison(query.text, lexicon).filter(|c| c.kind == ComparisonKind::Both)?;
    let named: Vec<String> =
        compared.things.iter().flat_map(|thing| lexicon.content(thing)).collect();
    let same = |sentence: &Sentence| -> HashSet<String> {
        let after = (1..sentence.words.len()).filter(|&at| sentence.word(at - 1) == "same");
        after.map(|at| sentence.words[at].stem.clone()).collect()
    };
    let asked = same(&query.sentence);
    let line = text.lines.iter().find(|line| {
        let stems = text.titled_stems(line);
        !same(&line.sentence).is_disjoint(&asked) && named.iter().all(|stem| stems.contains(stem))
    })?;
    Some(found(
        denies(&line.sentence) == denies(&query.sentence),
        format!("“{}”", line.sentence.text),
    ))
}

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

/// The stems that the passages of a side hold.
fn held(side: &Side, text: &Text) -> HashSet<String> {
    let lines = side.passages.iter().flat_map(|&passage| text.lines_of(passage));
    lines.flat_map(Line::stems).collect()
}

/// Whether one sentence holds most of the question, with a `not` if and only if the question has one.
fn is_in_one_sentence(query: &Query<'_>, text: &Text) -> Answer {
    let mut best = (0.0_f32, String::new(), false);
    for line in &text.lines {
        let held = text.titled_stems(line);
        let share = covered(&query.mass, &held);
        if share > best.0 {
            best = (share, line.sentence.text.clone(), denies(&line.sentence));
        }
    }
    let (share, line, is_denied) = best;
    found(
        share >= MIN_COVERED && is_denied == denies(&query.sentence),
        format!("The nearest sentence is “{line}”"),
    )
}

fn denies(sentence: &Sentence) -> bool {
    (0..sentence.words.len()).any(|i| ["not", "never", "no"].contains(&sentence.word(i)))
}

fn found(yes: bool, rationale: String) -> Answer {
    Answer { text: if yes { "yes" } else { "no" }.to_owned(), rationale }
}
