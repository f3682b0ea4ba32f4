//! Words of several languages: a text is stemmed as its document's language, a query as each of the
//! languages of the base.
use std::fmt;

use halma_core::text::is_stop_word;
use tantivy::tokenizer::{
    AsciiFoldingFilter, Language, PreTokenizedString, RawTokenizer, Stemmer, StopWordFilter,
    TextAnalyzer, Token,
};

use super::{QUERY_TERMS, WordTokenizer, analyzer, query_analyzer, query_terms, term_hash};

/// Languages with a stemmer, by their codes (ISO 639-1). Texts of others are stemmed as English,
/// which leaves words of other scripts as they are.
const STEMMED: &[(&str, Language)] = &[
    ("ar", Language::Arabic),
    ("da", Language::Danish),
    ("de", Language::German),
    ("el", Language::Greek),
    ("es", Language::Spanish),
    ("fi", Language::Finnish),
    ("fr", Language::French),
    ("hu", Language::Hungarian),
    ("it", Language::Italian),
    ("nb", Language::Norwegian),
    ("nl", Language::Dutch),
    ("no", Language::Norwegian),
    ("pt", Language::Portuguese),
    ("ro", Language::Romanian),
    ("ru", Language::Russian),
    ("sv", Language::Swedish),
    ("ta", Language::Tamil),
    ("tr", Language::Turkish),
];

/// Whether words of this language are not stemmed as English.
pub(crate) fn has_stemmer(code: &str) -> bool {
    STEMMED.iter().any(|(stemmed, _)| *stemmed == code)
}

/// How words of one language become terms.
#[derive(Clone)]
struct LanguageTerms {
    code: &'static str,
    stem: TextAnalyzer,
    /// Leaves nothing of a stop word; `None` where no list is known.
    stop: Option<TextAnalyzer>,
}

/// The languages of a base but for English, which every base has.
#[derive(Clone, Default)]
pub(crate) struct Languages(Vec<LanguageTerms>);

impl fmt::Debug for Languages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|language| language.code)).finish()
    }
}

impl LanguageTerms {
    fn new(code: &'static str, language: Language) -> Self {
        // Endings are recognised by their accents, so words are stemmed before these are removed.
        let stem = TextAnalyzer::builder(RawTokenizer::default())
            .filter(Stemmer::new(language))
            .filter(AsciiFoldingFilter)
            .build();
        let stop = StopWordFilter::new(language)
            .map(|filter| TextAnalyzer::builder(RawTokenizer::default()).filter(filter).build());
        Self { code, stem, stop }
    }

    fn stem(&mut self, word: &str) -> String {
        first_token(&mut self.stem, word).unwrap_or_default()
    }

    fn is_stop_word(&mut self, word: &str) -> bool {
        self.stop.as_mut().is_some_and(|stop| first_token(stop, word).is_none())
    }
}

fn first_token(analyzer: &mut TextAnalyzer, word: &str) -> Option<String> {
    let mut stream = analyzer.token_stream(word);
    stream.next().map(|token| token.text.clone())
}

impl Languages {
    pub(crate) fn new(codes: &[String]) -> Self {
        let stemmed = STEMMED.iter().filter(|(code, _)| codes.iter().any(|other| other == code));
        Self(stemmed.map(|(code, language)| LanguageTerms::new(code, *language)).collect())
    }

    pub(crate) fn is_english(&self) -> bool {
        self.0.is_empty()
    }

    fn get(&self, code: Option<&str>) -> Option<LanguageTerms> {
        self.0.iter().find(|language| Some(language.code) == code).cloned()
    }

    /// A text of this language as the index takes it; `None` where the index's own analyzer does.
    pub(crate) fn tokenized(&self, text: &str, code: Option<&str>) -> Option<PreTokenizedString> {
        let mut language = self.get(code)?;
        let mut tokens = vec![];
        plain_words(text, |token| {
            tokens.push(Token { text: language.stem(&token.text), ..token.clone() });
        });
        Some(PreTokenizedString { text: text.to_owned(), tokens })
    }

