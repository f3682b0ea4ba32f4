//! English word endings: light stems by which words are compared, and capitals.

/// Endings that [`strip_ending`] removes, longest first, each with the least number of letters
/// that must be left.
const ENDINGS: &[(&str, usize)] = &[
    ("ations", 4),
    ("ation", 4),
    ("ments", 4),
    ("ment", 4),
    ("ings", 3),
    ("ing", 3),
    ("ers", 3),
    ("ors", 3),
    ("ies", 3),
    ("ed", 3),
    ("er", 3),
    ("or", 3),
    ("ly", 4),
    ("es", 4),
    ("y", 3),
    ("s", 3),
    ("e", 3),
];

/// An English word in lower case without its ending; words with other letters are left alone.
pub fn strip_ending(word: &str) -> &str {
    // With what these endings end.
    let may_end =
        matches!(word.bytes().last(), Some(b's' | b'n' | b't' | b'g' | b'd' | b'r' | b'y' | b'e'));
    if !may_end || !word.is_ascii() {
        return word;
    }
    let stripped = ENDINGS
        .iter()
        .find_map(|(ending, least)| word.strip_suffix(ending).filter(|rest| rest.len() >= *least));
    stripped.unwrap_or(word)
}

/// An English word in lower case without any of its endings: `discoverer`, `discovered` and
/// `discovery` have one stem.
pub fn stem(word: &str) -> &str {
    let mut rest = word;
    loop {
        let shorter = strip_ending(rest);
        if shorter.len() == rest.len() {
            return rest;
        }
        rest = shorter;
    }
}

/// Whether a word in lower case is `lower`. Does not allocate.
pub(crate) fn lower_case_is(word: &str, lower: &str) -> bool {
    if word.is_ascii() {
        return word.eq_ignore_ascii_case(lower);
    }
    !lower.is_ascii() && word.chars().flat_map(char::to_lowercase).eq(lower.chars())
}

/// The text with its first letter in upper case.
pub fn capitalize(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_one_word_have_one_stem() {
        for word in ["discoverer", "discovered", "discovery", "discovers"] {
            assert_eq!(stem(word), "discov", "{word}");
        }
        assert_eq!(
            (strip_ending("bakers"), strip_ending("bus"), stem("café")),
            ("bak", "bus", "café")
        );
    }

    #[test]
    fn words_are_compared_in_lower_case() {
        assert!(lower_case_is("MÄRZ", "märz") && lower_case_is("Mai", "mai"));
        assert!(!lower_case_is("Mai", "maj") && !lower_case_is("märz", "marz"));
    }

    #[test]
    fn the_first_letter_becomes_a_capital() {
        assert_eq!(
            (capitalize("élan vital"), capitalize("")),
            ("Élan vital".into(), String::new())
        );
    }
}
