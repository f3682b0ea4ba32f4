//! How well a span answers: its features and their weights.
use std::collections::HashSet;

use super::fit::grade;
use super::near::{head_near, led_by, nearness, preposition};
use super::target::{Sort, Target};
use super::text::{Line, Text};
use super::trained::{Readings, TRAINED, TrainedFeatures};
use crate::lexicon::Lexicon;
use crate::links::mentions;
use crate::lists::list;
use crate::spans::{Kind, Span, spans};
use crate::weights::{Weights, covered, mass};
use crate::words::Sentence;

/// The number of features of a candidate, which are in the order of [`WEIGHTS`].
pub(crate) const FEATURES: usize = 17;

pub(crate) type Features = [f32; FEATURES];

/// Fitted by `fitting/rules.rs` to training questions of four sets (docs/concepts/offline-model.md).
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
    let mut found = vec![];
    for (index, line) in text.lines.iter().enumerate() {
        if readings.is_some_and(|readings| !readings.has(line.passage)) {
            continue;
        }
        let about = about(query, line, text, &around[line.passage]);
        let mut spans = spans(&line.sentence, lexicon);
        let own = readings.map(|readings| readings.own_spans(text, index, &spans));
        spans.extend(own.into_iter().flatten());
        for span in spans {
            let answer = line.sentence.slice(&span.words).to_owned();
            let features = features(query, &about, &span, &answer);
            let trained = readings.and_then(|read| read.features(text, index, &span.words));
            if readings.is_none() || trained.is_some() {
                found.push(Candidate { text: answer, line: index, features, trained });
            }
        }
    }
    found
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
    let mut held = line.stems();
    held.extend(line.life.iter().flatten().map(|&tag| tag.to_owned()));
    About { line, text, around, covers: covered(&query.mass, &held) }
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
