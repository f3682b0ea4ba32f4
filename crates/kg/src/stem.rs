//! Stems of English words, by which the names of relations are compared.

/// Endings with the fewest bytes that must remain before them.
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

/// A word without its endings, until none is left: `discoverer`, `discovered` and `discovery` are
/// one.
pub(crate) fn stem(word: &str) -> String {
    let mut rest = word;
    loop {
        let shorter = bare(rest);
        if shorter.len() == rest.len() {
            return rest.to_owned();
        }
        rest = shorter;
    }
}

/// A word without its ending.
fn bare(word: &str) -> &str {
    if !word.is_ascii() {
        return word;
    }
    ENDINGS
        .iter()
        .find_map(|(ending, least)| word.strip_suffix(ending).filter(|rest| rest.len() >= *least))
        .unwrap_or(word)
}
