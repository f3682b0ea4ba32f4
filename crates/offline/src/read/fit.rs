//! How well the kind of a span fits the sort of answer.
use std::collections::HashSet;

use super::target::{Sort, Target};
use super::text::Line;
use crate::spans::{Kind, Span};

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
        let found = spans(&line.sentence, &lexicon);
        let names: Vec<&Span> = found.iter().filter(|span| span.kind == Kind::Name).collect();
        let target = |sort| Target { sort, head: None, at: 0 };
        let graded =
            |sort, i: usize| grade(&target(sort), &line, names[i], &list("organisation").collect());
        assert!(graded(Sort::Person, 0) > graded(Sort::Person, 1));
        assert!(graded(Sort::Place, 1) > graded(Sort::Place, 0));
    }
}
