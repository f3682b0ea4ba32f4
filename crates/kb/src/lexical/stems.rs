//! Stems that are remembered: finding one takes several times as long as looking one up, and few
//! words of a text have not been met before.
use std::collections::HashMap;

use tantivy::tokenizer::{
    Language, RawTokenizer, Stemmer, TextAnalyzer, Token, TokenFilter, TokenStream, Tokenizer,
};

/// Words that are remembered at most.
const MOST_WORDS: usize = 50_000;

/// Finds the stems of the words of one language.
#[derive(Clone)]
pub(super) struct Stems {
    stemmer: TextAnalyzer,
    known: HashMap<String, String>,
}

impl Stems {
    pub(super) fn new(language: Language) -> Self {
        let stemmer =
            TextAnalyzer::builder(RawTokenizer::default()).filter(Stemmer::new(language)).build();
        Self { stemmer, known: HashMap::new() }
    }

    /// The stem of a lower-cased word.
    pub(super) fn stem(&mut self, word: &str) -> &str {
        if !self.known.contains_key(word) {
            if self.known.len() >= MOST_WORDS {
                self.known.clear();
            }
            let mut stream = self.stemmer.token_stream(word);
            let stem = stream.next().map(|token| token.text.clone()).unwrap_or_default();
            drop(stream);
            self.known.insert(word.to_owned(), stem);
        }
        self.known.get(word).map_or("", String::as_str)
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
        let token = self.words.token_mut();
        let stem = self.stems.stem(&token.text);
        if stem != token.text {
            stem.clone_into(&mut token.text);
        }
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
    use crate::lexical::WordTokenizer;

    /// The same as the library's own filter gives, also after the memory was full.
    #[test]
    fn remembered_stems_are_those_of_the_stemmer() {
        let words = TextAnalyzer::builder(WordTokenizer::default());
        let mut plain = words.filter(Stemmer::new(Language::English)).build();
        let words = TextAnalyzer::builder(WordTokenizer::default());
        let mut stems = Stems::new(Language::English);
        for i in 0..MOST_WORDS - 3 {
            stems.stem(&format!("word{i}"));
        }
        let mut remembered = words.filter(stems).build();
        let text = "The generations of O'Brien's relations were relating it generously, \
                    running, runs and ran: relations 2 İstanbul 漢字 skies, dying, news.";
        let terms = |analyzer: &mut TextAnalyzer| {
            let mut terms = vec![];
            let mut stream = analyzer.token_stream(text);
            stream.process(&mut |token| terms.push(token.clone()));
            terms
        };
        let expected = terms(&mut plain);
        assert_eq!(terms(&mut remembered), expected);
        assert_eq!(terms(&mut remembered), expected);
    }
}
