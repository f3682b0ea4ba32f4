//! A text as the terms that are indexed. The terms of words are remembered: finding one takes several
//! times as long as looking one up, and few words of a text have not been met shortly before.
use std::borrow::Cow;

use halma_core::text::spelling;
use tantivy::tokenizer::{
    AsciiFoldingFilter, Language, RawTokenizer, Stemmer, TextAnalyzer, Token, TokenStream,
    Tokenizer,
};

use super::{WordStream, WordTokenizer};

/// Words that are remembered, in 24 bytes each: less than the second cache of most processors holds.
const SLOTS: usize = 1 << 14;

/// Bytes of the longest word that is remembered.
const LONGEST: usize = 20;

/// Bytes of the longest end of a term that its word does not begin with.
const LONGEST_END: usize = 2;

/// A word, filled up with zeros.
type Padded = [u8; LONGEST];

fn padded(word: &[u8]) -> Option<Padded> {
    let mut padded = [0; LONGEST];
    padded.get_mut(..word.len())?.copy_from_slice(word);
    Some(padded)
}

/// A lower-cased word with its term, which is how the word begins and an end that may be empty; few
/// bytes, so that the table stays in the cache of a processor. Zeros at first.
#[derive(Clone, Copy, Default)]
struct KnownWord {
    word: Padded,
    beginning: u8,
    end_len: u8,
    end: [u8; LONGEST_END],
}

impl KnownWord {
    /// `None` for a term that cannot be remembered.
    fn new(word: Padded, term: &str) -> Option<Self> {
        let same = term.bytes().zip(word).take_while(|(a, b)| a == b).count();
        let beginning = term.floor_char_boundary(same);
        let tail = &term.as_bytes()[beginning..];
        let mut end = [0; LONGEST_END];
        end.get_mut(..tail.len())?.copy_from_slice(tail);
        let (beginning, end_len) = (u8::try_from(beginning).ok()?, u8::try_from(tail.len()).ok()?);
        Some(Self { word, beginning, end_len, end })
    }

    /// Appends the term.
    fn write_onto(&self, term: &mut String) {
        let beginning = &self.word[..usize::from(self.beginning)];
        let end = &self.end[..usize::from(self.end_len)];
        for part in [beginning, end] {
            term.push_str(str::from_utf8(part).expect("a term is cut between characters"));
        }
    }
}

/// Cuts a text into words and makes terms of them: lower case, no accents, English stems.
#[derive(Clone)]
pub(super) struct TermTokenizer {
    words: WordTokenizer,
    /// Takes accents and endings off a single word.
    stemmer: TextAnalyzer,
    /// Each word in the place of its hash, until another one takes it.
    cache: Box<[KnownWord]>,
}

pub(super) struct TermStream<'a> {
    text: Cow<'a, str>,
    /// Where it goes on.
    at: usize,
    terms: &'a mut TermTokenizer,
}

impl Default for TermTokenizer {
    fn default() -> Self {
        let stemmer = TextAnalyzer::builder(RawTokenizer::default())
            .filter(AsciiFoldingFilter)
            .filter(Stemmer::new(Language::English))
            .build();
        let cache = vec![KnownWord::default(); SLOTS].into();
        Self { words: WordTokenizer::default(), stemmer, cache }
    }
}

/// Where a word is remembered.
fn slot(word: &Padded) -> usize {
    let mix = |hash: u64, four: &[u8; 4]| {
        (hash.rotate_left(5) ^ u64::from(u32::from_le_bytes(*four)))
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
    };
    let (fours, _) = word.as_chunks::<4>();
    let hash = fours.iter().fold(0, mix);
    (hash >> 40) as usize % SLOTS
}

impl TermTokenizer {
    /// Puts the term of a lower-cased word into the token.
    fn set_term(&mut self, word: Padded, length: usize) {
        let place = slot(&word);
        let term = &mut self.words.token.text;
        term.clear();
        if self.cache[place].word == word && length > 0 {
            self.cache[place].write_onto(term);
            return;
        }
        term.push_str(str::from_utf8(&word[..length]).expect("a word is cut between characters"));
        self.stem();
        if let Some(entry) = KnownWord::new(word, &self.words.token.text) {
            self.cache[place] = entry;
        }
    }

