//! How well a span answers: its features and their weights.
use std::collections::HashSet;

use super::target::{Sort, Target};
use super::text::{Line, Text};
use super::trained::{Readings, TRAINED, TrainedFeatures};
use crate::lexicon::Lexicon;
use crate::links::mentions;
use crate::lists::list;
use crate::spans::{Kind, Span, spans};
use crate::weights::{Weights, covered, mass};
use crate::words::{Sentence, Shape};

/// The number of features of a candidate, which are in the order of [`WEIGHTS`].
pub(crate) const FEATURES: usize = 17;

pub(crate) type Features = [f32; FEATURES];

/// Fitted by `fitting/rules.rs` to training questions of four sets (docs/developers/measurements.md).
pub(super) const WEIGHTS: Features = [
    4.15,  // grade of the span's kind
    2.16,  // share of the question in the sentence
    1.05,  // question's words near the span
    1.45,  // target noun at the span
    2.55,  // question's words that name nothing near the span
    -2.14, // share of the span that repeats the question
    1.57,  // titles its own passage
    -0.73, // its passage is named in the question
    2.82,  // its passage is named in another one
    0.56,  // stands in the first sentence
    0.90,  // led to by a fitting preposition
    -0.64, // is a name or a title
    -1.37, // is a phrase in lower case
    1.41,  // at the end of a life that the question is about
    0.60,  // how early in the sentence
    0.79,  // titles a passage that calls it by the target noun
    0.67,  // question's words right before the span
];

/// The same where a trained reader has read the passages, with its own features and what the passage
/// gains (`subject.rs`) after those of the rules. Fitted by `fitting/joint.rs` to training questions.
pub(super) const JOINT: [f32; FEATURES + TRAINED + 1] = [
    1.73, 1.16, 0.45, 0.37, 1.26, -0.73, 0.73, -0.69, 1.72, -0.11, 0.41, -0.39, -0.46, 0.70, 0.05,
    0.47, 0.23, 2.06, 1.98, 0.56, 0.50, -0.01, 0.92, 0.42, 0.73,
];

/// A span that could be the answer.
pub(crate) struct Candidate {
    pub(crate) text: String,
    /// Index of its line in [`Text::lines`].
    pub(crate) line: usize,
    pub(crate) features: Features,
    /// Where a trained reader has read its passage.
    pub(crate) trained: Option<TrainedFeatures>,
}

impl Candidate {
    /// `gain`: what its passage gains.
    pub(crate) fn score(&self, gain: f32) -> f32 {
        let sum = |values: &[f32], weights: &[f32]| -> f32 {
            values.iter().zip(weights).map(|(value, weight)| value * weight).sum()
        };
        match &self.trained {
            None => sum(&self.features, &WEIGHTS) + gain,
            Some(trained) => {
                let (rules, rest) = JOINT.split_at(FEATURES);
                sum(&self.features, rules) + sum(trained, rest) + gain * rest[TRAINED]
            }
        }
    }
}

/// The question as the scorer sees it.
pub(crate) struct Query<'a> {
    pub(crate) text: &'a str,
    pub(crate) sentence: Sentence,
    pub(crate) target: Target,
    /// Stems of its content words with their weights.
    pub(crate) mass: Vec<(String, f32)>,
    pub(crate) stems: HashSet<String>,
    /// Words in the names of organisations and places.
    pub(crate) organisations: HashSet<&'static str>,
}

impl<'a> Query<'a> {
    pub(crate) fn new(text: &'a str, target: Target, context: &Text, lexicon: &Lexicon) -> Self {
        let sentence = Sentence::new(text, lexicon);
        let lines = context.lines.iter().map(|line| line.sentence.text.as_str());
        let mut mass = mass(&sentence, &Weights::over(lines, lexicon));
        // `which town` asks for a town; the word itself need not be near.
        for (stem, weight) in &mut mass {
            if Some(&*stem) == target.head.as_ref() {
                *weight *= 0.5;
            }
        }
        let stems = sentence.words.iter().map(|word| word.stem.clone()).collect();
        let organisations = list("organisation").collect();
        Self { text, sentence, target, mass, stems, organisations }
    }

    pub(crate) fn total(&self) -> f32 {
        self.mass.iter().map(|(_, weight)| weight).sum::<f32>().max(f32::EPSILON)
    }
}

/// The features that all spans of one passage share.
struct Around {
    in_question: f32,
    linked: f32,
}

