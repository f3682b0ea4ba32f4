//! Stems that are remembered: finding one takes several times as long as looking one up, and few
//! words of a text have not been met shortly before.
use tantivy::tokenizer::{
    Language, RawTokenizer, Stemmer, TextAnalyzer, Token, TokenFilter, TokenStream, Tokenizer,
};

use super::term_hash;

/// Words that are remembered: as many as fit into the cache of a processor. A larger table is slower
/// than the stemmer.
const SLOTS: usize = 4096;

/// Bytes of the longest word that is remembered.
const LONGEST: usize = 24;

/// A word, filled up with zeros.
type Padded = [u8; LONGEST];

fn padded(word: &str) -> Option<Padded> {
    let mut padded = [0; LONGEST];
    padded.get_mut(..word.len())?.copy_from_slice(word.as_bytes());
    Some(padded)
}

/// A word with its stem; the empty one at first.
#[derive(Clone, Copy, Default)]
struct StemmedWord {
    word: Padded,
    stem: Padded,
}

/// Finds the stems of the words of one language.
#[derive(Clone)]
pub(super) struct Stems {
    stemmer: TextAnalyzer,
    /// Each word in the place of its hash, until another one takes it.
    known: Box<[StemmedWord]>,
}

impl Stems {
    pub(super) fn new(language: Language) -> Self {
        let stemmer =
            TextAnalyzer::builder(RawTokenizer::default()).filter(Stemmer::new(language)).build();
        Self { stemmer, known: vec![StemmedWord::default(); SLOTS].into() }
    }

    /// Puts its stem in the place of a lower-cased word.
    pub(super) fn stem(&mut self, word: &mut String) {
        let Some(key) = padded(word) else {
            *word = self.find(word);
            return;
        };
        let place = term_hash(word) as usize % SLOTS;
        if self.known[place].word != key {
            let stem = self.find(word);
            if let Some(stem) = padded(&stem) {
                self.known[place] = StemmedWord { word: key, stem };
            }
            *word = stem;
            return;
        }
        let stem = self.known[place].stem;
        let length = stem.iter().position(|byte| *byte == 0).unwrap_or(LONGEST);
        if stem != key {
            let stem = str::from_utf8(&stem[..length]).expect("a stem is stored as a whole");
            stem.clone_into(word);
        }
    }

    fn find(&mut self, word: &str) -> String {
        let mut stream = self.stemmer.token_stream(word);
        stream.next().map(|token| token.text.clone()).unwrap_or_default()
    }
}

impl TokenFilter for Stems {
    type Tokenizer<T: Tokenizer> = StemTokenizer<T>;

    fn transform<T: Tokenizer>(self, words: T) -> StemTokenizer<T> {
        StemTokenizer { words, stems: self }
    }
}

/// The words of another tokenizer as stems.
#[derive(Clone)]
pub(super) struct StemTokenizer<T> {
    words: T,
    stems: Stems,
}

pub(super) struct StemStream<'a, S> {
    words: S,
    stems: &'a mut Stems,
}

impl<T: Tokenizer> Tokenizer for StemTokenizer<T> {
    type TokenStream<'a> = StemStream<'a, T::TokenStream<'a>>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Self::TokenStream<'a> {
        StemStream { words: self.words.token_stream(text), stems: &mut self.stems }
    }
}

impl<S: TokenStream> TokenStream for StemStream<'_, S> {
    fn advance(&mut self) -> bool {
        if !self.words.advance() {
            return false;
        }
        self.stems.stem(&mut self.words.token_mut().text);
        true
    }

    fn token(&self) -> &Token {
        self.words.token()
    }

    fn token_mut(&mut self) -> &mut Token {
        self.words.token_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write as _;

    use crate::lexical::WordTokenizer;

    /// The same as the library's own filter gives, also of words that take each other's place.
    #[test]
    fn remembered_stems_are_those_of_the_stemmer() {
        let words = || TextAnalyzer::builder(WordTokenizer::default());
        let mut plain = words().filter(Stemmer::new(Language::English)).build();
        let mut remembered = words().filter(Stems::new(Language::English)).build();
        let mut text = "The generations of O'Brien's relations were relating it generously, \
                        running, runs and ran: relations 2 İstanbul 漢字 skies, dying, news, \
                        antidisestablishmentarianisms, counterrevolutionaries. "
            .to_owned();
        for i in 0..3 * SLOTS {
            text.push_str(["walking", "relations", "news"][i % 3]);
            let _ = write!(text, "{} generations walks{i}ing ", i % 7);
        }
        let terms = |analyzer: &mut TextAnalyzer| {
            let mut terms = vec![];
            let mut stream = analyzer.token_stream(&text);
            stream.process(&mut |token| terms.push(token.clone()));
            terms
        };
        let expected = terms(&mut plain);
        assert!(terms(&mut remembered) == expected && terms(&mut remembered) == expected);
    }
}
