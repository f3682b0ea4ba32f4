//! Answers that are no span: yes or no, one of the given options, a few sentences.
use std::collections::HashSet;

use super::Answer;
use super::score::Query;
use super::sides::{Side, compared, country};
use super::text::{Line, Text};
use crate::decompose::sides::ComparisonKind;
use crate::lexicon::Lexicon;
use crate::links::mentions;
use crate::weights::covered;
use crate::words::Sentence;

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
            return verdict(one == other, format!("`{}`: {one}; `{}`: {other}.", a.name, b.name));
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
        .map(|side| (covered(&rest, &side_stems(side, text)), &side.name))
        .min_by(|a, b| a.0.total_cmp(&b.0));
    let (share, name) = least.expect("there are two sides");
    verdict(share >= MIN_COVERED, format!("Of `{name}` {share:.2} of what is asked is said."))
}

/// The stems that the passages of a side hold.
fn side_stems(side: &Side, text: &Text) -> HashSet<String> {
    let lines = side.passages.iter().flat_map(|&passage| text.lines_of(passage));
    lines.flat_map(Line::stems).collect()
}

/// Whether one sentence holds most of the question, with a `not` if and only if the question has one.
fn is_in_one_sentence(query: &Query<'_>, text: &Text) -> Answer {
    let mut best = (0.0_f32, String::new(), false);
    for line in &text.lines {
        let stems = text.titled_stems(line);
        let share = covered(&query.mass, &stems);
        if share > best.0 {
            best = (share, line.sentence.text.clone(), denies(&line.sentence));
        }
    }
    let (share, line, is_denied) = best;
    verdict(
        share >= MIN_COVERED && is_denied == denies(&query.sentence),
        format!("The nearest sentence is “{line}”"),
    )
}

fn denies(sentence: &Sentence) -> bool {
    (0..sentence.words.len()).any(|i| ["not", "never", "no"].contains(&sentence.word(i)))
}

fn verdict(yes: bool, rationale: String) -> Answer {
    Answer { text: if yes { "yes" } else { "no" }.to_owned(), rationale }
}

/// The first option with the best support; its text is the answer.
pub(crate) fn pick(
    options: &[String],
    query: &Query<'_>,
    text: &Text,
    lexicon: &Lexicon,
) -> Answer {
    let mut best = (-1.0_f32, options[0].as_str(), "");
    for option in options {
        let wanted: HashSet<String> = lexicon.content(option).into_iter().collect();
        for line in &text.lines {
            let stems = text.titled_stems(line);
            #[expect(clippy::cast_precision_loss, reason = "an option has few words")]
            let share = wanted.intersection(&stems).count() as f32 / wanted.len().max(1) as f32;
            let whole = if mentions(&line.sentence.text, option) { 0.5 } else { 0.0 };
            let support = (share + whole) * (0.2 + covered(&query.mass, &stems));
            if support > best.0 {
                best = (support, option, &line.sentence.text);
            }
        }
    }
    Answer { text: best.1.to_owned(), rationale: format!("Best supported by “{}”", best.2) }
}

/// The most sentences of a long answer.
const LONG: usize = 3;

/// The sentences that cover most of the question, in their order; a sentence of a passage that
/// the question names comes first.
pub(super) fn long_answer(query: &Query<'_>, text: &Text) -> Answer {
    let mut open = query.mass.clone();
    let mut chosen: Vec<usize> = vec![];
    while chosen.len() < LONG {
        let gain = |i: &usize| {
            let line = &text.lines[*i];
            let titles: HashSet<String> = text.titles[line.passage].stems.iter().cloned().collect();
            covered(&open, &line.stems()) + covered(&open, &titles) / 2.0
        };
        let rest = (0..text.lines.len()).filter(|i| !chosen.contains(i));
        let best = rest.max_by(|a, b| gain(a).total_cmp(&gain(b)).then(b.cmp(a)));
        let Some(line) = best.filter(|line| gain(line) > 0.0) else { break };
        let stems = text.lines[line].stems();
        open.retain(|(stem, _)| !stems.contains(stem));
        chosen.push(line);
    }
    chosen.sort_unstable();
    let said: Vec<&str> = chosen.iter().map(|&i| text.lines[i].sentence.text.as_str()).collect();
    let titles: Vec<&str> =
        chosen.iter().map(|&i| text.titles[text.lines[i].passage].plain.as_str()).collect();
    Answer { text: said.join(" "), rationale: format!("Said in: {}.", titles.join("; ")) }
}
