//! Names in questions and texts, and which passage names which.
use std::collections::HashSet;
use std::ops::Range;

use crate::lexicon::Lexicon;
use crate::spans::Kind;
use crate::spans::names;
use crate::words::Sentence;

/// A title without what stands in brackets after it.
pub(crate) fn plain_title(title: &str) -> &str {
    title.split(" (").next().unwrap_or(title).trim()
}

/// Whether `text` names the thing of this title, as a whole run of words.
pub(crate) fn mentions(text: &str, title: &str) -> bool {
    let title = plain_title(title);
    if title.chars().count() < 3 {
        return false;
    }
    let (text, title) = (folded(text), folded(title));
    text.contains(&title)
}

/// Lower-case words with one blank around each.
fn folded(text: &str) -> String {
    let mut out = String::from(" ");
    for range in crate::words::split(text) {
        out.push_str(&text[range].to_lowercase());
        out.push(' ');
    }
    out
}

/// The things the text names, without countries.
pub(crate) fn named_things(text: &str, lexicon: &Lexicon) -> Vec<String> {
    let mut seen = HashSet::new();
    let sentence = Sentence::new(text, lexicon);
    let names = things(&sentence, lexicon).into_iter().map(|(_, name)| name);
    names.filter(|name| seen.insert(name.clone())).collect()
}

/// The whole names of a sentence with the word each begins at; of names that overlap the longest.
fn things(sentence: &Sentence, lexicon: &Lexicon) -> Vec<(usize, String)> {
    let mut things: Vec<(Range<usize>, String)> = vec![];
    for span in names(sentence, lexicon) {
        let first = &sentence.words[span.words.start];
        let within = things.iter().any(|(words, _)| words.end >= span.words.end);
        let lone = span.words.len() == 1 && (span.words.start == 0 || first.stop);
        if span.kind == Kind::Name && !within && !lone {
            // `Oslo, Norway` takes the place of `Oslo`.
            things.retain(|(words, _)| words.start != span.words.start);
            things.push((span.words.clone(), sentence.slice(&span.words).to_owned()));
        }
    }
    things.into_iter().map(|(words, name)| (words.start, name)).collect()
}

/// The things the text names, those first that stand nearest to one of the words.
pub(crate) fn things_near(text: &str, words: &HashSet<String>, lexicon: &Lexicon) -> Vec<String> {
    let mut nearest: Vec<(usize, String)> = vec![];
    for range in halma_core::text::sentences(text) {
        let sentence = Sentence::new(&text[range], lexicon);
        let cues: Vec<usize> = (0..sentence.words.len())
            .filter(|i| words.contains(&sentence.words[*i].stem))
            .collect();
        for (at, name) in things(&sentence, lexicon) {
            let away = cues.iter().map(|cue| cue.abs_diff(at)).min().unwrap_or(usize::MAX);
            match nearest.iter_mut().find(|(_, other)| *other == name) {
                Some((least, _)) => *least = away.min(*least),
                None => nearest.push((away, name)),
            }
        }
    }
    nearest.sort_by_key(|(away, _)| *away);
    nearest.into_iter().map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_found_as_whole_words_and_without_its_brackets() {
        assert!(mentions("It was cut by Mara Quill's team.", "Mara Quill (editor)"));
        assert!(!mentions("It was cut by Mara Quillon.", "Mara Quill"));
    }

    #[test]
    fn named_things_are_whole_names() {
        assert_eq!(
            named_things(
                "Which river did Mara Quill of Lower Saxby paint in Low Tide?",
                &Lexicon::new()
            ),
            ["Mara Quill of Lower Saxby", "Low Tide"]
        );
    }
}
