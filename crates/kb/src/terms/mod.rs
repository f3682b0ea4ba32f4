//! How a text becomes terms, and a name the form in which names are compared.
mod languages;
mod names;
mod tokenizer;

pub(crate) use languages::{Languages, TermHashes, has_stemmer};
pub(crate) use names::{
    PARTICLES, abbreviates, acronyms, form, is_abbreviation, occurs, occurs_somehow,
};
use tokenizer::TermTokenizer;

use std::borrow::Cow;

use halma_core::text::{is_cjk, is_stop_word, spelling};
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
pub(crate) struct WordTokenizer {
    token: Token,
}

pub(crate) struct WordStream<'a> {
    text: Cow<'a, str>,
    /// Where it goes on.
    at: usize,
    token: &'a mut Token,
}

impl Tokenizer for WordTokenizer {
    type TokenStream<'a> = WordStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> WordStream<'a> {
        self.token.reset();
        WordStream { text: spelling(text), at: 0, token: &mut self.token }
    }
}

impl TokenStream for WordStream<'_> {
    fn advance(&mut self) -> bool {
        let token = &mut *self.token;
        token.text.clear();
        token.position = token.position.wrapping_add(1);
        let mut chars = self.text[self.at..].chars();
        let Some(first) = chars.find(|c| c.is_alphanumeric()) else {
            self.at = self.text.len();
            return false;
        };
        self.at = self.text.len() - chars.as_str().len();
        token.offset_from = self.at - first.len_utf8();
        push_lower(first, &mut token.text);
        for c in chars.take_while(|_| !is_cjk(first)) {
            // `O'Brien` and `film's` are one word; the stemmer takes the ending off.
            let apostrophe = matches!(c, '\'' | '’');
            let goes_on = c.is_alphanumeric() && !is_cjk(c) || apostrophe;
            if !goes_on || token.text.len() >= LONGEST {
                break;
            }
            self.at += c.len_utf8();
            if apostrophe {
                token.text.push('\'');
            } else {
                push_lower(c, &mut token.text);
            }
        }
        token.offset_to = self.at;
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
        // The small letter of `İ` is an `i` and an accent.
        into.extend(c.to_lowercase().filter(|c| !matches!(c, '\u{300}'..='\u{36f}')));
    }
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

    /// Whether a text has every term of a query.
    fn finds(query: &str, text: &str) -> bool {
        let text = terms(text);
        let query = query_terms(query);
        !query.is_empty() && query.iter().all(|term| text.contains(term))
    }

    #[test]
    fn hyphens_and_joiners_that_are_not_shown_do_not_change_a_word() {
        for (query, text) in [
            ("Querbalkenwerk", "das Quer\u{ad}balken\u{ad}werk"),
            ("zusammen\u{ad}arbeit", "Zusammen\u{200b}arbeit"),
            ("wordjoiner", "\u{feff}word\u{2060}joiner"),
        ] {
            assert!(finds(query, text), "{query:?} in {text:?}");
        }
    }

    #[test]
    fn points_and_marks_do_not_change_a_word() {
        for (query, text) in [
            ("שלום", "שָׁלוֹם עֲלֵיכֶם"),
            ("مُحَمَّد", "كتاب محمد"),
            ("محمد", "مـحـمـد"),
            ("йод", "и\u{306}од"),
            ("за\u{301}мок", "замок"),
            ("Mu\u{308}nchen", "in München"),
            ("が", "か\u{3099}"),
            ("한국", "\u{1112}\u{1161}\u{11ab}국"),
            ("Brandt 1931", "Ｂｒａｎｄｔ １９３１"),
        ] {
            assert!(finds(query, text) && finds(text, text), "{query:?} in {text:?}");
        }
    }

    #[test]
    fn powers_are_found_in_each_way_of_writing_and_are_no_other_numbers() {
        for (query, text) in [
            ("10^6", "2.5 x 10⁶ cells"),
            ("10⁶", "2.5 x 10^6 cells"),
            ("10⁶", "10⁶"),
            ("m2", "12 m²"),
            ("m^2", "12 m²"),
            ("m²", "12 m^2"),
            ("CO2", "the CO₂ of"),
            ("2^n", "2ⁿ"),
            ("Berlin", "Berlin¹ and"),
            ("1931", "in 1931²"),
        ] {
            assert!(finds(query, text), "{query:?} in {text:?}");
        }
        for (query, text) in [("106", "10⁶"), ("10⁶", "106"), ("106", "10^6"), ("m2", "m 3")] {
            assert!(!finds(query, text), "{query:?} in {text:?}");
        }
        assert_eq!(query_terms("Straße über"), ["strass", "uber"]);
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