/// Every span of the context with its features; with readings, of the passages that were read.
pub(crate) fn candidates(
    query: &Query<'_>,
    text: &Text,
    lexicon: &Lexicon,
    readings: Option<&Readings>,
) -> Vec<Candidate> {
    let around: Vec<Around> = (0..text.titles.len()).map(|i| look_around(query, text, i)).collect();
    let mut candidates = vec![];
    for (index, line) in text.lines.iter().enumerate() {
        if readings.is_some_and(|readings| !readings.has(line.passage)) {
            continue;
        }
        let about = about(query, line, text, &around[line.passage]);
        let mut spans = spans(&line.sentence, lexicon);
        let proposed = readings.map(|readings| readings.own_spans(text, index, &spans));
        spans.extend(proposed.into_iter().flatten());
        for span in spans {
            let answer = line.sentence.slice(&span.words).to_owned();
            let features = features(query, &about, &span, &answer);
            let trained = readings.and_then(|read| read.features(text, index, &span.words));
            if readings.is_none() || trained.is_some() {
                candidates.push(Candidate { text: answer, line: index, features, trained });
            }
        }
    }
    candidates
}

fn look_around(query: &Query<'_>, text: &Text, passage: usize) -> Around {
    let mut others = text.lines.iter().filter(|line| line.passage != passage);
    let title = &text.titles[passage].plain;
    let in_question = mentions(query.text, title);
    let linked = !in_question && others.any(|line| mentions(&line.sentence.text, title));
    let flag = |yes| if yes { 1.0 } else { 0.0 };
    Around { in_question: flag(in_question), linked: flag(linked) }
}

/// The features that all spans of one line share.
struct About<'a> {
    line: &'a Line,
    text: &'a Text,
    around: &'a Around,
    covers: f32,
}

fn about<'a>(query: &Query<'_>, line: &'a Line, text: &'a Text, around: &'a Around) -> About<'a> {
    let mut stems = line.stems();
    stems.extend(line.life.iter().flatten().map(|&tag| tag.to_owned()));
    About { line, text, around, covers: covered(&query.mass, &stems) }
}

#[expect(clippy::cast_precision_loss, reason = "a sentence has few words")]
fn features(query: &Query<'_>, about: &About<'_>, span: &Span, answer: &str) -> Features {
    let line = about.line;
    let flag = |yes: bool| if yes { 1.0 } else { 0.0 };
    let words = &line.sentence.words[span.words.clone()];
    let content: Vec<_> = words.iter().filter(|word| !word.stop).collect();
    let repeated = content.iter().filter(|word| query.stems.contains(&word.stem)).count() as f32
        / content.len().max(1) as f32;
    let title = &about.text.titles[line.passage].plain;
    let (near, focus) = nearness(query, line, span);
    [
        grade(&query.target, line, span, &query.organisations),
        about.covers,
        near,
        head_near(query, line, span),
        focus,
        repeated,
        flag(title.eq_ignore_ascii_case(answer)),
        about.around.in_question,
        about.around.linked,
        flag(line.place == 0),
        preposition(&query.target, line, span),
        flag(matches!(span.kind, Kind::Name | Kind::Country | Kind::Quoted)),
        flag(span.kind == Kind::Phrase),
        life(query, line, span),
        1.0 - span.words.start as f32 / line.sentence.words.len().max(1) as f32,
        is_a(query, about.text, answer),
        led_by(query, line, span),
    ]
}

/// 1 where the span is at the end of a life that the question is about, -1 at the other end.
fn life(query: &Query<'_>, line: &Line, span: &Span) -> f32 {
    let sorts = [Sort::Date, Sort::Year, Sort::Place, Sort::Country, Sort::Number];
    let Some(tag) = line.life[span.words.start] else { return 0.0 };
    if !sorts.contains(&query.target.sort) {
        return 0.0;
    }
    if query.mass.iter().any(|(stem, _)| stem == tag) { 1.0 } else { -1.0 }
}

/// 1 where the span titles a passage whose first sentence has the target noun, -1 where it titles
/// one without.
fn is_a(query: &Query<'_>, text: &Text, answer: &str) -> f32 {
    let Some(head) = &query.target.head else { return 0.0 };
    let titled = text.titles.iter().position(|title| title.plain.eq_ignore_ascii_case(answer));
    let Some(line) = titled.and_then(|passage| text.lines_of(passage).next()) else { return 0.0 };
    if line.sentence.words.iter().any(|word| word.stem == *head) { 1.0 } else { -1.0 }
}

