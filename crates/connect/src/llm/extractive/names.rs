//! Names: capitalised runs of words with the small words inside them.
use std::ops::Range;

use super::lexicon::Lexicon;
use super::spans::{Kind, Span};
use super::values::value_at;
use super::words::{Sentence, Shape};

/// Words that may stand in lower case inside a name, if a capital follows.
const PARTICLES: &[&str] = &[
    "of", "the", "de", "van", "von", "der", "den", "la", "le", "du", "del", "di", "da", "al", "el",
    "bin", "ibn", "y", "and", "for", "in", "dos", "das",
];

/// Particles that join so loosely that the name without them is offered as well.
const LOOSE: &[&str] = &["and", "for", "in", "of", "the"];

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
                Shape::Lower => next == end && hyphened(sentence, end),
            };
        if !goes_on {
            break;
        }
        end = next + 1;
    }
    end
}

/// What makes an adjective of a name it is joined to: `Oslo-born`.
const ADJECTIVES: &[&str] = &["born", "era", "led", "like", "made", "old", "run", "wide"];

/// Whether the word is the second half of a given name, as in `Min-ho`.
fn hyphened(sentence: &Sentence, at: usize) -> bool {
    let word = sentence.word(at);
    sentence.gap(at - 1) == "-" && word.chars().count() <= 4 && !ADJECTIVES.contains(&word)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let lexicon = Lexicon::new();
        let sentence = Sentence::new(text, &lexicon);
        let spans = names(&sentence, &lexicon);
        spans.iter().map(|span| sentence.slice(&span.words).to_owned()).collect()
    }

    #[test]
    fn a_given_name_keeps_its_second_half() {
        assert_eq!(found("It belongs to Pak Min-ho now."), ["Pak Min-ho"]);
        assert_eq!(found("The Oslo-born singer left."), ["Oslo"]);
        assert_eq!(found("A Leeds-based firm."), ["Leeds"]);
    }
}
