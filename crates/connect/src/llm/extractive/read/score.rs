//! How well a span answers: what is looked at, and how much each thing weighs.
use std::collections::HashSet;

use super::super::lexicon::Lexicon;
use super::super::links::mentions;
use super::super::spans::{Kind, Span, spans};
use super::super::weights::{Weights, covered, mass};
use super::super::words::{Sentence, Shape, Word};
use super::fit::grade;
use super::text::{Line, Text};
use super::wanted::{Sort, Wanted};

/// What is looked at in a candidate, in the order of [`WEIGHTS`].
pub(crate) const FEATURES: usize = 26;

pub(crate) type Features = [f32; FEATURES];

/// Fitted on training questions only (see `docs` of the offline model).
const WEIGHTS: Features = [4.8, 0.9, 0.72, 1.02, -0.08, 1.79, 2.34, -1.41, 0.56, 0.22, -0.68, 1.58, -0.32, 0.65, 0.16, 0.75, -0.01, -0.68, -1.94, 1.33, 0.0, 0.37, 1.27, 0.79, 0.02, 0.05];

/// A span that could be the answer.
pub(crate) struct Candidate {
    pub(crate) text: String,
    /// Index of its line in [`Text::lines`].
    pub(crate) line: usize,
    pub(crate) features: Features,
}

impl Candidate {
    pub(crate) fn score(&self) -> f32 {
        self.features.iter().zip(WEIGHTS).map(|(value, weight)| value * weight).sum()
    }
}

/// The question as the scorer sees it.
pub(crate) struct Query<'a> {
    pub(crate) text: &'a str,
    pub(crate) sentence: Sentence,
    pub(crate) wanted: Wanted,
    /// Stems of its content words with their weights.
    pub(crate) mass: Vec<(String, f32)>,
    stems: HashSet<String>,
}

impl<'a> Query<'a> {
    pub(crate) fn new(text: &'a str, wanted: Wanted, context: &Text, lexicon: &Lexicon) -> Self {
        let sentence = Sentence::new(text, lexicon);
        let lines = context.lines.iter().map(|line| line.sentence.text.as_str());
        let mut mass = mass(&sentence, &Weights::over(lines, lexicon));
        // `which town` asks for a town; the word itself need not be near.
        for (stem, weight) in &mut mass {
            if Some(&*stem) == wanted.head.as_ref() {
                *weight *= 0.5;
            }
        }
        let stems = sentence.words.iter().map(|word| word.stem.clone()).collect();
        Self { text, sentence, wanted, mass, stems }
    }

    fn total(&self) -> f32 {
        self.mass.iter().map(|(_, weight)| weight).sum::<f32>().max(f32::EPSILON)
    }
}

/// What holds for all spans of one passage.
struct Around {
    /// Stems that other passages hold.
    elsewhere: HashSet<String>,
    asked: f32,
    linked: f32,
    last: f32,
}

/// Every span of the context with what speaks for it.
pub(crate) fn candidates(query: &Query<'_>, text: &Text, lexicon: &Lexicon) -> Vec<Candidate> {
    let around: Vec<Around> = (0..text.titles.len()).map(|i| look_around(query, text, i)).collect();
    let mut found = vec![];
    for (index, line) in text.lines.iter().enumerate() {
        let about = about(query, line, text, &around[line.passage]);
        for span in spans(&line.sentence, lexicon) {
            let said = line.sentence.slice(&span.words).to_owned();
            let features = features(query, &about, &span, &said);
            found.push(Candidate { text: said, line: index, features });
        }
    }
    found
}

fn look_around(query: &Query<'_>, text: &Text, passage: usize) -> Around {
    let others = text.lines.iter().filter(|line| line.passage != passage);
    let elsewhere = others.clone().flat_map(stems).collect();
    let title = &text.titles[passage].plain;
    let asked = mentions(query.text, title);
    let linked = !asked && others.into_iter().any(|line| mentions(&line.sentence.text, title));
    let flag = |yes| if yes { 1.0 } else { 0.0 };
    Around {
        elsewhere,
        asked: flag(asked),
        linked: flag(linked),
        last: flag(passage + 1 == text.titles.len()),
    }
}