/// The share of the question's mass near the span, and of its words that name no thing.
pub(super) fn nearness(query: &Query<'_>, line: &Line, span: &Span) -> (f32, f32) {
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
        let places = line.sentence.words.iter().zip(&line.life).enumerate();
        let places = places.filter(|(i, (word, life))| {
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

/// Whether the target noun is in the span or next to it.
pub(super) fn head_near(query: &Query<'_>, line: &Line, span: &Span) -> f32 {
    let Some(head) = &query.target.head else { return 0.0 };
    let from = span.words.start.saturating_sub(2);
    let to = (span.words.end + 2).min(line.sentence.words.len());
    if line.sentence.words[from..to].iter().any(|word| word.stem == *head) { 1.0 } else { 0.0 }
}

/// Whether the word before the span often precedes an answer of this sort.
pub(super) fn preposition(target: &Target, line: &Line, span: &Span) -> f32 {
    let Some(before) = span.words.start.checked_sub(1) else { return 0.0 };
    let word = line.sentence.word(before).to_lowercase();
    let leads: &[&str] = match target.sort {
        Sort::Place | Sort::Country => &["in", "at", "from", "near", "of", "to", "the"],
        Sort::Person => &["by", "with", "to", "son", "daughter", "and", "of", "wife", "husband"],
        Sort::Date | Sort::Year => &["in", "on", "born", "since", "from", "until"],
        Sort::Number => &["of", "over", "about", "than", "was", "approximately", "nearly", "has"],
        Sort::Thing | Sort::YesNo | Sort::Common => &["a", "an", "the", "as", "by", "for", "of"],
    };
    if leads.contains(&word.as_str()) { 1.0 } else { 0.0 }
}

/// How many of the three words before the span are words of the question.
pub(super) fn led_by(query: &Query<'_>, line: &Line, span: &Span) -> f32 {
    let before = &line.sentence.words[span.words.start.saturating_sub(3)..span.words.start];
    let repeated = before.iter().filter(|word| query.stems.contains(&word.stem));
    repeated.map(|word| if word.stop { 0.1 } else { 0.3 }).sum()
}

/// In `[0, 1]`.
pub(crate) fn grade(
    target: &Target,
    line: &Line,
    span: &Span,
    organisations: &HashSet<&str>,
) -> f32 {
    match (target.sort, span.kind) {
        (Sort::Person, Kind::Name) => person(line, span, organisations),
        (Sort::Place, Kind::Name | Kind::Country) => place(line, span),
        (Sort::Country, Kind::Country)
        | (Sort::Date, Kind::Date(_))
        | (Sort::Year, Kind::Year(_))
        | (Sort::Number, Kind::Number(_))
        | (Sort::Common, Kind::Phrase) => 1.0,
        (Sort::Thing, Kind::Name | Kind::Quoted) => 0.8,
        (Sort::Date, Kind::Year(_)) => 0.7,
        (Sort::Thing, Kind::Phrase) => 0.6,
        (Sort::Country | Sort::Common, Kind::Name) | (Sort::Thing, Kind::Country) => 0.3,
        (Sort::Year, Kind::Date(_))
        | (Sort::Thing, Kind::Date(_) | Kind::Year(_) | Kind::Number(_)) => 0.2,
        (Sort::Person | Sort::Place, Kind::Quoted) => 0.1,
        _ => 0.0,
    }
}

fn person(line: &Line, span: &Span, organisations: &HashSet<&str>) -> f32 {
    let words = span.words.clone().map(|i| line.sentence.word(i).to_lowercase());
    if words.into_iter().any(|word| organisations.contains(word.as_str())) {
        return 0.4;
    }
    let placed = before(line, span).is_some_and(|word| ["in", "at"].contains(&word.as_str()));
    match span.words.len() {
        _ if placed => 0.3,
        2..=4 => 1.0,
        1 => 0.6,
        _ => 0.5,
    }
}

fn place(line: &Line, span: &Span) -> f32 {
    match before(line, span).as_deref() {
        Some("in" | "at" | "near" | "from" | "to" | "of") => 1.0,
        Some("by" | "with") => 0.2,
        _ => 0.6,
    }
}

pub(super) fn before(line: &Line, span: &Span) -> Option<String> {
    let at = span.words.start.checked_sub(1)?;
    Some(line.sentence.word(at).to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexicon::Lexicon;
    use crate::lists::list;
    use crate::spans::spans;
    use crate::words::Sentence;

    #[test]
    fn a_university_is_not_a_person() {
        let lexicon = Lexicon::new();
        let sentence = Sentence::new("Mara Quill taught at Saxby University.", &lexicon);
        let no_life = vec![None; sentence.words.len()];
        let line = Line { passage: 0, place: 0, sentence, life: no_life };
        let all = spans(&line.sentence, &lexicon);
        let names: Vec<&Span> = all.iter().filter(|span| span.kind == Kind::Name).collect();
        let target = |sort| Target { sort, head: None, at: 0 };
        let graded =
            |sort, i: usize| grade(&target(sort), &line, names[i], &list("organisation").collect());
        assert!(graded(Sort::Person, 0) > graded(Sort::Person, 1));
        assert!(graded(Sort::Place, 1) > graded(Sort::Place, 0));
    }
}
