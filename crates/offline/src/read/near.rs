//! The words of the question near a span.
use super::score::Query;
use super::target::{Sort, Target};
use super::text::Line;
use crate::spans::Span;
use crate::words::Shape;

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