    /// The different words of a query without stop words, unless it has nothing else; each by the
    /// terms that it is in the languages of the base. Which words are stop words is decided by the
    /// language that most of them are of, since `die` is one in German and none in English.
    pub(crate) fn query_words(&self, text: &str) -> Vec<Vec<String>> {
        if self.is_english() {
            return query_terms(text).into_iter().map(|term| vec![term]).collect();
        }
        let mut languages = self.0.clone();
        let mut words: Vec<String> = vec![];
        plain_words(text, |token| {
            if words.len() < 2 * QUERY_TERMS && !words.contains(&token.text) {
                words.push(token.text.clone());
            }
        });
        let mut stops: Vec<Vec<bool>> = vec![words.iter().map(|word| is_stop_word(word)).collect()];
        for language in &mut languages {
            stops.push(words.iter().map(|word| language.is_stop_word(word)).collect());
        }
        let count = |stops: &Vec<bool>| stops.iter().filter(|stop| **stop).count();
        let highest = stops.iter().map(count).max().unwrap_or(0);
        let of_query: Vec<&Vec<bool>> =
            stops.iter().filter(|stops| highest > 0 && count(stops) == highest).collect();
        let is_stop = |at: usize| !of_query.is_empty() && of_query.iter().all(|stops| stops[at]);
        let meant: Vec<usize> = (0..words.len()).filter(|at| !is_stop(*at)).collect();
        let meant = if meant.is_empty() { (0..words.len()).collect() } else { meant };
        let (mut english, mut groups) = (query_analyzer(), Vec::<Vec<String>>::new());
        for at in meant.into_iter().take(QUERY_TERMS) {
            let mut terms: Vec<String> = vec![];
            let mut stream = english.token_stream(&words[at]);
            stream.process(&mut |token| terms.push(token.text.clone()));
            drop(stream);
            terms.truncate(1);
            terms.extend(languages.iter_mut().map(|language| language.stem(&words[at])));
            terms.sort();
            terms.dedup();
            terms.retain(|term| !term.is_empty());
            if !terms.is_empty() && !groups.contains(&terms) {
                groups.push(terms);
            }
        }
        groups
    }
}

/// Makes the hashes of the terms of texts; what it learns of words serves the next text.
pub(crate) struct TermHashes {
    english: TextAnalyzer,
}

impl Default for TermHashes {
    fn default() -> Self {
        Self { english: analyzer() }
    }
}

impl TermHashes {
    /// The hashes of the different terms of a text of a language, ascending.
    pub(crate) fn hashes(
        &mut self,
        languages: &Languages,
        text: &str,
        code: Option<&str>,
    ) -> Vec<u32> {
        let mut hashes = vec![];
        if let Some(mut language) = languages.get(code) {
            plain_words(text, |token| hashes.push(term_hash(&language.stem(&token.text))));
        } else {
            let mut words = self.english.token_stream(text);
            words.process(&mut |token| hashes.push(term_hash(&token.text)));
        }
        hashes.sort_unstable();
        hashes.dedup();
        hashes
    }
}

/// The lower-cased words of a text with their accents.
fn plain_words(text: &str, mut each: impl FnMut(&Token)) {
    let mut words = TextAnalyzer::builder(WordTokenizer::default()).build();
    words.token_stream(text).process(&mut |token| each(token));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn languages(codes: &[&str]) -> Languages {
        Languages::new(&codes.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    fn terms(text: &str, code: &str) -> Vec<String> {
        let tokens = languages(&["de", "fr", "ru"]).tokenized(text, Some(code)).unwrap().tokens;
        tokens.into_iter().map(|token| token.text).collect()
    }

    #[test]
    fn words_are_stemmed_as_the_language_of_their_text() {
        assert_eq!(terms("Die Verträge des Hauses", "de"), ["die", "vertrag", "des", "haus"]);
        assert_eq!(terms("appelée appelés", "fr"), ["appel", "appel"]);
        assert_eq!(terms("договора договоры", "ru"), ["договор", "договор"]);
        assert!(languages(&["de"]).tokenized("text", Some("en")).is_none());
        assert!(languages(&["en", "zh", "xx"]).is_english());
    }

    #[test]
    fn words_are_stemmed_the_same_in_whatever_code_points_they_are_written() {
        assert_eq!(terms("Vertra\u{308}ge Ver\u{ad}träge", "de"), ["vertrag", "vertrag"]);
        assert_eq!(terms("и\u{306}ода йода", "ru"), terms("йода йода", "ru"));
        assert_eq!(terms("appele\u{301}e", "fr"), ["appel"]);
        let german = languages(&["de"]);
        assert_eq!(german.query_words("Ver\u{ad}tra\u{308}ge"), german.query_words("Verträge"));
    }

    #[test]
    fn a_query_finds_words_of_every_language_and_drops_the_stop_words_of_its_own() {
        let both = languages(&["de"]);
        let words = |text: &str| both.query_words(text).concat();
        assert!(!words("Wer hat die Verträge mit dem Haus?").contains(&"die".to_owned()));
        assert!(words("Wer hat die Verträge mit dem Haus?").contains(&"vertrag".to_owned()));
        assert!(words("Who of the players did die?").contains(&"die".to_owned()));
        assert_eq!(languages(&[]).query_words("Who directed it?"), [["direct"]]);
        assert!(!words("die der das").is_empty());
    }

    #[test]
    fn a_text_has_the_terms_of_its_words_in_a_query() {
        let french = languages(&["fr"]);
        let hashes = TermHashes::default().hashes(&french, "Les contrats résiliés", Some("fr"));
        for group in french.query_words("contrat résilié") {
            assert!(group.iter().any(|term| hashes.contains(&term_hash(term))), "{group:?}");
        }
    }
}
