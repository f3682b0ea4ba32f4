//! Spans of a sentence that could be an answer: names, titles in quotes, dates, numbers and noun
//! phrases.
use std::ops::Range;

use super::lexicon::Lexicon;
use super::values::{Value, value_at};
use super::words::{Sentence, Shape};

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    Name,
    /// A country or the word for its people.
    Country,
    Quoted,
    Date(f64),
    Year(f64),
    Number(f64),
    /// A number with the word after it.
    Measure(f64),
    Phrase,
}

/// A run of words of one sentence.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Span {
    pub(crate) words: Range<usize>,
    pub(crate) kind: Kind,
}

/// Words that may stand in lower case inside a name, if a capital follows.
const PARTICLES: &[&str] = &[
    "of", "the", "de", "van", "von", "der", "den", "la", "le", "du", "del", "di", "da", "al", "el",
    "bin", "ibn", "y", "and", "for", "in", "dos", "das",
];

/// Particles that join so loosely that the name without them is offered as well.
const LOOSE: &[&str] = &["and", "for", "in", "of", "the"];

/// The longest noun phrase, in words.
const LONGEST_PHRASE: usize = 5;

/// All spans of the sentence, in order of their beginning.
pub(crate) fn spans(sentence: &Sentence, lexicon: &Lexicon) -> Vec<Span> {
    let mut found = quoted(sentence);
    found.extend(names(sentence, lexicon));
    found.extend(values(sentence));
    found.extend(phrases(sentence));
    found.sort_by_key(|span| (span.words.start, span.words.end));
    found.dedup_by(|b, a| a.words == b.words);
    found
}

/// Whether word `at` can open a name: `The` and its like cannot at the head of a sentence.
fn opens_name(sentence: &Sentence, at: usize) -> bool {
    let word = &sentence.words[at];
    word.shape == Shape::Capital && !(word.stop && (at == 0 || word.range.len() < 3))
}

