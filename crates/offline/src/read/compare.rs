//! Either-or questions, by the dates or numbers of the two sides.
use std::collections::HashSet;

use super::Answer;
use super::score::Query;
use super::sides::{Side, compared, side_spans};
use super::text::{BIRTH, DEATH, Text};
use crate::decompose::sides::ComparisonKind;
use crate::lexicon::Lexicon;
use crate::lists::is_listed;
use crate::spans::Kind;
use crate::weights::covered;

/// What decides between the sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    /// An event's date; the stem of the event where the question names one.
    Date(Option<&'static str>),
    Number,
}

/// `None` where the question does not compare two sides.
pub(crate) fn choose(query: &Query<'_>, text: &Text, lexicon: &Lexicon) -> Option<Answer> {
    let sides = compared(query, ComparisonKind::Either, text, lexicon)?;
    let decided = measure(query).and_then(|(by, least)| {
        let value = |side| value(side, by, query, text, lexicon);
        let (a, b) = (value(&sides[0])?, value(&sides[1])?);
        let order = a.0.partial_cmp(&b.0).filter(|order| order.is_ne())?;
        Some((usize::from(order.is_lt() != least), format!("Compared: “{}” and “{}”", a.1, b.1)))
    });
    let (winner, rationale) = decided.unwrap_or_else(|| {
        let [a, b] = sides.each_ref().map(|side| support(side, &sides, query, text, lexicon));
        let (winner, line) = if b.0 > a.0 { (1, b.1) } else { (0, a.1) };
        (winner, format!("Neither has a date or a number; the better match is “{line}”"))
    });
    Some(Answer { text: sides[winner].name.clone(), rationale })
}

/// What is compared, and whether the lesser wins.
pub(super) fn measure(query: &Query<'_>) -> Option<(By, bool)> {
    let words = query.sentence.lower_words();
    let any = |name: &str| words.iter().any(|word| is_listed(name, word));
    let stem = |stem: &str| query.sentence.words.iter().any(|word| word.stem == stem);
    let event = if stem(DEATH) {
        Some(DEATH)
    } else if stem(BIRTH) || any("age") {
        Some(BIRTH)
    } else if stem("found") {
        Some("found")
    } else {
        ["release", "publish"].into_iter().find(|event| stem(event))
    };
    if any("early") {
        Some((By::Date(event), true))
    } else if any("late") {
        Some((By::Date(event), false))
    } else if any("more") {
        Some((By::Number, false))
    } else if any("less") {
        Some((By::Number, true))
    } else {
        None
    }
}

/// The side's value, with its sentence.
fn value(
    side: &Side,
    by: By,
    query: &Query<'_>,
    text: &Text,
    lexicon: &Lexicon,
) -> Option<(f64, String)> {
    let mut best: Option<(u32, f64, String)> = None;
    for (line, span) in side_spans(side, text, lexicon) {
        let near = |stem: &str| {
            let words = line.sentence.words.iter().enumerate();
            words
                .filter(|(_, word)| word.stem == stem)
                .any(|(i, _)| i.abs_diff(span.words.start) < 6)
        };
        let (amount, rank) = match (by, span.kind) {
            (By::Date(event), Kind::Date(when) | Kind::Year(when)) => {
                let lives = line.life[span.words.start];
                let exact = u32::from(matches!(span.kind, Kind::Date(_)));
                match event {
                    Some(event) if lives == Some(event) => (when, 6 + exact),
                    Some(_) if lives.is_some() => (when, 0),
                    Some(event) if near(event) => (when, 4 + exact),
                    _ => (when, 2),
                }
            }
            (By::Number, Kind::Number(amount)) => {
                let near = query.mass.iter().any(|(stem, _)| near(stem));
                (amount, if near { 3 } else { 1 })
            }
            _ => continue,
        };
        if best.as_ref().is_none_or(|(highest, ..)| rank > *highest) {
            best = Some((rank, amount, line.sentence.text.clone()));
        }
    }
    best.map(|(_, amount, line)| (amount, line))
}

/// The share of the rest of the question in the passages about a side, with the best sentence.
fn support(
    side: &Side,
    sides: &[Side; 2],
    query: &Query<'_>,
    text: &Text,
    lexicon: &Lexicon,
) -> (f32, String) {
    let named: HashSet<String> =
        sides.iter().flat_map(|side| lexicon.content(&side.name)).collect();
    let mut rest = query.mass.clone();
    rest.retain(|(stem, _)| !named.contains(stem));
    let mut all = HashSet::new();
    let mut best = (0.0_f32, String::new());
    for line in side.passages.iter().flat_map(|&passage| text.lines_of(passage)) {
        let stems = line.stems();
        let share = covered(&rest, &stems);
        if share > best.0 {
            best = (share, line.sentence.text.clone());
        }
        all.extend(stems);
    }
    (covered(&rest, &all), best.1)
}
