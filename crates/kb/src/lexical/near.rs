//! Terms in the place of a word that no document has: of the English word for an everyday word of
//! another language, or of the spelling that is nearest.
use crate::terms::{query_analyzer, query_terms};
use tantivy::query::FuzzyTermQuery;
use tantivy::schema::Field;
use tantivy::{Searcher, Term};

/// `English word: words of other languages`.
const TRANSLATIONS: &str = include_str!("translations.txt");

/// Letters of the shortest term that is read as a misspelled one.
const SHORTEST: usize = 4;

/// The terms of a word, or others in their place where no document has one of them.
pub(super) fn terms_of(
    word: Vec<String>,
    text: Field,
    searcher: &Searcher,
) -> tantivy::Result<Vec<String>> {
    let count = |term: &String| searcher.doc_freq(&Term::from_field_text(text, term));
    for term in &word {
        if count(term)? > 0 {
            return Ok(word);
        }
    }
    let Some(first) = word.first() else { return Ok(word) };
    let mut others = translations(first);
    if others.is_empty() {
        others = nearest(first, text, searcher)?;
    }
    let mut counted = vec![];
    for term in others {
        counted.push((count(&term)?, term));
    }
    let best = counted.into_iter().filter(|(count, _)| *count > 0).max();
    Ok(best.map_or(word, |(_, term)| vec![term]))
}

/// The terms of English words for a term of another language.
fn translations(term: &str) -> Vec<String> {
    let mut analyzer = query_analyzer();
    let mut is_term = |word: &str| {
        let mut same = false;
        analyzer.token_stream(word).process(&mut |token| same |= token.text == term);
        same
    };
    let lines = TRANSLATIONS.lines().filter_map(|line| line.split_once(": "));
    let english = lines.filter(|(_, foreign)| foreign.split(' ').any(&mut is_term));
    english.flat_map(|(english, _)| query_terms(english)).collect()
}

/// The terms of the index that differ from a term by a letter left out, one too many, or two that
/// changed places, and begin as it does. Another letter makes another name.
fn nearest(term: &str, text: Field, searcher: &Searcher) -> tantivy::Result<Vec<String>> {
    let is_word = term.chars().count() >= SHORTEST && term.chars().all(char::is_alphabetic);
    let mut similar = vec![];
    if !is_word {
        return Ok(similar);
    }
    let query = FuzzyTermQuery::new(Term::from_field_text(text, term), 1, true);
    for segment in searcher.segment_readers() {
        let index = segment.inverted_index(text)?;
        let mut near = index.terms().search(query.automaton()?).into_stream()?;
        while near.advance() {
            let other = String::from_utf8_lossy(near.key()).into_owned();
            let is_mistyped = other.len() != term.len() || letters(&other) == letters(term);
            if is_mistyped && other.chars().next() == term.chars().next() {
                similar.push(other);
            }
        }
    }
    Ok(similar)
}

fn letters(word: &str) -> Vec<char> {
    let mut letters: Vec<char> = word.chars().collect();
    letters.sort_unstable();
    letters
}

#[cfg(test)]
mod tests {

    use halma_core::Layer;

    use super::*;
    use crate::lexical::{IndexedText, LexicalIndex, LexicalQuery};

    #[test]
    fn a_word_that_no_document_has_is_searched_for_as_it_was_meant() {
        let texts = ["Mill of Brandt, founded 1901", "Ripley mends the coffee machine"];
        let texts = (0..).zip(texts).map(|(row, text)| IndexedText {
            row,
            text: text.to_owned(),
            language: None,
        });
        let index =
            LexicalIndex::in_memory(Layer::Chunk, texts, std::sync::Arc::default()).unwrap();
        let rows = |text: &str| -> Vec<u32> {
            let hits = index.search(&LexicalQuery::plain(text), 5, None).unwrap();
            hits.into_iter().map(|(row, _)| row).collect()
        };
        for (text, expected) in [
            ("cofee", vec![1]),
            ("Barndt", vec![0]),
            ("gegründet", vec![0]),
            ("Ridley", vec![]),
            ("mils", vec![]),
        ] {
            assert_eq!(rows(text), expected, "{text}");
        }
    }

    #[test]
    fn everyday_words_have_an_english_one() {
        for (word, english) in
            [("gegründet", "found"), ("fondée", "found"), ("cuesta", "price"), ("Miete", "rent")]
        {
            let term = query_terms(word).remove(0);
            assert!(translations(&term).contains(&english.to_owned()), "{word}: {term}");
        }
        assert!(translations("walk").is_empty());
    }
}
