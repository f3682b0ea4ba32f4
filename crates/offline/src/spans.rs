//! Spans of a sentence that could be an answer: names, titles in quotes, dates, numbers and noun
//! phrases.
use std::ops::Range;

use halma_core::text::{Value, loose_parts, name_runs, quotes, value_at};

use crate::lexicon::Lexicon;
use crate::words::{Sentence, Shape};

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    Name,
    /// A country or the word for its people.
    Country,
    Quoted,
    Date(f64),
    Year(f64),
    Number(f64),
    Phrase,
}

/// A run of words of one sentence.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Span {
    pub(crate) words: Range<usize>,
    pub(crate) kind: Kind,
}

/// The longest noun phrase, in words.
const LONGEST_PHRASE: usize = 5;

/// All spans of the sentence, in order of their beginning.
pub(crate) fn spans(sentence: &Sentence, lexicon: &Lexicon) -> Vec<Span> {
    let mut spans = quoted(sentence);
    spans.extend(names(sentence, lexicon));
    spans.extend(values(sentence));
    spans.extend(phrases(sentence));
    spans.sort_by_key(|span| (span.words.start, span.words.end));
    spans.dedup_by(|b, a| a.words == b.words);
    spans
}

fn values(sentence: &Sentence) -> Vec<Span> {
    let mut values = vec![];
    let mut at = 0;
    while at < sentence.words.len() {
        let Some((words, value)) = value_at(&sentence.plain, at) else {
            at += 1;
            continue;
        };
        let end = words.end;
        match value {
            Value::Date(when) => {
                values.push(Span { words: words.clone(), kind: Kind::Date(when) });
                values.push(Span { words: end - 1..end, kind: Kind::Year(when.floor()) });
            }
            Value::Year(when) => values.push(Span { words, kind: Kind::Year(when) }),
            Value::Number(amount) => values.push(Span { words, kind: Kind::Number(amount) }),
        }
        at = end;
    }
    values
}

fn quoted(sentence: &Sentence) -> Vec<Span> {
    let span = |words| Span { words, kind: Kind::Quoted };
    quotes(&sentence.plain).into_iter().map(span).collect()
}

/// Runs of content words with at least one in lower case.
fn phrases(sentence: &Sentence) -> Vec<Span> {
    let part = |at: usize| {
        let word = &sentence.words[at];
        !word.stop && (word.shape != Shape::Digit || word.range.len() > 4)
    };
    let mut phrases = vec![];
    let mut at = 0;
    while at < sentence.words.len() {
        if !part(at) {
            at += 1;
            continue;
        }
        let start = at;
        while at + 1 < sentence.words.len()
            && at + 1 - start < LONGEST_PHRASE
            && [" ", "-", " - "].contains(&sentence.gap(at))
            && part(at + 1)
        {
            at += 1;
        }
        at += 1;
        for from in start..at {
            if sentence.words[at - 1].shape == Shape::Lower && at - from <= 4 {
                phrases.push(Span { words: from..at, kind: Kind::Phrase });
            }
        }
    }
    phrases
}

/// Capitalised runs, whole and split at loose particles, and joined over one comma.
pub(crate) fn names(sentence: &Sentence, lexicon: &Lexicon) -> Vec<Span> {
    let runs: Vec<Range<usize>> = name_runs(&sentence.plain);
    let mut all = vec![];
    for (i, run) in runs.iter().enumerate() {
        all.push(run.clone());
        all.extend(loose_parts(&sentence.plain, run));
        let joins =
            |next: &&Range<usize>| next.start == run.end && sentence.gap(run.end - 1) == ", ";
        all.extend(runs.get(i + 1).filter(joins).map(|next| run.start..next.end));
    }
    let kind = |words: &Range<usize>| match lexicon.country(sentence.slice(words)) {
        Some(_) => Kind::Country,
        None => Kind::Name,
    };
    all.into_iter().map(|words| Span { kind: kind(&words), words }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str, is_kind: fn(&Kind) -> bool) -> Vec<String> {
        let lexicon = Lexicon::new();
        let sentence = Sentence::new(text, &lexicon);
        let spans = spans(&sentence, &lexicon).into_iter().filter(|span| is_kind(&span.kind));
        spans.map(|span| sentence.slice(&span.words).to_owned()).collect()
    }

    #[test]
    fn names_keep_their_particles_and_are_offered_in_parts() {
        let names_in =
            texts("The mill of J. Brandt lies in Lower Saxby, Ohio.", |k| *k == Kind::Name);
        assert_eq!(names_in, ["J. Brandt", "Lower Saxby", "Lower Saxby, Ohio", "Ohio"]);
        let names_in = texts("He joined the Guild of Arms.", |k| *k == Kind::Name);
        assert_eq!(names_in, ["Guild", "Guild of Arms", "Arms"]);
    }

    #[test]
    fn values_quotes_and_phrases_are_distinguished() {
        let text = "Her Danish novel \"Low Tide\" of 3 May 1974 sold 40 copies in a small town.";
        assert_eq!(texts(text, |k| *k == Kind::Quoted), ["Low Tide"]);
        assert_eq!(texts(text, |k| *k == Kind::Country), ["Danish"]);
        assert_eq!(texts(text, |k| matches!(k, Kind::Date(_))), ["3 May 1974"]);
        assert_eq!(texts(text, |k| matches!(k, Kind::Year(_))), ["1974"]);
        assert!(texts(text, |k| *k == Kind::Phrase).contains(&"small town".to_owned()));
    }
}

#[cfg(test)]
mod names_tests {
    use super::*;

    fn names_in(text: &str) -> Vec<String> {
        let lexicon = Lexicon::new();
        let sentence = Sentence::new(text, &lexicon);
        let spans = names(&sentence, &lexicon);
        spans.iter().map(|span| sentence.slice(&span.words).to_owned()).collect()
    }

    #[test]
    fn a_given_name_keeps_its_second_half() {
        assert_eq!(names_in("It belongs to Pak Min-ho now."), ["Pak Min-ho"]);
        assert_eq!(names_in("The Oslo-born singer left."), ["Oslo"]);
        assert_eq!(names_in("A Leeds-based firm."), ["Leeds"]);
    }
}
