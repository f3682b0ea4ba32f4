//! Yes/no questions: what two sides share, or whether the context supports the statement.
use std::collections::HashSet;

use super::Answer;
use super::score::Query;
use super::sides::{Side, compared, country};
use super::text::{Line, Text};
use crate::decompose::sides::ComparisonKind;
use crate::lexicon::Lexicon;
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
