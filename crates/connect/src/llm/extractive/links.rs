//! Names in questions and texts, and which passage names which.
use std::collections::HashSet;

use super::lexicon::Lexicon;
use super::spans::{Kind, names};
use super::words::Sentence;

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
    for range in super::words::split(text) {
        out.push_str(&text[range].to_lowercase());
        out.push(' ');
    }
    out
}

/// The things the text names, longest first where they overlap, without countries.
pub(crate) fn named_things(text: &str, lexicon: &Lexicon) -> Vec<String> {
    let sentence = Sentence::new(text, lexicon);
    let mut found: Vec<(std::ops::Range<usize>, String)> = vec![];
    for span in names(&sentence, lexicon) {
        let name = sentence.slice(&span.words);
        let within = found.iter().any(|(words, _)| words.end >= span.words.end);
        let lone = span.words.len() == 1 && (span.words.start == 0 || sentence.words[span.words.start].stop);
        if span.kind == Kind::Name && !within && !lone {
            // `Oslo, Norway` takes the place of `Oslo`.
            found.retain(|(words, _)| words.start != span.words.start);
            found.push((span.words.clone(), name.to_owned()));
        }
    }
    let mut seen = HashSet::new();
    found.into_iter().map(|(_, name)| name).filter(|name| seen.insert(name.clone())).collect()
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
            named_things("Which river did Mara Quill of Lower Saxby paint in Low Tide?", &Lexicon::new()),
            ["Mara Quill of Lower Saxby", "Low Tide"]
        );
    }
}
