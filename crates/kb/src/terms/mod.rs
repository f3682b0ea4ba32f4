//! How a text becomes terms, and a name the form in which names are compared.
mod languages;
mod names;
mod tokenizer;

pub(crate) use languages::{Languages, TermHashes, has_stemmer};
pub(crate) use names::{
    PARTICLES, abbreviates, acronyms, form, is_abbreviation, occurs, occurs_somehow,
};
use tokenizer::TermTokenizer;

use std::str::CharIndices;

use halma_core::text::{is_cjk, is_stop_word};
use tantivy::tokenizer::{
    AsciiFoldingFilter, Language, RawTokenizer, Stemmer, TextAnalyzer, Token, TokenStream,
    Tokenizer,
};

/// A query uses at most this many different terms: a megabyte of text is not a better query.
const QUERY_TERMS: usize = 64;

/// A longer run of letters is cut: it is not a word.
const LONGEST: usize = 64;

/// Lower case, no accents, English stems; every CJK character is a term of its own. For texts of
/// languages that have no stemmer, or are not known.
pub(crate) fn analyzer() -> TextAnalyzer {
    TextAnalyzer::builder(TermTokenizer::default()).build()
}

/// As [`analyzer`], for a few words: it remembers none, and is made in no time.
pub(crate) fn query_analyzer() -> TextAnalyzer {
    TextAnalyzer::builder(WordTokenizer::default())
        .filter(AsciiFoldingFilter)
        .filter(Stemmer::new(Language::English))
        .build()
}

/// The different terms of a query without stop words, unless it has nothing else.
pub(crate) fn query_terms(text: &str) -> Vec<String> {
    let mut plain =
        TextAnalyzer::builder(WordTokenizer::default()).filter(AsciiFoldingFilter).build();
    let mut stemmer = TextAnalyzer::builder(RawTokenizer::default())
        .filter(Stemmer::new(Language::English))
        .build();
    let (mut terms, mut stops): (Vec<String>, Vec<String>) = (vec![], vec![]);
    let mut stream = plain.token_stream(text);
    while terms.len() < QUERY_TERMS
        && let Some(word) = stream.next().map(|token| token.text.clone())
    {
        let mut stem = word.clone();
        stemmer.token_stream(&word).process(&mut |token| stem.clone_from(&token.text));
        let list = if is_stop_word(&word) { &mut stops } else { &mut terms };
        if list.len() < QUERY_TERMS && !list.contains(&stem) {
            list.push(stem);
        }
    }
    if terms.is_empty() { stops } else { terms }
}

/// A small hash of a term (FNV-1a), for telling terms of one text apart.
pub(crate) fn term_hash(term: &str) -> u32 {
    let mix = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    term.bytes().fold(0x811c_9dc5, mix)
}

/// Cuts a text into lower-cased words.
#[derive(Clone, Default)]
struct WordTokenizer {
    token: Token,
}

struct WordStream<'a> {
    chars: std::iter::Peekable<CharIndices<'a>>,
    token: &'a mut Token,
}

impl Tokenizer for WordTokenizer {
    type TokenStream<'a> = WordStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> WordStream<'a> {
        self.token.reset();
        WordStream { chars: text.char_indices().peekable(), token: &mut self.token }
    }
}

impl TokenStream for WordStream<'_> {
    fn advance(&mut self) -> bool {
        let token = &mut *self.token;
        token.text.clear();
        token.position = token.position.wrapping_add(1);
        let Some((start, first)) = self.chars.find(|(_, c)| c.is_alphanumeric()) else {
            return false;
        };
        token.offset_from = start;
        token.offset_to = start + first.len_utf8();
        push_lower(first, &mut token.text);
        if is_cjk(first) {
            return true;
        }
        while let Some((at, c)) = self.chars.peek().copied() {
            // `O'Brien` and `film's` are one word; the stemmer takes the ending off.
            let apostrophe = matches!(c, '\'' | '’');
            let goes_on = c.is_alphanumeric() && !is_cjk(c) || apostrophe || is_mark(c);
            if !goes_on || token.text.len() >= LONGEST {
                break;
            }
            self.chars.next();
            token.offset_to = at + c.len_utf8();
            if apostrophe {
                token.text.push('\'');
            } else if !is_mark(c) {
                push_lower(c, &mut token.text);
            }
        }
        let kept = token.text.trim_end_matches('\'').len();
        token.text.truncate(kept);
        true
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}

fn push_lower(c: char, into: &mut String) {
    if c.is_ascii() {
        into.push(c.to_ascii_lowercase());
    } else {
        into.extend(c.to_lowercase().filter(|c| !is_mark(*c)));
    }
}

/// A combining accent: `e` + U+0301 is the same as `é`.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn terms(text: &str) -> Vec<String> {
        let mut terms = vec![];
        analyzer().token_stream(text).process(&mut |token| terms.push(token.text.clone()));
        terms
    }

    #[test]
    fn words_are_folded_and_stemmed() {
        assert_eq!(
            terms("The Director's FILMS, naïve cafe\u{301}"),
            ["the", "director", "film", "naiv", "cafe"]
        );
        assert_eq!(terms("他来了 カタ 1975-06"), ["他", "来", "了", "カ", "タ", "1975", "06"]);
    }

    #[test]
    fn stop_words_are_dropped_from_queries_that_have_others() {
        assert_eq!(query_terms("Who directed the films of the films?"), ["direct", "film"]);
        assert_eq!(query_terms("Who is it?"), ["who", "is", "it"]);
        assert!(query_terms("?!").is_empty());
        let long = (0..100_000).map(|i| format!("w{i}")).collect::<Vec<_>>().join(" ");
        assert_eq!(query_terms(&long).len(), QUERY_TERMS);
    }

    proptest! {
        #[test]
        fn a_text_and_the_query_of_its_words_have_the_same_terms(text in "\\PC{0,40}") {
            let text_terms = terms(&text);
            for term in query_terms(&text) {
                prop_assert!(text_terms.contains(&term), "{} is not in {:?}", term, text_terms);
            }
        }
    }
}
