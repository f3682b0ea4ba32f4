//! Names as they are compared, found in a text and abbreviated.
use halma_core::text::{folded, spelling, words};

/// Words within names of things that are no people.
pub(crate) const PARTICLES: &[&str] =
    &["of", "the", "and", "in", "for", "at", "to", "on", "a", "an"];

/// A name without case, accents, punctuation, possessives and a leading article; letters that
/// stand alone in a row are one word (`J. R. R. Tolkien` is `jrr tolkien`).
pub(crate) fn form(name: &str) -> String {
    let name = folded(&spelling(name)).replace('&', " and ").replace('’', "'");
    let mut tokens: Vec<String> = vec![];
    let mut letters = false;
    for word in words(&name) {
        let word = word.strip_suffix("'s").unwrap_or(&word).replace(['.', '\''], "");
        if word.is_empty() {
            continue;
        }
        let letter = word.chars().count() == 1 && word.chars().all(|c| c.is_ascii_alphabetic());
        match tokens.last_mut() {
            Some(last) if letter && letters => last.push_str(&word),
            _ => tokens.push(word),
        }
        letters = letter;
    }
    if tokens.len() > 1 && ["the", "a", "an"].contains(&tokens[0].as_str()) {
        tokens.remove(0);
    }
    tokens.join(" ")
}

/// Whether a name occurs in a text; both are forms.
pub(crate) fn occurs(name: &str, text: &str) -> bool {
    let mut from = 0;
    while let Some(offset) = text[from..].find(name) {
        let (start, end) = (from + offset, from + offset + name.len());
        let bounded = |at: Option<u8>| at.is_none_or(|byte| byte == b' ' || byte >= 0x80);
        let before = start.checked_sub(1).map(|at| text.as_bytes()[at]);
        if bounded(before) && bounded(text.as_bytes().get(end).copied()) {
            return true;
        }
        from = start + text[start..].chars().next().map_or(1, char::len_utf8);
    }
    false
}

/// Two to six capital letters, as in `WHO` or `U.S.`
pub(crate) fn is_abbreviation(shown: &str) -> bool {
    let letters: Vec<char> = shown.chars().filter(|c| !matches!(c, '.' | '&' | '-')).collect();
    (2..=6).contains(&letters.len())
        && letters.iter().all(|c| c.is_uppercase() || c.is_ascii_digit())
        && letters[0].is_alphabetic()
}

/// The first letters of several words, with and without the small ones.
pub(crate) fn acronyms(tokens: &[String]) -> Vec<String> {
    if tokens.len() < 2 {
        return vec![];
    }
    let initials = |small: bool| {
        let kept = tokens.iter().filter(|t| small || !PARTICLES.contains(&t.as_str()));
        kept.filter_map(|token| token.chars().next()).collect::<String>()
    };
    let mut acronyms = vec![initials(true), initials(false)];
    acronyms.dedup();
    acronyms.retain(|short| short.chars().count() > 1);
    acronyms
}

/// Whether a short form stands for a long name: `who` for `world health organization`.
pub(crate) fn abbreviates(short: &str, long: &str) -> bool {
    let tokens: Vec<String> = long.split(' ').map(str::to_owned).collect();
    let short = short.replace(' ', "");
    acronyms(&tokens).contains(&short)
}

/// Whether a name stands in the text: as it is, with its words apart or in another order, or by
/// its abbreviation or last word (a full name for a short one is no invention).
pub(crate) fn occurs_somehow(named: &str, text: &str) -> bool {
    if named.is_empty() || occurs(named, text) {
        return !named.is_empty();
    }
    let words: Vec<&str> = named.split(' ').collect();
    if words.len() > 1 {
        let long: Vec<&&str> = words.iter().filter(|word| word.chars().count() > 2).collect();
        let present = long.iter().filter(|word| occurs(word, text)).count();
        let last = words.last().filter(|word| word.chars().count() > 3);
        if present > 0 && (present == long.len() || last.is_some_and(|last| occurs(last, text))) {
            return true;
        }
    }
    text.split(' ').any(|word| word.chars().count() > 1 && abbreviates(word, named))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_has_no_case_accents_or_articles() {
        for (name, expected) in [
            ("The  Beatles", "beatles"),
            ("Société Générale", "societe generale"),
            ("J. R. R. Tolkien", "jrr tolkien"),
            ("Johnson & Johnson's", "johnson and johnson"),
            ("U.S.", "us"),
            ("O’Hara", "ohara"),
            ("The", "the"),
            ("東京", "東 京"),
        ] {
            assert_eq!(form(name), expected, "{name}");
        }
    }

    #[test]
    fn a_name_occurs_as_whole_words() {
        let text = form("Steven Spielberg's film Jaws 2 (WHO)");
        for (name, expected) in
            [("Spielberg", true), ("jaws", true), ("ilm", false), ("Jaw", false), ("WHO", true)]
        {
            assert_eq!(occurs(&form(name), &text), expected, "{name}");
        }
        assert!(occurs(&form("東京"), &form("彼は東京に住む")));
    }
}
