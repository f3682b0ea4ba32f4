//! Which runs of words are one name or title.
use std::ops::Range;

use halma_core::text::{name_runs, quotes};

use crate::words::{Sentence, Shape};

/// Nouns that a title follows; every capitalised word after them belongs to it.
const WORKS: &[&str] = &[
    "film", "films", "movie", "movies", "song", "songs", "album", "book", "novel", "series",
    "show", "play", "opera", "poem", "single", "painting", "game",
];

/// Runs of words that are one name each, in order and without overlap.
pub(super) fn named(sentence: &Sentence) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = quotes(&sentence.plain);
    let separate = |found: &[Range<usize>], run: &Range<usize>| {
        found.iter().all(|other| run.end <= other.start || other.end <= run.start)
    };
    let titles = (1..sentence.words.len()).filter_map(|at| title(sentence, at));
    let runs = name_runs(&sentence.plain);
    for run in titles.chain(runs.iter().flat_map(|run| split_at_in(sentence, run))) {
        if separate(&found, &run) {
            found.push(run);
        }
    }
    found.sort_by_key(|run| run.start);
    found
}

/// The title that begins at a word after `film` and the like: every capitalised word, with the
/// small words between them.
fn title(sentence: &Sentence, at: usize) -> Option<Range<usize>> {
    let work = sentence.word(at - 1).to_lowercase();
    let large = |at: usize| sentence.words.get(at).is_some_and(|word| word.shape != Shape::Lower);
    if !WORKS.contains(&work.as_str()) || sentence.gap(at - 1) != " " || !large(at) {
        return None;
    }
    let mut end = at + 1;
    loop {
        let small = (end..end + 3).find(|&next| large(next)).filter(|&next| {
            (end..next).all(|i| sentence.words[i].stop)
                && (end - 1..next).all(|i| [" ", "-", ": ", "'", "’"].contains(&sentence.gap(i)))
        });
        match small {
            Some(next) => end = next + 1,
            None => return Some(at..end),
        }
    }
}

/// The parts of a run around `in`.
fn split_at_in(sentence: &Sentence, run: &Range<usize>) -> Vec<Range<usize>> {
    let mut parts = vec![];
    let mut start = run.start;
    for at in run.clone() {
        if sentence.word(at) == "in" {
            let mut end = at;
            while end > start && sentence.words[end - 1].shape == Shape::Lower {
                end -= 1;
            }
            parts.push(start..end.max(start + 1));
            start = at + 1;
            while start < run.end && sentence.words[start].shape == Shape::Lower {
                start += 1;
            }
        }
    }
    parts.push(start..run.end);
    parts.retain(|part| !part.is_empty());
    parts
}