fn stems(line: &Line) -> impl Iterator<Item = String> + '_ {
    line.sentence.words.iter().map(|word| word.stem.clone())
}

/// What holds for all spans of one line.
struct About<'a> {
    line: &'a Line,
    text: &'a Text,
    around: &'a Around,
    covers: f32,
    covers_with_title: f32,
    new: f32,
}

fn about<'a>(query: &Query<'_>, line: &'a Line, text: &'a Text, around: &'a Around) -> About<'a> {
    let mut held: HashSet<String> = stems(line).collect();
    held.extend(line.life.iter().flatten().map(|&tag| tag.to_owned()));
    let covers = covered(&query.mass, &held);
    let fresh = held.iter().filter(|stem| !around.elsewhere.contains(*stem)).cloned().collect();
    let new = covered(&query.mass, &fresh);
    held.extend(text.titles[line.passage].stems.iter().cloned());
    let covers_with_title = covered(&query.mass, &held);
    About { line, text, around, covers, covers_with_title, new }
}

#[expect(clippy::cast_precision_loss, reason = "a sentence has few words")]
fn features(query: &Query<'_>, about: &About<'_>, span: &Span, said: &str) -> Features {
    let line = about.line;
    let flag = |yes: bool| if yes { 1.0 } else { 0.0 };
    let words = &line.sentence.words[span.words.clone()];
    let content: Vec<_> = words.iter().filter(|word| !word.stop).collect();
    let repeated = content.iter().filter(|word| query.stems.contains(&word.stem)).count() as f32
        / content.len().max(1) as f32;
    let title = &about.text.titles[line.passage].plain;
    let is_title = |title: &String| title.eq_ignore_ascii_case(said);
    let others = about.text.titles.iter().enumerate().filter(|(i, _)| *i != line.passage);
    let same =
        |other: &&Line| other.passage != line.passage && mentions(&other.sentence.text, said);
    let (near, focus) = nearness(query, line, span);
    let (left, right) = beside(query, line, span);
    let part = span.kind == Kind::Name
        && span.words.end < line.sentence.words.len()
        && line.sentence.words[span.words.end].shape == Shape::Capital
        && [" ", "-"].contains(&line.sentence.gap(span.words.end - 1));
    [
        grade(&query.wanted, line, span),
        about.covers,
        about.covers_with_title,
        near,
        about.new,
        head_near(query, line, span),
        focus,
        repeated,
        flag(is_title(title)),
        flag(others.map(|(_, other)| &other.plain).any(is_title)),
        about.around.asked,
        about.around.linked,
        about.around.last,
        flag(line.place == 0),
        span.words.len() as f32 / 5.0,
        preposition(&query.wanted, line, span),
        flag(about.text.lines.iter().any(|other| same(&other))),
        flag(matches!(span.kind, Kind::Name | Kind::Country | Kind::Quoted)),
        flag(span.kind == Kind::Phrase),
        life(query, line, span),
        flag(part),
        1.0 - span.words.start as f32 / line.sentence.words.len().max(1) as f32,
        is_a(query, about.text, said),
        left,
        right,
        appositive(query, line, span),
    ]
}

/// The share of the question's mass near the span, and of its words that name no thing.
fn nearness(query: &Query<'_>, line: &Line, span: &Span) -> (f32, f32) {
    let total = query.total();
    let (mut near, mut focus, mut plain) = (0.0, 0.0, f32::EPSILON);
    for (stem, weight) in &query.mass {
        let named = query
            .sentence
            .words
            .iter()
            .enumerate()
            .any(|(i, word)| i > 0 && word.stem == *stem && word.shape != Shape::Lower);
        if !named {
            plain += weight;
        }
        let said = line.sentence.words.iter().zip(&line.life).enumerate();
        let places = said.filter(|(i, (word, life))| {
            word.stem == *stem && !span.words.contains(i) || life.is_some_and(|tag| tag == stem)
        });
        let Some(distance) = places.map(|(i, _)| distance(i, span)).min() else { continue };
        #[expect(clippy::cast_precision_loss, reason = "a sentence has few words")]
        let close = 1.0 / (1.0 + distance as f32 / 4.0);
        near += weight * close / total;
        if !named {
            focus += weight * close;
        }
    }
    (near, focus / plain)
}