    /// Makes the term of the word in the token.
    fn stem(&mut self) {
        let mut stream = self.stemmer.token_stream(&self.words.token.text);
        let term = stream.next().map(|token| token.text.clone()).unwrap_or_default();
        drop(stream);
        self.words.token.text = term;
    }
}

impl Tokenizer for TermTokenizer {
    type TokenStream<'a> = TermStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> TermStream<'a> {
        self.words.token.reset();
        TermStream { text: spelling(text), at: 0, terms: self }
    }
}

impl TermStream<'_> {
    /// The end of a word of Latin letters and digits that begins here, in bytes; `None` where it is
    /// longer than what is remembered, or what follows may be a part of it.
    fn end_of_plain_word(&self, start: usize) -> Option<usize> {
        let rest = &self.text.as_bytes()[start..];
        let length =
            rest.iter().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let ends = rest.get(length).is_none_or(|next| next.is_ascii() && *next != b'\'');
        (ends && (1..=LONGEST).contains(&length)).then_some(start + length)
    }
}

impl TokenStream for TermStream<'_> {
    fn advance(&mut self) -> bool {
        let rest = &self.text.as_bytes()[self.at..];
        let may_begin = |byte: &u8| byte.is_ascii_alphanumeric() || !byte.is_ascii();
        let Some(start) = rest.iter().position(may_begin).map(|place| self.at + place) else {
            self.at = self.text.len();
            return false;
        };
        if let Some(end) = self.end_of_plain_word(start) {
            let mut word = Padded::default();
            word[..end - start].copy_from_slice(&self.text.as_bytes()[start..end]);
            word.make_ascii_lowercase();
            self.terms.set_term(word, end - start);
            let token = &mut self.terms.words.token;
            token.position = token.position.wrapping_add(1);
            (token.offset_from, token.offset_to) = (start, end);
            self.at = end;
            return true;
        }
        let token = &mut self.terms.words.token;
        let mut word = WordStream { text: Cow::Borrowed(&self.text), at: start, token };
        if !word.advance() {
            self.at = self.text.len();
            return false;
        }
        self.at = word.at;
        let token = &mut self.terms.words.token;
        match padded(token.text.as_bytes()) {
            Some(word) => {
                let length = token.text.len();
                self.terms.set_term(word, length);
            }
            None => self.terms.stem(),
        }
        true
    }

    fn token(&self) -> &Token {
        &self.terms.words.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.terms.words.token
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use proptest::prelude::*;

    use super::*;
    use crate::terms::query_analyzer;

    fn tokens(analyzer: &mut TextAnalyzer, text: &str) -> Vec<Token> {
        let mut tokens = vec![];
        analyzer.token_stream(text).process(&mut |token| tokens.push(token.clone()));
        tokens
    }

    fn analyzer() -> TextAnalyzer {
        TextAnalyzer::builder(TermTokenizer::default()).build()
    }

    /// The same as the library's own filters give, also of words that take each other's place.
    #[test]
    fn remembered_terms_are_those_of_the_stemmer() {
        let mut text = "The generations of O'Brien's relations were relating it generously, \
                        running, runs and ran: relations 2 İstanbul 漢字 skies, dying, news, \
                        antidisestablishmentarianisms, counterrevolutionaries; naïve cafe\u{301}s. "
            .to_owned();
        for i in 0..3 * SLOTS {
            text.push_str(["walking", "relations", "Éléments"][i % 3]);
            let _ = write!(text, "{} generations walks{i}ing ", i % 7);
        }
        let expected = tokens(&mut query_analyzer(), &text);
        let mut remembering = analyzer();
        assert!(tokens(&mut remembering, &text) == expected);
        assert!(tokens(&mut remembering, &text) == expected);
    }

    proptest! {
        #[test]
        fn any_text_has_the_terms_of_the_stemmer(text in "\\PC{0,60}", twice in "[a-zé' ’\u{301}漢字0-9.İß]{0,60}") {
            let mut remembering = analyzer();
            for text in [&text, &twice, &twice] {
                prop_assert_eq!(tokens(&mut remembering, text), tokens(&mut query_analyzer(), text));
            }
        }
    }
}
