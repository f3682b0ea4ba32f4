//! Nouns and the phrases that end with them.
use halma_core::text::is_stop_word;

use super::super::verbs::Verbs;
use super::scan::{PREPOSITIONS, verb};
use super::tokens::{Tag, Token};

const ARTICLES: &[&str] = &["the", "a", "an"];

/// Whether the token is a word that can be (part of) the name of a kind of thing.
pub(crate) fn is_noun(token: &Token) -> bool {
    token.tag == Tag::Word
        && !is_stop_word(&token.lower)
        && !PREPOSITIONS.contains(&token.lower.as_str())
}

/// Where the noun phrase begins that ends with the noun at `head`: over words that describe it up
/// to an article. `None` where the phrase asks (`which city`).
pub(crate) fn phrase_start(tokens: &[Token], head: usize, verbs: &Verbs) -> Option<usize> {
    let mut start = head;
    while let Some(before) = start.checked_sub(1) {
        let token = &tokens[before];
        if token.breaks() || token.owns() {
            break;
        }
        if ARTICLES.contains(&token.lower.as_str()) {
            return Some(before);
        }
        if ["which", "what", "whose", "many", "much"].contains(&token.lower.as_str()) {
            return None;
        }
        let describes = is_noun(token) || ["same", "first", "most"].contains(&&*token.lower);
        let names = token.tag == Tag::Name && before + 1 == start;
        // Without an article in sight a verb ends the search.
        if !(describes || names) || head - before > 4 || verb(tokens, before, true, verbs).is_some()
        {
            break;
        }
        start = before;
    }
    Some(start)
}