/// Capitalised runs, whole and split at loose particles, and joined over one comma.
pub(crate) fn names(sentence: &Sentence, lexicon: &Lexicon) -> Vec<Span> {
    let mut runs: Vec<Range<usize>> = vec![];
    let mut at = 0;
    while at < sentence.words.len() {
        if opens_name(sentence, at) && value_at(sentence, at).is_none() {
            let end = end_of_name(sentence, at);
            runs.push(at..end);
            at = end;
        } else {
            at += 1;
        }
    }
    let mut all = vec![];
    for (i, run) in runs.iter().enumerate() {
        all.push(run.clone());
        all.extend(split_loose(sentence, run));
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

fn end_of_name(sentence: &Sentence, start: usize) -> usize {
    let mut end = start + 1;
    while end < sentence.words.len() && joined(sentence, end - 1) {
        let mut next = end;
        while next < sentence.words.len()
            && next < end + 3
            && sentence.words[next].shape == Shape::Lower
            && PARTICLES.contains(&sentence.word(next))
            && sentence.gap(next) == " "
        {
            next += 1;
        }
        let goes_on = next < sentence.words.len()
            && match sentence.words[next].shape {
                Shape::Capital => true,
                Shape::Digit => next == end && sentence.word(next).len() < 4,
                Shape::Lower => false,
            };
        if !goes_on {
            break;
        }
        end = next + 1;
    }
    end
}

/// Whether nothing but a blank, a hyphen, an apostrophe or an initial's stop follows the word.
fn joined(sentence: &Sentence, at: usize) -> bool {
    let gap = sentence.gap(at);
    let initial = sentence.word(at).chars().count() <= 2
        || ["Jr", "Sr", "St", "Dr", "Mr", "Mrs", "Mt", "Ft"].contains(&sentence.word(at));
    [" ", "-", " & ", "/", "–", "'", "’", ": "].contains(&gap) || (gap == ". " && initial)
}

fn split_loose(sentence: &Sentence, run: &Range<usize>) -> Vec<Range<usize>> {
    let mut parts = vec![];
    let mut start = run.start;
    for at in run.clone() {
        let loose = sentence.words[at].shape == Shape::Lower && LOOSE.contains(&sentence.word(at));
        if loose {
            if start < at {
                parts.push(start..at);
            }
            start = at + 1;
        }
    }
    if start > run.start && start < run.end {
        parts.push(start..run.end);
    }
    parts
}

fn values(sentence: &Sentence) -> Vec<Span> {
    let mut found = vec![];
    let mut at = 0;
    while at < sentence.words.len() {
        let Some((words, value)) = value_at(sentence, at) else {
            at += 1;
            continue;
        };
        let end = words.end;
        match value {
            Value::Date(when) => {
                found.push(Span { words: words.clone(), kind: Kind::Date(when) });
                found.push(Span { words: end - 1..end, kind: Kind::Year(when.floor()) });
            }
            Value::Year(when) => found.push(Span { words, kind: Kind::Year(when) }),
            Value::Number(amount) => {
                if measured(sentence, end) {
                    found.push(Span { words: words.start..end + 1, kind: Kind::Measure(amount) });
                }
                found.push(Span { words, kind: Kind::Number(amount) });
            }
        }
        at = end;
    }
    found
}

/// Whether a unit or a counted thing follows.
fn measured(sentence: &Sentence, at: usize) -> bool {
    at < sentence.words.len()
        && [" ", "-"].contains(&sentence.gap(at - 1))
        && sentence.words[at].shape == Shape::Lower
        && !sentence.words[at].stop
}

fn quoted(sentence: &Sentence) -> Vec<Span> {
    let mut found = vec![];
    let mut open: Option<usize> = None;
    let mut straight = false;
    for (i, c) in sentence.text.char_indices() {
        let opens = c == '“' || (c == '"' && !straight);
        let closes = c == '”' || (c == '"' && straight);
        if c == '"' {
            straight = !straight;
        }
        if opens {
            open = Some(i);
        } else if closes {
            let Some(start) = open.take() else { continue };
            let from = sentence.words.partition_point(|word| word.range.start < start);
            let to = sentence.words.partition_point(|word| word.range.end <= i);
            if from < to && to - from < 12 {
                found.push(Span { words: from..to, kind: Kind::Quoted });
            }
        }
    }
    found
}

/// Runs of words that say something, with at least one in lower case.
fn phrases(sentence: &Sentence) -> Vec<Span> {
    let part = |at: usize| {
        let word = &sentence.words[at];
        !word.stop && (word.shape != Shape::Digit || word.range.len() > 4)
    };
    let mut found = vec![];
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
                found.push(Span { words: from..at, kind: Kind::Phrase });
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, wanted: fn(&Kind) -> bool) -> Vec<String> {
        let lexicon = Lexicon::new();
        let sentence = Sentence::new(text, &lexicon);
        let found = spans(&sentence, &lexicon).into_iter().filter(|span| wanted(&span.kind));
        found.map(|span| sentence.slice(&span.words).to_owned()).collect()
    }

    #[test]
    fn names_keep_their_particles_and_are_offered_in_parts() {
        let found = of("The mill of J. Brandt lies in Lower Saxby, Ohio.", |k| *k == Kind::Name);
        assert_eq!(found, ["J. Brandt", "Lower Saxby", "Lower Saxby, Ohio", "Ohio"]);
        let found = of("He joined the Guild of Arms.", |k| *k == Kind::Name);
        assert_eq!(found, ["Guild", "Guild of Arms", "Arms"]);
    }

    #[test]
    fn values_quotes_and_phrases_are_told_apart() {
        let text = "Her Danish novel \"Low Tide\" of 3 May 1974 sold 40 copies in a small town.";
        assert_eq!(of(text, |k| *k == Kind::Quoted), ["Low Tide"]);
        assert_eq!(of(text, |k| *k == Kind::Country), ["Danish"]);
        assert_eq!(of(text, |k| matches!(k, Kind::Date(_))), ["3 May 1974"]);
        assert_eq!(of(text, |k| matches!(k, Kind::Year(_))), ["1974"]);
        assert_eq!(of(text, |k| matches!(k, Kind::Measure(_))), ["40 copies"]);
        assert!(of(text, |k| *k == Kind::Phrase).contains(&"small town".to_owned()));
    }
}