fn distance(at: usize, span: &Span) -> usize {
    if at < span.words.start {
        span.words.start - at
    } else {
        at.saturating_sub(span.words.end - 1)
    }
}

/// Whether the asked-for noun stands in the span or right beside it.
fn head_near(query: &Query<'_>, line: &Line, span: &Span) -> f32 {
    let Some(head) = &query.wanted.head else { return 0.0 };
    let from = span.words.start.saturating_sub(2);
    let to = (span.words.end + 2).min(line.sentence.words.len());
    if line.sentence.words[from..to].iter().any(|word| word.stem == *head) { 1.0 } else { 0.0 }
}

/// Whether the word before the span is one that leads to an answer of this sort.
fn preposition(wanted: &Wanted, line: &Line, span: &Span) -> f32 {
    let Some(before) = span.words.start.checked_sub(1) else { return 0.0 };
    let word = line.sentence.word(before).to_lowercase();
    let leads: &[&str] = match wanted.sort {
        Sort::Place | Sort::Country => &["in", "at", "from", "near", "of", "to", "the"],
        Sort::Person => &["by", "with", "to", "son", "daughter", "and", "of", "wife", "husband"],
        Sort::Date | Sort::Year => &["in", "on", "born", "since", "from", "until"],
        Sort::Number => &["of", "over", "about", "than", "was", "approximately", "nearly", "has"],
        Sort::Thing | Sort::YesNo | Sort::Common | Sort::Named => {
            &["a", "an", "the", "as", "by", "for", "of"]
        }
    };
    if leads.contains(&word.as_str()) { 1.0 } else { 0.0 }
}

/// 1 where the span stands at the end of a life that is asked for, -1 at the other end.
fn life(query: &Query<'_>, line: &Line, span: &Span) -> f32 {
    let sorts = [Sort::Date, Sort::Year, Sort::Place, Sort::Country, Sort::Number];
    let Some(tag) = line.life[span.words.start] else { return 0.0 };
    if !sorts.contains(&query.wanted.sort) {
        return 0.0;
    }
    if query.mass.iter().any(|(stem, _)| stem == tag) { 1.0 } else { -1.0 }
}

/// 1 where the span titles a passage that opens by calling it what is asked for, -1 where it
/// titles one that does not.
fn is_a(query: &Query<'_>, text: &Text, said: &str) -> f32 {
    let Some(head) = &query.wanted.head else { return 0.0 };
    let titled = text.titles.iter().position(|title| title.plain.eq_ignore_ascii_case(said));
    let Some(line) = titled.and_then(|passage| text.of(passage).next()) else { return 0.0 };
    if line.sentence.words.iter().any(|word| word.stem == *head) { 1.0 } else { -1.0 }
}

/// How far the three words before and after the span are words of the question.
fn beside(query: &Query<'_>, line: &Line, span: &Span) -> (f32, f32) {
    let words = &line.sentence.words;
    let share = |part: &[Word]| {
        let said = part.iter().filter(|word| query.stems.contains(&word.stem));
        said.map(|word| if word.stop { 0.1 } else { 0.3 }).sum()
    };
    let end = span.words.end;
    let left = &words[span.words.start.saturating_sub(3)..span.words.start];
    (share(left), share(&words[end..(end + 3).min(words.len())]))
}

/// Whether the asked-for noun stands right before the span: `the actress Mara Quill`.
fn appositive(query: &Query<'_>, line: &Line, span: &Span) -> f32 {
    let before = span.words.start.checked_sub(1).map(|at| &line.sentence.words[at].stem);
    if before.is_some() && before == query.wanted.head.as_ref() { 1.0 } else { 0.0 }
}
