//! Nouns, noun phrases and verbs in their place, as far as word lists and neighbours decide.
use halma_core::text::is_stop_word;

use super::tokens::{Tag, Token};
use crate::lists::is_listed;
use crate::verbs::{Form, Verbs};

/// Whether the token is a word that can be (part of) the name of a kind of thing.
pub(crate) fn is_noun(token: &Token) -> bool {
    token.tag == Tag::Word
        && !is_stop_word(&token.lower)
        && !is_listed("prepositions", &token.lower)
}

/// The index of the first word of the noun phrase that ends with the noun at `head`: over
/// describing words up to an article. `None` where the phrase asks (`which city`).
pub(crate) fn phrase_start(tokens: &[Token], head: usize, verbs: &Verbs) -> Option<usize> {
    let mut start = head;
    while let Some(before) = start.checked_sub(1) {
        let token = &tokens[before];
        if token.breaks() || token.is_possessive() {
            break;
        }
        if ["the", "a", "an"].contains(&&*token.lower) {
            return Some(before);
        }
        if ["which", "what", "whose", "many", "much"].contains(&token.lower.as_str()) {
            return None;
        }
        let describes = is_noun(token) || ["same", "first", "most"].contains(&&*token.lower);
        let names = token.tag == Tag::Name && before + 1 == start;
        // Without an article a verb ends the phrase.
        if !(describes || names) || head - before > 4 || verb_form(tokens, before, verbs).is_some()
        {
            break;
        }
        start = before;
    }
    Some(start)
}

/// The form of the token at `at` where its neighbours let it be a verb.
pub(crate) fn verb_form(tokens: &[Token], at: usize, verbs: &Verbs) -> Option<Form> {
    let token = tokens.get(at).filter(|token| token.tag == Tag::Word)?;
    let form = verbs.form(&token.lower)?;
    let Some(before) = at.checked_sub(1).map(|i| &tokens[i]) else { return Some(form) };
    let noun = is_listed("determiners", &before.lower)
        || before.is_possessive()
        || (is_listed("prepositions", &before.lower) && before.lower != "to");
    (form == Form::Auxiliary || !noun).then_some(form)
}

/// Whether an auxiliary before the word at `at` still lacks its verb: `When did …`.
pub(crate) fn awaits_verb(tokens: &[Token], at: usize, verbs: &Verbs) -> bool {
    let mut awaits = false;
    for i in 0..at {
        match verb_form(tokens, i, verbs) {
            Some(Form::Auxiliary) => {
                awaits = ["do", "does", "did", "can", "could", "will", "would"]
                    .contains(&tokens[i].lower.as_str());
            }
            Some(Form::Base) => awaits = false,
            _ => {}
        }
    }
    awaits
}
